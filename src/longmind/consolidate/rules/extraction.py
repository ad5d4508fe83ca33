"""Extraction by rules: returns the claims in a text. Nothing here reads or writes a store."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from longmind.config import AgentSettings, FactOrigin
from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.personal import personal
from longmind.consolidate.rules.world_statements import world_statements
from longmind.kinds import SOURCES_OF_FACTS
from longmind.text.sentences import MAX_SENTENCE, sentences
from longmind.types import MAX_FACTS, Memory

FACTS_FROM = AgentSettings().facts_from
"""Whose words are evidence unless an agent is configured otherwise."""
_ORIGINS: Mapping[str, FactOrigin] = {"document": "documents", "tool": "tools", "assistant": "assistant"}
MAX_TEXT = 200_000
"""Characters of one memory that are read."""


@dataclass(slots=True)
class ExtractedClaims:
    """The claims that rules found in a text, and what they refused."""

    claims: list[Claim] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def origin(role: str, name: str | None) -> FactOrigin:
    """Return whose words a text is."""
    if role == "user" or (role == "assistant" and name is not None):
        return "people"
    return _ORIGINS.get(role, "system")


def is_source(memory: Memory, facts_from: Collection[FactOrigin] = FACTS_FROM) -> bool:
    """Whether facts may be extracted from a memory.

    What was recalled is no evidence. By default facts come from people and documents: an assistant repeats or supposes,
    a tool's result is about the moment, and instructions say what to do. Nothing lasting is learnt
    from what expires.
    """
    if memory.kind not in SOURCES_OF_FACTS or memory.metadata.get("recalled") or memory.expires_at is not None:
        return False
    return memory.kind == "page" or origin(memory.source.role, memory.source.name) in facts_from


def speaker_of(memory: Memory) -> str | None:
    """Return whom "I" means in a text; None where nobody in particular speaks."""
    if origin(memory.source.role, memory.source.name) != "people":
        return None
    return memory.source.name or memory.user or "user"


def spoken_turns(
    page: Memory, facts_from: Collection[FactOrigin] = FACTS_FROM
) -> Iterator[tuple[int, str, str | None]]:
    """Yield start, text and speaker of the turns of a page that are evidence."""
    end = 0
    for turn in page.body.get("turns", ()):
        text = turn.get("text", "")
        start = page.content.find(text, end) if text else -1
        if start < 0:
            continue
        end = start + len(text)
        whose = origin(turn.get("role", "user"), turn.get("name"))
        if whose in facts_from:
            yield start, text, turn.get("name") or page.user or "user" if whose == "people" else None


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


def extract_memory(memory: Memory, facts_from: Collection[FactOrigin] = FACTS_FROM) -> ExtractedClaims:
    """Return the claims of a memory; none of one that is no source."""
    if not is_source(memory, facts_from):
        return ExtractedClaims()
    if memory.kind != "page":
        return extract(memory.content, speaker_of(memory), memory.occurred_at)
    extracted = ExtractedClaims()
    for start, text, speaker in spoken_turns(memory, facts_from):
        turn = extract(text, speaker, memory.occurred_at)
        left = MAX_FACTS - len(extracted.claims)
        extracted.claims += [replace(c, span=(c.span[0] + start, c.span[1] + start)) for c in turn.claims[:left]]
        extracted.refused += turn.refused
        if len(turn.claims) > left:
            extracted.refused.append(Refused("limit", text[:MAX_SENTENCE]))
            break
    return extracted
