"""Extraction without a model: from a text to the claims in it, by rules. Nothing here reads or writes a store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.personal import personal
from longmind.consolidate.rules.world_statements import stated
from longmind.kinds import SOURCES_OF_FACTS
from longmind.text.sentences import sentences
from longmind.types import Memory

MAX_TEXT = 200_000
"""Characters of one memory that are read."""


@dataclass(slots=True)
class Extracted:
    """What was found in one text."""

    claims: list[Claim] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def is_source(memory: Memory) -> bool:
    """Whether facts may be extracted from a memory.

    What was recalled is not told again, and what an unnamed assistant says repeats or supposes: neither is evidence.
    """
    if memory.kind not in SOURCES_OF_FACTS or memory.metadata.get("recalled"):
        return False
    return memory.source.role != "assistant" or memory.source.name is not None


def speaker_of(memory: Memory) -> str | None:
    """Whom "I" means in a text; None where nobody in particular speaks."""
    if memory.source.name is not None:
        return memory.source.name
    return (memory.user or "user") if memory.source.role == "user" else None


def extract(text: str, speaker: str | None, said_at: datetime) -> Extracted:
    """The claims in a text, each once."""
    found = Extracted()
    seen: set[tuple[str, str, str]] = set()
    for sentence in sentences(text[:MAX_TEXT]):
        told: Iterable[Claim | Refused] = personal(sentence, speaker, said_at) if speaker is not None else ()
        for one in (*told, *stated(sentence)):
            if isinstance(one, Refused):
                found.refused.append(one)
                continue
            identity = (one.subject.casefold(), one.predicate, one.object.casefold())
            if identity not in seen:
                seen.add(identity)
                found.claims.append(one)
    return found


def extract_memory(memory: Memory) -> Extracted:
    """The claims of a memory that may be a source; of another, none."""
    if not is_source(memory):
        return Extracted()
    if memory.kind == "page":
        return _of_page(memory)
    return extract(memory.content, speaker_of(memory), memory.occurred_at)


def _of_page(page: Memory) -> Extracted:
    """The claims of the turns whose texts a page holds, each of its own speaker; an unnamed assistant is no source."""
    found, at = Extracted(), 0
    for turn in page.body.get("turns", ()):
        text = turn.get("text", "")
        place = page.content.find(text, at) if text else -1
        if place < 0:
            continue
        at = place + len(text)
        if turn.get("role") != "assistant" or turn.get("name"):
            told = extract(text, turn.get("name") or speaker_of(page), page.occurred_at)
            found.claims += [replace(c, span=(c.span[0] + place, c.span[1] + place)) for c in told.claims]
            found.refused += told.refused
    return found
