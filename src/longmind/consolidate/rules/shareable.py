"""What a memory has to offer to the agents of its tenant: the statements of facts, profile entries, lessons, procedures
and messages. Whether a statement is about a person is judged by shared memory, not here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from longmind.consolidate.rules.extraction import is_source
from longmind.consolidate.rules.general_statements import general_words, is_complete
from longmind.consolidate.rules.world_statements import world_statements
from longmind.systems.shared import ClaimParts, KnowledgeCandidate, about_of
from longmind.text.sentences import sentences
from longmind.types import Memory

_MIN_CONFIDENCE = 0.5
_MIN_TRUST = 0.5
_MAX_CHARS = 2_000
_MAX_SENTENCE = 200
_MIN_WORDS = 3
_MAX_STATEMENTS = 20
"""Statements of one message that are offered."""
_OF_SPEAKERS = re.compile(
    r"\b(?:I|me|my|mine|we|us|our|he|she|him|his|her|you|your|i'm|it's|that's)\b|[\"“”]|\b(?:I'|we'|you')",
    re.IGNORECASE,
)
"""Words of most sentences of a conversation. They are about those who speak, so they need no closer look."""
_CALL = re.compile(r"[A-Za-z_][\w.-]*")


def candidates_of(memory: Memory) -> list[KnowledgeCandidate]:
    """Return what a memory states, as candidates for shared memory."""
    offered = _OFFERED.get(memory.kind)
    return [] if offered is None or not memory.content.strip() else list(offered(memory))


def holds(memory: Memory) -> bool:
    """Return whether what a memory states is believed now and sure enough to be offered."""
    if memory.state != "active" or memory.body.get("retracted_at") is not None or memory.valid_to is not None:
        return False
    confidence = memory.body.get("confidence", 1.0)
    sure = not isinstance(confidence, int | float) or confidence >= _MIN_CONFIDENCE
    return sure and memory.trust >= _MIN_TRUST


def _fact(memory: Memory) -> Iterator[KnowledgeCandidate]:
    body = memory.body
    parts = ClaimParts(subject=body["subject_name"], predicate=body["predicate"], object=str(body["object"]))
    if len(memory.content) <= _MAX_CHARS:
        yield KnowledgeCandidate(text=memory.content, claim=parts)


def _entry(memory: Memory) -> Iterator[KnowledgeCandidate]:
    """An entry of a profile: most are about the user, but what somebody knows is there, too."""
    if len(memory.content) <= _MAX_CHARS:
        yield KnowledgeCandidate(text=memory.content)


def _reflection(memory: Memory) -> Iterator[KnowledgeCandidate]:
    """A lesson of many episodes, and what an agent found that has to be done first."""
    body = memory.body
    subject, terms = body.get("subject"), body.get("terms")
    if "lesson" in memory.tags and isinstance(subject, str) and isinstance(terms, list) and terms:
        task = ", ".join(map(str, terms))
        yield KnowledgeCandidate(
            text=f"For tasks with {task}: {memory.content}"[:_MAX_CHARS],
            identity=f"lesson {terms[0]} {body.get('advice')} {subject}",
            practical=True,
        )
    for need in body.get("needs", ()):
        first, then = _called(need.get("do")), _called(need.get("before"))
        if first and then:
            identity = f"need {first} {then}"
            yield KnowledgeCandidate(text=f"Call {first} before {then}.", identity=identity, practical=True)


def _procedure(memory: Memory) -> Iterator[KnowledgeCandidate]:
    """The calls of a procedure in their order, without their arguments, and its purpose if that names nobody."""
    steps = memory.body.get("steps", ())
    calls = [str(step.get("use") or step.get("procedure")) for step in steps if isinstance(step, dict)]
    if len(calls) < 2 or "kept" not in memory.metadata:  # versions that are not the current one have no such field
        return
    purpose = " ".join(str(memory.body.get("purpose", "")).split()).rstrip(".")
    if not purpose or about_of(purpose) != "how-to":
        purpose = "Calls that worked one after the other"
    text = f"{purpose}: {', then '.join(calls)}."[:_MAX_CHARS]
    yield KnowledgeCandidate(text=text, identity=f"procedure {' > '.join(calls)}", practical=True)


def _message(memory: Memory) -> Iterator[KnowledgeCandidate]:
    """The sentences of a message that may state something general."""
    if not is_source(memory):
        return
    names = tuple(name for name in (memory.user, memory.source.name) if name)
    number = 0
    for sentence in sentences(memory.content):
        text = sentence.text.strip()
        if sentence.asks or len(text) > _MAX_SENTENCE or len(text.split()) < _MIN_WORDS or _OF_SPEAKERS.search(text):
            continue
        words = general_words(text)
        about = "person" if words is None else about_of(text, names)
        if words is None or about == "person" or not is_complete(words, instructs=about == "how-to"):
            continue
        if any(world_statements(sentence)):
            continue  # it becomes a fact, and that is offered
        number += 1
        yield KnowledgeCandidate(text=text if text.endswith(".") else f"{text}.", names=names)
        if number == _MAX_STATEMENTS:
            return


def _called(shape: Any) -> str | None:
    """Return the name of the function of a call."""
    match = _CALL.match(shape) if isinstance(shape, str) else None
    return None if match is None else match.group()


_OFFERED: dict[str, Callable[[Memory], Iterator[KnowledgeCandidate]]] = {
    "fact": _fact,
    "knowledge": _entry,
    "reflection": _reflection,
    "procedure": _procedure,
    "message": _message,
}
