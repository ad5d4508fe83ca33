"""Extraction by rules: returns the claims in a text. Nothing here reads or writes a store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.personal import personal
from longmind.consolidate.rules.world_statements import world_statements
from longmind.kinds import SOURCES_OF_FACTS
from longmind.text.sentences import MAX_SENTENCE, sentences
from longmind.types import MAX_FACTS, Memory

MAX_TEXT = 200_000
"""Characters of one memory that are read."""


@dataclass(slots=True)
class ExtractedClaims:
    """The claims that rules found in a text, and what they refused."""

    claims: list[Claim] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def is_source(memory: Memory) -> bool:
    """Whether facts may be extracted from a memory.

    What was recalled is no evidence, and neither is what an unnamed assistant says: it repeats or supposes. Nothing
    lasting is learnt from what expires.
    """
    if memory.kind not in SOURCES_OF_FACTS or memory.metadata.get("recalled") or memory.expires_at is not None:
        return False
    return memory.source.role != "assistant" or memory.source.name is not None


def speaker_of(memory: Memory) -> str | None:
    """Return whom "I" means in a text; None where nobody in particular speaks."""
    if memory.source.name is not None:
        return memory.source.name
    return (memory.user or "user") if memory.source.role == "user" else None


def spoken_turns(page: Memory) -> Iterator[tuple[int, str, str | None]]:
    """Yield start, text and speaker of the turns of a page that are evidence: not those of an unnamed assistant."""
    end = 0
    for turn in page.body.get("turns", ()):
        text = turn.get("text", "")
        start = page.content.find(text, end) if text else -1
        if start < 0:
            continue
        end = start + len(text)
        if turn.get("role") != "assistant" or turn.get("name"):
            yield start, text, turn.get("name") or speaker_of(page)


def extract(text: str, speaker: str | None, said_at: datetime) -> ExtractedClaims:
    """Return the claims in a text, each once, and at most ``MAX_FACTS``: what follows is refused unread."""
    extracted = ExtractedClaims()
    seen: set[tuple[str, str, str]] = set()
    for sentence in sentences(text[:MAX_TEXT]):
        about_speaker = personal(sentence, speaker, said_at) if speaker is not None else ()
        for claim in (*about_speaker, *world_statements(sentence)):
            if isinstance(claim, Refused):
                extracted.refused.append(claim)
                continue
            identity = (claim.subject.casefold(), claim.predicate, f"{claim.object.casefold()}|{claim.ended}")
            if identity in seen:
                continue
            if len(seen) == MAX_FACTS:
                extracted.refused.append(Refused("limit", sentence.text))
                return extracted
            seen.add(identity)
            extracted.claims.append(claim)
    return extracted


def extract_memory(memory: Memory) -> ExtractedClaims:
    """Return the claims of a memory; none of one that is no source."""
    if not is_source(memory):
        return ExtractedClaims()
    if memory.kind != "page":
        return extract(memory.content, speaker_of(memory), memory.occurred_at)
    extracted = ExtractedClaims()
    for start, text, speaker in spoken_turns(memory):
        turn = extract(text, speaker, memory.occurred_at)
        left = MAX_FACTS - len(extracted.claims)
        extracted.claims += [replace(c, span=(c.span[0] + start, c.span[1] + start)) for c in turn.claims[:left]]
        extracted.refused += turn.refused
        if len(turn.claims) > left:
            extracted.refused.append(Refused("limit", text[:MAX_SENTENCE]))
            break
    return extracted
