"""The same methods, blocking: for scripts, notebooks and threads.

    from longmind.sync import Longmind

    with Longmind.open() as longmind:
        mem = longmind.agent("assistant", user="alice")
        mem.remember("I moved to Lisbon in May.")

An event loop in a thread of its own does the work. Every method waits for it and may be called from any thread. There
is no second implementation: each method is the asynchronous one, with the same signature, documentation and types. What
is awaited there blocks here, ``async for`` is ``for``, and ``async with`` is ``with``.
"""

from longmind.sync.memory import AgentMemory, Longmind

__all__ = ["AgentMemory", "Longmind"]
