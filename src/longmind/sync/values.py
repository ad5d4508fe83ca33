"""Blocking values."""

from __future__ import annotations

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import values as asynchronous


class StateMemory(Blocking[asynchronous.StateMemory]):
    """Blocking; see ``longmind.systems.values.StateMemory``."""

    put = blocking(asynchronous.StateMemory.put)
    get = blocking(asynchronous.StateMemory.get)
    read = blocking(asynchronous.StateMemory.read)
    refresh = blocking(asynchronous.StateMemory.refresh)
    delete = blocking(asynchronous.StateMemory.delete)
    write = blocking(asynchronous.StateMemory.write)
    list = blocking(asynchronous.StateMemory.list)
    namespaces = blocking(asynchronous.StateMemory.namespaces)
    clear = blocking(asynchronous.StateMemory.clear)


class ValueMemory(Blocking[asynchronous.ValueMemory]):
    """Blocking; see ``longmind.systems.values.ValueMemory``."""

    put = blocking(asynchronous.ValueMemory.put)
    get = blocking(asynchronous.ValueMemory.get)
    read = blocking(asynchronous.ValueMemory.read)
    refresh = blocking(asynchronous.ValueMemory.refresh)
    delete = blocking(asynchronous.ValueMemory.delete)
    write = blocking(asynchronous.ValueMemory.write)
    list = blocking(asynchronous.ValueMemory.list)
    namespaces = blocking(asynchronous.ValueMemory.namespaces)
    clear = blocking(asynchronous.ValueMemory.clear)
    search = blocking(asynchronous.ValueMemory.search)
