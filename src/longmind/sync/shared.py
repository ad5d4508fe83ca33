"""Blocking shared memory."""

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import shared as asynchronous


class SharedMemory(Blocking[asynchronous.SharedMemory]):
    """Blocking; see ``longmind.systems.shared.SharedMemory``."""

    configuration = blocking(asynchronous.SharedMemory.configuration)
    configure = blocking(asynchronous.SharedMemory.configure)
    propose = blocking(asynchronous.SharedMemory.propose)
    propose_many = blocking(asynchronous.SharedMemory.propose_many)
    withdraw = blocking(asynchronous.SharedMemory.withdraw)
    remove_supporter = blocking(asynchronous.SharedMemory.remove_supporter)
    approve = blocking(asynchronous.SharedMemory.approve)
    reject = blocking(asynchronous.SharedMemory.reject)
    get = blocking(asynchronous.SharedMemory.get)
    list = blocking(asynchronous.SharedMemory.list)
    known = blocking(asynchronous.SharedMemory.known)
    search = blocking(asynchronous.SharedMemory.search)
