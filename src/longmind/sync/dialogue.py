"""Blocking dialogue memory."""

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import dialogue as asynchronous


class DialogueMemory(Blocking[asynchronous.DialogueMemory]):
    """Blocking; see ``longmind.systems.dialogue.DialogueMemory``."""

    configuration = blocking(asynchronous.DialogueMemory.configuration)
    configure = blocking(asynchronous.DialogueMemory.configure)
    add = blocking(asynchronous.DialogueMemory.add)
    add_many = blocking(asynchronous.DialogueMemory.add_many)
    short_term = blocking(asynchronous.DialogueMemory.short_term)
    chain = blocking(asynchronous.DialogueMemory.chain)
    page = blocking(asynchronous.DialogueMemory.page)
    segments = blocking(asynchronous.DialogueMemory.segments)
    segment = blocking(asynchronous.DialogueMemory.segment)
    pages = blocking(asynchronous.DialogueMemory.pages)
    rebuild_summaries = blocking(asynchronous.DialogueMemory.rebuild_summaries)
    visit = blocking(asynchronous.DialogueMemory.visit)
    restore = blocking(asynchronous.DialogueMemory.restore)
    hot = blocking(asynchronous.DialogueMemory.hot)
    promoted = blocking(asynchronous.DialogueMemory.promoted)
    promoted_many = blocking(asynchronous.DialogueMemory.promoted_many)
    promote = blocking(asynchronous.DialogueMemory.promote)
    upkeep = blocking(asynchronous.DialogueMemory.upkeep)
    recall = blocking(asynchronous.DialogueMemory.recall)
    context = blocking(asynchronous.DialogueMemory.context)
