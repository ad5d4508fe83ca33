"""Extraction without a language model: returns the claims in a text. Nothing here reads or writes a store.

Where the trained reader of statements is installed it reads what people said, and patterns add what it did not read.
Without it, and for documents, there are only the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from longmind.config import AgentSettings, FactOrigin
from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.implied import implied_endings
from longmind.consolidate.rules.naming import named_person, relative_named, subject_of
from longmind.consolidate.rules.personal import personal
from longmind.consolidate.rules.plain_talk import states_nothing
from longmind.consolidate.rules.relations import LASTING, RELATIONS
from longmind.consolidate.rules.same_subject import other_name
from longmind.consolidate.rules.stated import apply_claim
from longmind.consolidate.rules.world_statements import world_statements
from longmind.kinds import SOURCES_OF_FACTS
from longmind.models.statements import StatedClaim, StatementReader, Turn, TurnReading
from longmind.systems.semantic import fold_name
from longmind.text.language import is_english
from longmind.text.sentences import MAX_SENTENCE, sentences
from longmind.types import MAX_FACTS, Memory

FACTS_FROM = AgentSettings().facts_from
"""Whose words are evidence unless an agent is configured otherwise."""
_ORIGINS: Mapping[str, FactOrigin] = {"document": "documents", "tool": "tools", "assistant": "assistant"}
READ_PREDICATES = frozenset(
    name
    for relation in RELATIONS.values()
    for name in (relation.predicate, relation.past, relation.stay, *relation.also)
    if name is not None
)
"""Predicates of claims that the reader can make too."""
_DOUBT = 0.3
"""From which confidence on a joke, a wish or hearsay that the reader sees speaks against a pattern."""
_SURE_HOME = 0.9
"""From which confidence on a home is not doubted because patterns do not know the name of the place."""
_REPLACING = 0.6
"""From which confidence on a claim is kept that names what has taken the place of something."""
_IN_PLACE = 0.3
"""From which confidence on a claim is kept for the case that its text names the value that was known."""
UNSURE = 0.4
"""From which confidence on a claim that is too unsure for a fact is remembered as one."""
_REPLACEABLE = frozenset(
    """lives_in works_as works_at works_in studies studied_at partner knows pet diet medication hobby uses member_of
    contact located_in""".split()
)
"""Relations in which one value takes the place of another."""
_DENIED = frozenset({"hypothetical", "negated", "reported", "question"})
_NOTHING: Mapping[str, str] = MappingProxyType({})
MAX_TEXT = 200_000
"""Characters of one memory that are read."""


class SpokenText(NamedTuple):
    """A text of one speaker within a memory: where it begins, who speaks, and what was said before it."""

    start: int
    text: str
    speaker: str | None
    previous: str | None = None


class ReadText(NamedTuple):
    """A text, and all that the reader of statements sees in it, however unsurely."""

    said: SpokenText
    reading: TurnReading


@dataclass(slots=True)
class ExtractedClaims:
    """The claims that rules found in a text, what they refused, and what the reader read."""

    claims: list[Claim] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    read: list[ReadText] = field(default_factory=list)
    unsure: list[Claim] = field(default_factory=list)
    """What was read of things that last, but is too unsure to be learnt by itself."""


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


def spoken_turns(page: Memory, facts_from: Collection[FactOrigin] = FACTS_FROM) -> Iterator[SpokenText]:
    """Yield the turns of a page that are evidence."""
    end, previous = 0, None
    for turn in page.body.get("turns", ()):
        text = turn.get("text", "")
        start = page.content.find(text, end) if text else -1
        if start < 0:
            continue
        end = start + len(text)
        whose = origin(turn.get("role", "user"), turn.get("name"))
        if whose in facts_from:
            speaker = turn.get("name") or page.user or "user" if whose == "people" else None
            yield SpokenText(start, text, speaker, previous)
        previous = text


def spoken_texts(memory: Memory, facts_from: Collection[FactOrigin], previous: str | None) -> list[SpokenText]:
    """Return the texts of a memory that facts may be drawn from; none of one that is no source."""
    if not is_source(memory, facts_from):
        return []
    if memory.kind == "page":
        return list(spoken_turns(memory, facts_from))
    return [SpokenText(0, memory.content, speaker_of(memory), previous)]


def extract(text: str, speaker: str | None, said_at: datetime) -> ExtractedClaims:
    """Return the claims in a text, each once, and at most ``MAX_FACTS``: what follows is refused unread."""
    extracted = ExtractedClaims()
    seen: set[tuple[str, str, str]] = set()
    for sentence in sentences(text[:MAX_TEXT]):
        about_speaker = personal(sentence, speaker, said_at) if speaker is not None else ()
        for found in (*about_speaker, *world_statements(sentence)):
            if isinstance(found, Refused):
                extracted.refused.append(found)
                continue
            relative = relative_named(found.subject, text[: found.span[0]], speaker)
            claim = found if relative is None else replace(found, subject=relative)
            identity = (claim.subject.casefold(), claim.predicate, f"{claim.object.casefold()}|{claim.ended}")
            if identity in seen:
                continue
            if len(seen) == MAX_FACTS:
                extracted.refused.append(Refused("limit", sentence.text))
                return extracted
            seen.add(identity)
            extracted.claims.append(claim)
    return extracted


def extract_memories(
    memories: Sequence[Memory],
    facts_from: Collection[FactOrigin] = FACTS_FROM,
    reader: StatementReader | None = None,
    previous: Mapping[str, str] = _NOTHING,
) -> list[ExtractedClaims]:
    """Return the claims of each memory; ``previous`` has, by the id of a message, the text of the one before it."""
    texts = [
        (number, text)
        for number, memory in enumerate(memories)
        for text in spoken_texts(memory, facts_from, previous.get(memory.id))
    ]
    stated = _read([text for _, text in texts], reader)
    results = [ExtractedClaims() for _ in memories]
    for (number, text), reading in zip(texts, stated, strict=True):
        said_at, result = memories[number].occurred_at, results[number]
        extracted = extract(text.text, text.speaker, said_at)
        if reading is None:
            result.refused.append(Refused("language", text.text[:MAX_SENTENCE]))
        elif reader is not None:
            extracted = merge_claims(extracted, list(_applied(reading.claims, text, said_at)))
            if text.speaker is not None and not states_nothing(text.text):
                result.read.append(ReadText(text, reading))
        _add(result, extracted, text)
    return results


def _applied(
    claims: Sequence[StatedClaim], text: SpokenText, said_at: datetime
) -> Iterator[tuple[StatedClaim, Claim | Refused]]:
    """Yield what each claim says, and what no longer holds if it does."""
    claims = [replace(claim, kept=claim.kept or _is_replacement(claim, claims, text.text)) for claim in claims]
    person = named_person([claim for claim in claims if claim.kept], text.text, text.speaker)
    for claim in claims:
        applied = apply_claim(claim, text.text, text.speaker, said_at, person)
        if isinstance(applied, Claim) and (applied.instead_of or not applied.many) and not applied.ended:
            applied = replace(applied, beside=_values_beside(claim, claims, text.text))
            if not applied.many and not claim.kept and claim.confidence >= _IN_PLACE:
                claim = replace(claim, kept=True)
                start, end = claim.object
                applied = replace(applied, rest=f"{text.text[:start]} {text.text[end:]}")
        yield claim, applied
        for ending in implied_endings(claim, text.text, text.speaker, said_at, person):
            yield claim, ending


def _is_replacement(claim: StatedClaim, claims: Sequence[StatedClaim], text: str) -> bool:
    """Whether a claim names what has taken the place of something that its turn surely ends.

    "I cancelled Spotify, we are on Tidal": the one makes the other likelier than it is by itself.
    """
    return (
        claim.status == "current"
        and claim.relation in _REPLACEABLE
        and claim.confidence >= _REPLACING
        and any(
            other.certain and other.status == "ended" and other.relation == claim.relation
            and subject_of(other, text, "", None) == subject_of(claim, text, "", None)
            for other in claims
        )
    )  # fmt: skip


def _values_beside(claim: StatedClaim, claims: Sequence[StatedClaim], text: str) -> tuple[str, ...]:
    """Return the other values of a relation that a turn holds for true: "at the Blue Anchor, beside Maplecroft"."""
    subject = None if claim.subject is None else text[slice(*claim.subject)]
    return tuple(
        text[slice(*other.object)]
        for other in claims
        if other is not claim
        and (other.relation, other.status) == (claim.relation, "current")
        and other.confidence >= _DOUBT
        and (None if other.subject is None else text[slice(*other.subject)]) == subject
    )


def _read(texts: Sequence[SpokenText], reader: StatementReader | None) -> list[TurnReading | None]:
    """Return what the reader finds in each text; None for one that is not English, which is left to a language model.

    It reads what people said. Documents are not talk, and nobody says "I" in them. What plainly states nothing is not
    read: reading a turn costs more than all other stages do.
    """
    results: list[TurnReading | None] = [TurnReading() for _ in texts]
    spoken = [number for number, text in enumerate(texts) if text.speaker is not None] if reader is not None else []
    english = [number for number in spoken if is_english(texts[number].text)]
    for number in set(spoken) - set(english):
        results[number] = None
    to_read = [number for number in english if not states_nothing(texts[number].text)]
    turns = [Turn(texts[number].text, texts[number].previous) for number in to_read]
    for number, reading in zip(to_read, [] if reader is None else reader.read(turns), strict=True):
        results[number] = reading
    return results


def merge_claims(patterns: ExtractedClaims, read: Sequence[tuple[StatedClaim, Claim | Refused]]) -> ExtractedClaims:
    """Return what the reader read, with what only patterns found.

    Where both speak of the same words the reader decides, since it tells a plan or a joke from a fact; where they agree
    the claim is certain. What patterns find and the reader, who knows such claims, does not see at all is less than
    certain. A deed that only patterns name ("bought", "went to") stands beside it.
    """
    results = [result for stated, result in read if stated.kept]
    claims = [result for result in results if isinstance(result, Claim)]
    claims = [claim for claim in claims if not _is_doubted(claim, patterns)]
    opinions = [result for _, result in read if isinstance(result, Claim)]
    denied = [result.span for stated, result in read if isinstance(result, Refused) and _denies(stated, result)]
    added: list[Claim] = []
    for claim in patterns.claims:
        if any(span is not None and _touch(claim.span, span) for span in denied):
            continue
        alike = [other for other in opinions if _same_words(claim, other)]
        agreeing = [other for other in alike if _agree(claim, other)]
        rivals = [other for other in alike if other in claims and other.rest is None]
        if not agreeing and (claim.predicate not in READ_PREDICATES or not rivals):
            certain = claim.predicate not in READ_PREDICATES
            added.append(replace(claim, certain=certain))
        elif agreeing and not any(other.predicate == claim.predicate for other in rivals):
            # both read the same, and the pattern names it more exactly: "plays" for a hobby, "favorite pie" for "likes"
            claims = [other for other in claims if other not in agreeing]
            # "left the choir" is a job to a pattern, so an ending ends what the reader names, too
            also = tuple(p for other in agreeing for p in (other.predicate, *other.also)) if claim.ended else ()
            added.append(replace(claim, also=(*claim.also, *also)))
        else:
            sure = max(claim.confidence, *(other.confidence for other in agreeing)) if agreeing else 0.0
            claims = [replace(c, certain=True, confidence=sure, rest=None) if c in agreeing else c for c in claims]
    refused = [*patterns.refused, *(result for result in results if isinstance(result, Refused))]
    claims += added
    unsure = [
        result
        for stated, result in read
        if isinstance(result, Claim)
        and _is_unsure(stated, result)
        and not any(_same_words(result, claim) for claim in claims)
    ]
    return ExtractedClaims(claims, refused, unsure=unsure)


def _is_unsure(stated: StatedClaim, claim: Claim) -> bool:
    """Whether something that would hold now, and may be over one day, was read too unsurely for a fact."""
    lasting = stated.status == "current" and stated.relation in LASTING
    return lasting and not stated.kept and not claim.ended and claim.confidence >= UNSURE


def _denies(stated: StatedClaim, refused: Refused) -> bool:
    """Whether the reader holds that some words state nothing. A denial must be read surely, as patterns know "not"."""
    return refused.reason in _DENIED and (stated.kept or (stated.status != "negated" and stated.confidence >= _DOUBT))


def _agree(claim: Claim, other: Claim) -> bool:
    """Whether two claims about the same object say the same of it: a favourite is liked."""
    same = claim.ended or claim.predicate in (other.predicate, *other.also) or other.predicate in claim.also
    return claim.ended == other.ended and same


def _is_doubted(claim: Claim, patterns: ExtractedClaims) -> bool:
    """Whether patterns hold that a claim of what can be only once is a wish, hearsay, or a move that is no new home.

    Patterns know few places, so a home that is read very surely is not doubted for its name.
    """
    if claim.many or claim.ended:
        return False
    refused = [r.span for r in patterns.refused if r.reason in _DENIED and r.span is not None]
    moved = [other.span for other in patterns.claims if other.predicate == "moved to" and claim.predicate == "lives in"]
    doubted = refused if claim.confidence >= _SURE_HOME else [*refused, *moved]
    return any(_touch(claim.span, span) for span in doubted)


def _touch(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span[0] < other[1] and other[0] < span[1]


def _same_words(claim: Claim, other: Claim) -> bool:
    """Whether two claims of one text are about the same object."""
    if not _touch(claim.span, other.span) or _without_article(claim.subject) != _without_article(other.subject):
        return False
    first, second = claim.object.casefold(), other.object.casefold()
    return first in second or second in first


def _without_article(name: str) -> str:
    return re.sub(r"^(?:the|an?) ", "", fold_name(name))


def _add(result: ExtractedClaims, extracted: ExtractedClaims, text: SpokenText) -> None:
    """Add the claims of a text to those of its memory, as far as there is room for them."""
    left = MAX_FACTS - len(result.claims)
    result.claims += [_placed(claim, text) for claim in extracted.claims[:left]]
    result.unsure += [_placed(claim, text) for claim in extracted.unsure[: MAX_FACTS - len(result.unsure)]]
    result.refused += extracted.refused
    if len(extracted.claims) > left:
        result.refused.append(Refused("limit", text.text[:MAX_SENTENCE]))


def _placed(claim: Claim, text: SpokenText) -> Claim:
    """Return a claim of a text as one of its memory, with the other name that its subject may have."""
    start, end = claim.span
    otherwise = other_name(claim.subject, text.text, text.speaker)
    return replace(claim, span=(start + text.start, end + text.start), otherwise=otherwise)
