"""Recognise statements that matter in every context: health, safety, standing instructions, and who the user is.

It works by cues of the language, without a model: what a sentence is about (word lists), who it is about (the user, the
family, or somebody else), and its form (a request, a wish, a habit). Cues of one type add up, and a sentence is one
that stands if there are enough. It is read when a memory is stored, and again when a context is made; see ADR 0019.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from longmind.text import standing_cues as cues
from longmind.text import standing_patterns as patterns
from longmind.text import standing_signs as signs
from longmind.text import standing_words as lists
from longmind.text.analysis import STOP_WORDS, stem
from longmind.text.sentences import MAX_SENTENCE, Sentence, sentences
from longmind.types import Memory

StandingType = Literal["safety", "health", "instruction", "identity"]
TYPES: tuple[StandingType, ...] = get_args(StandingType)
LEVELS = (3, 2, 1)
"""How surely a statement is one that stands, and how much it matters; the highest first."""

_MOST_READ = 2_000
"""Characters of a message that are read. People put their own words around a long text that they paste."""
_EDGE = 500
"""Characters at the beginning and at the end of a longer message that are read."""
_MOST_OF_ONE = 3
"""The most statements of one message that stand."""
_LONGEST = 300
"""Characters of a statement."""
_MIN_TRUST = 0.6
_EVERY_TYPE = signs.IDENTITY | signs.HEALTH | signs.SAFETY | signs.INSTRUCTION
_MATTERS = (
    cues.NAMED_HEALTH | lists.BODY | lists.SUBSTANCES | lists.COMMUNICATION | lists.WORK | lists.MARRIAGE | lists.FAITHS
)
"""Stems of which one is enough to tell what a statement ends."""


class Statement(NamedTuple):
    """A sentence that stands."""

    type: StandingType
    level: int
    """From 1 to 3."""
    text: str
    topics: frozenset[str]
    """Stems of what it is about, by which a later statement is recognised as one about the same."""
    slot: str | None = None
    """What it says, if a person has only one of these at a time: name, pronouns, home or work."""
    ends: bool = False
    """Whether it may end what was said before."""


def standing_marks(memory: Memory) -> list[str]:
    """Return the marks of a memory that holds statements of its user that stand; most memories have none."""
    if not may_stand(memory):
        return []
    return [
        standing_mark(type, level) for type, level in {(s.type, s.level) for s in standing_statements(memory.content)}
    ]


def standing_mark(type: StandingType, level: int) -> str:
    """Return the mark of memories that hold a statement of a type and level."""
    return f"stands {type} {level}"


def may_stand(memory: Memory) -> bool:
    """Return whether a memory is a message in a user's own words, from a source that is trusted."""
    source = memory.source
    copied = source.span is not None or (source.uri is not None and "/" in source.uri)
    return memory.kind == "message" and source.role == "user" and not copied and memory.trust >= _MIN_TRUST


@lru_cache(maxsize=4_096)
def standing_statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a message that stand, the most important first; at most three."""
    read = _own_words(text)
    if not read:
        return ()
    types = _EVERY_TYPE if len(read) > MAX_SENTENCE else signs.possible_types(read, cues.tokenise(read))
    if not types:
        return ()
    message = _Message(read)
    statements = [statement for number in range(len(message.parts)) if (statement := message.statement(number))]
    if not statements and types & (signs.HEALTH | signs.SAFETY) and len(read) <= _LONGEST:
        whole = message.as_one_statement()
        if whole is not None:
            statements.append(whole)
    strongest = sorted(statements, key=lambda statement: (-statement.level, TYPES.index(statement.type)))
    return tuple(strongest[:_MOST_OF_ONE])


class _Message:
    """A message, sentence by sentence; only those are parsed that may be statements, and what is said before them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts = sentences(text)
        self._tokens = [cues.tokenise(part.text) for part in self.parts]
        self._parsed: dict[int, cues.ParsedSentence] = {}

    def statement(self, number: int) -> Statement | None:
        """Return a sentence as the statement that it is, with those beside it that it leans on; most are none."""
        types = signs.possible_types(self.parts[number].text, self._tokens[number])
        if not types or not self._tells(number):
            return None
        household = bool(types & signs.HEALTH) and self._is_personal(number)
        statement = _classify(self._sentence(number), types, household)
        return None if statement is None else statement._replace(text=_shown(self.text, self.parts, number))

    def as_one_statement(self) -> Statement | None:
        """Return the whole message as a statement of health or safety, if the user tells of their own in it."""
        every = len(self.parts)
        if not all(map(self._tells, range(every))) or not self._is_personal(every):
            return None
        statement = _classify(cues.parse(self.text, cues.tokenise(self.text)), _EVERY_TYPE, True)
        if statement is None or statement.type not in ("health", "safety"):
            return None
        return statement._replace(text=self.text.strip(), level=1)

    def _sentence(self, number: int) -> cues.ParsedSentence:
        parsed = self._parsed.get(number)
        if parsed is None:
            parsed = self._parsed[number] = cues.parse(self.parts[number].text, self._tokens[number])
        return parsed

    def _tells(self, number: int) -> bool:
        """Return whether a sentence is neither a question nor about something invented."""
        if self.parts[number].asks:
            return False
        sentence = self._sentence(number)
        return not patterns.ASKS.match(sentence.plain) and lists.INVENTED.isdisjoint(sentence.stems)

    def _is_personal(self, end: int) -> bool:
        """Return whether a sentence before this one speaks of the user or their family."""
        return any(_is_personal(self._sentence(number)) for number in range(end))


def _is_personal(sentence: cues.ParsedSentence) -> bool:
    """Return whether a sentence speaks of the user, their family, or what a doctor told them."""
    kin = not lists.CLOSE_KIN.isdisjoint(sentence.stems)
    if kin or sentence.subject == "self":
        return True
    return not lists.MEDICAL.isdisjoint(sentence.stems) and patterns.DOCTOR_SAYS.search(sentence.plain) is not None


def _shown(text: str, parts: Sequence[Sentence], number: int) -> str:
    """Return a sentence with those beside it that it leans on, or that lean on it: "She has. So no nuts."."""
    first = number - 1 if number and patterns.LEANS.match(parts[number].text) else number
    last = number + 1 if number + 1 < len(parts) and patterns.LEANS.match(parts[number + 1].text) else number
    end = parts[last + 1].start if last + 1 < len(parts) else len(text)
    start = parts[first].start
    if end - start > _LONGEST:
        start, end = parts[number].start, parts[number + 1].start if number + 1 < len(parts) else len(text)
    return text[start:end].strip()[:_LONGEST]


def same_matter(newer: Statement, older: Statement) -> bool:
    """Return whether a statement repeats, replaces or ends an older one."""
    if newer.slot is not None and newer.slot == older.slot:
        return True
    shared = newer.topics & older.topics
    if newer.ends and (not _MATTERS.isdisjoint(shared) or len(shared) > 1):
        return True
    smaller = min(len(newer.topics), len(older.topics))
    return newer.type == older.type and smaller > 0 and len(shared) >= max(2, 0.7 * smaller)


def _own_words(text: str) -> str:
    """Return what the user wrote, without quotations, code and texts to be worked on; of a long message its edges."""
    if len(text) > _MOST_READ:
        text = f"{text[:_EDGE]}\n{text[-_EDGE:]}"
    if "`" in text or ">" in text:
        text = patterns.PASTED.sub(" ", text)
    pasted = patterns.WORK_ON.match(text)
    if pasted is not None:
        return ""
    return patterns.QUOTED.sub(" ", text)


def _classify(sentence: cues.ParsedSentence, types: int, household: bool) -> Statement | None:
    """Return the type and level of a sentence, or None if it is an ordinary one.

    ``types`` is what it can be by its signs; ``household`` whether the user was spoken of before.
    """
    found: list[tuple[int, StandingType, str | None]] = []
    if types & signs.IDENTITY:
        points, slot = cues.identity(sentence)
        found.append((points, "identity", slot))
    if sentence.subject != "other":
        if types & signs.SAFETY:
            found.append((cues.safety(sentence), "safety", None))
        if types & signs.HEALTH:
            found.append((cues.health(sentence, household), "health", None))
    if types & signs.INSTRUCTION and sentence.subject in ("self", "unknown"):
        found.append((cues.instruction(sentence), "instruction", None))
    enough = [(points, type, slot) for points, type, slot in found if points >= 2]
    if not enough:
        return None
    points, type, slot = max(enough, key=lambda entry: (entry[0], -TYPES.index(entry[1])))
    topics = frozenset(stem(t) for t in sentence.tokens if t not in STOP_WORDS and "'" not in t and len(t) > 2)
    return Statement(
        type, min(3, points - 1), sentence.text, topics, slot, patterns.ENDED.search(sentence.plain) is not None
    )
