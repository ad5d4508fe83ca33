"""Blocking procedural memory."""

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import procedural as asynchronous
from longmind.systems.procedural import ToolRegistry


class ProceduralMemory(Blocking[asynchronous.ProceduralMemory]):
    """Blocking; see ``longmind.systems.procedural.ProceduralMemory``."""

    @property
    def tools(self) -> ToolRegistry:
        """The functions that procedures may call."""
        return self._target.tools

    store = blocking(asynchronous.ProceduralMemory.store)
    retrieve = blocking(asynchronous.ProceduralMemory.retrieve)
    list = blocking(asynchronous.ProceduralMemory.list)
    search = blocking(asynchronous.ProceduralMemory.search)
    versions = blocking(asynchronous.ProceduralMemory.versions)
    diff = blocking(asynchronous.ProceduralMemory.diff)
    rollback = blocking(asynchronous.ProceduralMemory.rollback)
    tag = blocking(asynchronous.ProceduralMemory.tag)
    untag = blocking(asynchronous.ProceduralMemory.untag)
    delete = blocking(asynchronous.ProceduralMemory.delete)
    clear = blocking(asynchronous.ProceduralMemory.clear)
    execute = blocking(asynchronous.ProceduralMemory.execute)
    resume = blocking(asynchronous.ProceduralMemory.resume)
    cancel = blocking(asynchronous.ProceduralMemory.cancel)
    approve = blocking(asynchronous.ProceduralMemory.approve)
    run = blocking(asynchronous.ProceduralMemory.run)
    find_run = blocking(asynchronous.ProceduralMemory.find_run)
    runs = blocking(asynchronous.ProceduralMemory.runs)
    check = blocking(asynchronous.ProceduralMemory.check)
    learn = blocking(asynchronous.ProceduralMemory.learn)
    propose = blocking(asynchronous.ProceduralMemory.propose)
    improve = blocking(asynchronous.ProceduralMemory.improve)
    promote = blocking(asynchronous.ProceduralMemory.promote)
    withdraw = blocking(asynchronous.ProceduralMemory.withdraw)
    decisions = blocking(asynchronous.ProceduralMemory.decisions)
    undo = blocking(asynchronous.ProceduralMemory.undo)
    statistics = blocking(asynchronous.ProceduralMemory.statistics)
    distill = blocking(asynchronous.ProceduralMemory.distill)
