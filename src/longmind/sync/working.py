"""Blocking working memory."""

from __future__ import annotations

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import working as asynchronous


class WorkingMemory(Blocking[asynchronous.WorkingMemory]):
    """Blocking; see ``longmind.systems.working.WorkingMemory``."""

    def session(self, id: str) -> WorkingMemory:
        """Return the working memory of one session: slots of its own, beside what is in mind in all sessions."""
        return WorkingMemory(self._loop, self._target.session(id))

    put = blocking(asynchronous.WorkingMemory.put)
    fetch = blocking(asynchronous.WorkingMemory.fetch)
    release = blocking(asynchronous.WorkingMemory.release)
    clear = blocking(asynchronous.WorkingMemory.clear)
    item = blocking(asynchronous.WorkingMemory.item)
    items = blocking(asynchronous.WorkingMemory.items)
    slots = blocking(asynchronous.WorkingMemory.slots)
    chunk = blocking(asynchronous.WorkingMemory.chunk)
    resize = blocking(asynchronous.WorkingMemory.resize)
    focus = blocking(asynchronous.WorkingMemory.focus)
    attend = blocking(asynchronous.WorkingMemory.attend)
    context = blocking(asynchronous.WorkingMemory.context)
    task = blocking(asynchronous.WorkingMemory.task)
    begin_task = blocking(asynchronous.WorkingMemory.begin_task)
    end_task = blocking(asynchronous.WorkingMemory.end_task)
    set = blocking(asynchronous.WorkingMemory.set)
    unset = blocking(asynchronous.WorkingMemory.unset)
    get = blocking(asynchronous.WorkingMemory.get)
    variables = blocking(asynchronous.WorkingMemory.variables)
    conversation = blocking(asynchronous.WorkingMemory.conversation)
    converse = blocking(asynchronous.WorkingMemory.converse)
    turn = blocking(asynchronous.WorkingMemory.turn)
