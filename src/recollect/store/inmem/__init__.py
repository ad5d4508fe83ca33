"""The store in plain dictionaries: the executable specification that every other backend is compared with."""

from recollect.store.inmem.backend import InmemBackend
from recollect.store.inmem.state import State

__all__ = ["InmemBackend", "State"]
