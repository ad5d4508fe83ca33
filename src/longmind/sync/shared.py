"""Blocking shared memory."""

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import shared as asynchronous


class SharedMemory(Blocking[asynchronous.SharedMemory]):
    """Blocking; see ``longmind.systems.shared.SharedMemory``."""

    configuration = blocking(asynchronous.SharedMemory.configuration)
    propose = blocking(asynchronous.SharedMemory.propose)
    propose_many = blocking(asynchronous.SharedMemory.propose_many)
    withdraw = blocking(asynchronous.SharedMemory.withdraw)
    withdraw_many = blocking(asynchronous.SharedMemory.withdraw_many)
    get = blocking(asynchronous.SharedMemory.get)
    list = blocking(asynchronous.SharedMemory.list)
    search = blocking(asynchronous.SharedMemory.search)


class SharedAdministration(Blocking[asynchronous.SharedAdministration]):
    """Blocking; see ``longmind.systems.shared.SharedAdministration``."""

    configuration = blocking(asynchronous.SharedAdministration.configuration)
    configure = blocking(asynchronous.SharedAdministration.configure)
    approve = blocking(asynchronous.SharedAdministration.approve)
    reject = blocking(asynchronous.SharedAdministration.reject)
    remove_supporter = blocking(asynchronous.SharedAdministration.remove_supporter)
    get = blocking(asynchronous.SharedAdministration.get)
    list = blocking(asynchronous.SharedAdministration.list)
