"""Blocking the manager over all memory systems."""

from longmind import manager as asynchronous
from longmind.sync.blocking import Blocking, blocking, direct


class MemoryManager(Blocking[asynchronous.MemoryManager]):
    """Blocking; see ``longmind.manager.MemoryManager``."""

    @property
    def names(self) -> tuple[str, ...]:
        """The registered systems, the built-in ones first."""
        return self._target.names

    register = direct(asynchronous.MemoryManager.register)
    unregister = direct(asynchronous.MemoryManager.unregister)
    store = blocking(asynchronous.MemoryManager.store)
    retrieve = blocking(asynchronous.MemoryManager.retrieve)
    search = blocking(asynchronous.MemoryManager.search)
    store_experience = blocking(asynchronous.MemoryManager.store_experience)
    execute_procedure = blocking(asynchronous.MemoryManager.execute_procedure)
    learn_from_outcome = blocking(asynchronous.MemoryManager.learn_from_outcome)
