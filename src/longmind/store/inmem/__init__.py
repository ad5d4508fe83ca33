"""The store in plain dictionaries: the executable specification that every other backend is compared with."""

from longmind.store.inmem.backend import InmemBackend
from longmind.store.inmem.state import State

__all__ = ["InmemBackend", "State"]
