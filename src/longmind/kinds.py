"""The kinds of memory: one table, one row for each kind that Longmind itself writes.

Everything that treats kinds differently reads this table: search, recall, the context of a prompt, consolidation and
the agent. A custom memory system may store kinds of its own. Those are not in the table; they count as recorded, are
recalled and listed by default and come last in a context.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Origin = Literal["said", "recorded", "derived", "internal"]
Group = Literal[
    "Goals",
    "About the user",
    "About the agent itself",
    "Knowledge",
    "What happened",
    "How to do it",
    "Documents",
    "From conversations",
    "Other",
]


class KindInfo(NamedTuple):
    """What the package knows about one kind of memory."""

    name: str
    origin: Origin
    """``said``: the words of a user, an agent or a document. ``recorded``: written by a memory system for its own sake,
    such as a goal. ``derived``: made from other memories, whose words it repeats. ``internal``: bookkeeping, which a
    caller never retrieves."""
    owner: str
    """The memory system that writes it; ``remembered`` is what ``remember`` stores."""
    group: Group = "Other"
    """The heading under which it stands in a context."""
    on_request: bool = False
    """Whether recall and listings return it only if it is asked for: by its kind, or by id or key. So are bookkeeping,
    the parts of which episodes, runs and plans are made, and what only gathers what other memories say: these would
    take the places of memories that say it better."""
    source_of_facts: bool = False
    """Whether consolidation extracts facts from it."""
    shareable: bool = False
    """Whether consolidation offers what it states to the shared memory of the tenant."""
    leads_on: bool = True
    """Whether its links can lead to memories that the search arms have not seen."""
    searched: bool = True
    """Whether search ever looks at it. What is not searched is in no view, so that it costs a recall nothing."""


TABLE = (
    KindInfo(
        "message", "said", "remembered", "From conversations", source_of_facts=True, shareable=True, leads_on=False
    ),
    KindInfo("page", "derived", "dialogue", "From conversations", source_of_facts=True, on_request=True),
    KindInfo("segment", "derived", "dialogue", "What happened", on_request=True),
    KindInfo("summary", "derived", "dialogue", "What happened", on_request=True),
    KindInfo("episode", "recorded", "episodic", "What happened"),
    KindInfo("event", "recorded", "episodic", "What happened", on_request=True),
    KindInfo("fact", "derived", "semantic", "Knowledge", shareable=True),
    KindInfo("claim", "derived", "consolidation", "Knowledge", on_request=True, leads_on=False, searched=False),
    KindInfo("concept", "derived", "semantic", "Knowledge"),
    KindInfo("trait", "derived", "persona", "About the user"),
    KindInfo("knowledge", "derived", "persona", "Knowledge", shareable=True),
    KindInfo("procedure", "recorded", "procedural", "How to do it", shareable=True),
    KindInfo("run", "recorded", "procedural", "How to do it", on_request=True),
    KindInfo("goal", "recorded", "goals", "Goals"),
    KindInfo("plan", "recorded", "goals", "Goals"),
    KindInfo("revision", "recorded", "goals", on_request=True),
    KindInfo("reflection", "derived", "agent", "What happened", shareable=True),
    KindInfo("document", "said", "remembered", "Documents", source_of_facts=True, leads_on=False),
    KindInfo("record", "recorded", "remembered", "Knowledge"),
    KindInfo("state", "internal", "values", leads_on=False, on_request=True, searched=False),
    KindInfo("item", "internal", "conversation", leads_on=False, on_request=True, searched=False),
    KindInfo("working", "recorded", "working", "From conversations", leads_on=False),
    KindInfo("session_item", "internal", "working", leads_on=False, on_request=True),
    KindInfo("rule", "recorded", "semantic"),
    KindInfo("alias", "internal", "semantic", on_request=True),
    KindInfo("step", "recorded", "procedural", on_request=True),
    KindInfo("decision", "recorded", "procedural", on_request=True),
    KindInfo("configuration", "internal", "configuration", leads_on=False, on_request=True),
)

KINDS = tuple(kind.name for kind in TABLE)
SAID = tuple(kind.name for kind in TABLE if kind.origin == "said")
"""Kinds that hold what somebody said or wrote."""
INTERNAL = frozenset(kind.name for kind in TABLE if kind.origin == "internal")
"""Kinds that are bookkeeping."""
UNCOUNTED = frozenset(kind.name for kind in TABLE if kind.origin in ("derived", "internal"))
"""Kinds that do not count in how rare a word is nor in how long a text usually is. They repeat words that were said:
what consolidation derives must not change how what was said is found."""
UNSEARCHED = frozenset(kind.name for kind in TABLE if not kind.searched)
"""Kinds that are in no view. There may be many more of them than of all others: each step of a workflow is one."""
ON_REQUEST = tuple(kind.name for kind in TABLE if kind.on_request)
"""Kinds that recall and listings return only if they are asked for."""
SOURCES_OF_FACTS = tuple(kind.name for kind in TABLE if kind.source_of_facts)
SHAREABLE = frozenset(kind.name for kind in TABLE if kind.shareable)
"""Kinds whose statements consolidation offers to shared memory."""
DEAD_ENDS = frozenset(kind.name for kind in TABLE if not kind.leads_on)
"""Kinds whose links lead only to their neighbours in a session or document, which the search arms see anyway."""
GROUPS: tuple[Group, ...] = (
    "Goals",
    "About the user",
    "About the agent itself",
    "Knowledge",
    "What happened",
    "How to do it",
    "Documents",
    "From conversations",
    "Other",
)
"""The headings of a context in their order. What rarely changes comes first."""
_IN_PROFILES = frozenset(kind.name for kind in TABLE if kind.owner == "persona")
_GROUP_OF: dict[str, Group] = {kind.name: kind.group for kind in TABLE}


def group_of(kind: str, about: object = None) -> Group:
    """Return the heading of a context under which a kind stands.

    ``about`` says whose profile it is part of: what the agent is like must not be taken for the user's.
    """
    if about == "agent" and kind in _IN_PROFILES:
        return "About the agent itself"
    return _GROUP_OF.get(kind, "Other")


def owned_by(*owners: str) -> tuple[str, ...]:
    """Return the kinds that these memory systems write, bookkeeping left out."""
    return tuple(kind.name for kind in TABLE if kind.owner in owners and kind.origin != "internal")
