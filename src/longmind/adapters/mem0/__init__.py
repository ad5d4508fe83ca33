"""The face of mem0 over Longmind: a program that uses ``mem0.Memory`` changes one import.

    from longmind.adapters.mem0 import Memory      # or AsyncMemory

    m = Memory()
    m.add("I moved to Lisbon in May.", user_id="alice")
    m.search("Where does she live?", filters={"user_id": "alice"})

Methods, arguments and results are those of mem0ai 2.2.1; it need not be installed. A server offers the same over HTTP:
``longmind serve --mem0``. See ``docs/howto/adapters/mem0.md`` for what differs.
"""

from longmind.adapters.mem0.memory import AsyncMemory, Memory
from longmind.adapters.mem0.selection import InvalidRequest

__all__ = ["AsyncMemory", "InvalidRequest", "Memory"]
