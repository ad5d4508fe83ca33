"""Dialogues in which a fact should change, and dialogues in which it should not, through the public way into memory.

Each dialogue states a fact and then says something else. It is remembered turn by turn and consolidated, as in use;
then the facts that hold are compared with what a reader would hold for true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from longmind import Longmind
from longmind.consolidate.rules.relations import ALSO, RELATIONS
from longmind.memory import AgentMemory
from longmind.systems.semantic import Fact
from longmind.testing import FakeClock

FILE = Path(__file__).with_name("dialogues.jsonl")
_NAMES = (
    "dialogues",
    "unseen",
    "fresh",
    "later",
    "newest",
    "latest",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
)
FILES = {name: FILE.with_name(f"{name}.jsonl") for name in _NAMES}
"""The dialogues that rules were made with, and sets that were written later. Of ``eighteenth`` and ``twelfth`` none
was read, of ``seventeenth``, ``sixteenth`` and ``fifteenth`` those that were not right, of ``tenth``, ``ninth`` and
``seventh`` those with wrong changes, of ``latest`` half, and all of the others; what was missed there shaped rules and
later training turns."""
_PREDICATES = {
    name.replace("_", " "): {
        relation.predicate,
        *(predicate for predicate in relation.also if not predicate.startswith("has ")),
        *(other.predicate for other in ALSO.get(name, ())),
    }
    for name, relation in RELATIONS.items()
}
"""The predicates that hold what a relation says, by the name of the relation."""
_OF_THINGS = {
    predicate
    for name in ("property", "deadline", "located in", "part of", "made by")
    for predicate in _PREDICATES[name]
}
"""The predicates of which the subject is a thing: "my rent is 850 euros" is about the rent, whoever pays it."""
_OF_TIMES = _PREDICATES["event"] | _PREDICATES["deadline"]
"""The predicates of which the value names what it is about."""
_HAVING = {"partner", "child", "parent", "sibling", "relative", "knows", "pet"}
"""The relations of which memory's predicate names the kind of what somebody has."""
_OWNER = re.compile(r"^(?:my|our|the) ")
"""Words before the name of a subject that memory does not store: "my daughter" is "user's daughter"."""
USER = "user"
AFTER = datetime(2027, 1, 1, tzinfo=UTC)
"""When what holds is asked for: after all dialogues, whatever the day is on which they are played."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue and what holds at its end, under any of the predicates of a slot."""

    name: str
    domain: str
    change: bool
    """Whether the last turns change something."""
    slot: tuple[str, ...]
    holds: str | None
    """Words of the value that holds at the end; None: nothing has to."""
    gone: str | None
    """Words of a value that must not hold at the end; None: there is none."""
    turns: tuple[tuple[datetime, str, str], ...]
    """When, by whom, and what."""
    subject: str = USER


@dataclass(frozen=True, slots=True)
class Outcome:
    """What memory holds after a dialogue."""

    dialogue: Dialogue
    before: tuple[str, ...]
    """The facts of the slot that held before the last visit."""
    values: tuple[str, ...]
    """The facts of the slot that hold."""

    @property
    def right(self) -> bool:
        """Whether what should hold does, and what should not does not."""
        holds, gone = self.dialogue.holds, self.dialogue.gone
        return (holds is None or _has(self.values, holds)) and (gone is None or not _has(self.values, gone))

    @property
    def wrong_change(self) -> bool:
        """Whether what was known and should have stayed is gone, or something false holds."""
        holds, gone = self.dialogue.holds, self.dialogue.gone
        lost = holds is not None and _has(self.before, holds) and not _has(self.values, holds)
        return not self.dialogue.change and (lost or (gone is not None and _has(self.values, gone)))


def _has(values: Sequence[str], words: str) -> bool:
    return any(words.casefold() in value.casefold() for value in values)


def dialogues(path: Path = FILE) -> list[Dialogue]:
    """Return the dialogues of a file."""
    return [_dialogue(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _dialogue(entry: dict[str, object]) -> Dialogue:
    turns = tuple(
        (datetime.fromisoformat(day).replace(hour=12, minute=number, tzinfo=UTC), role, text)
        for number, (day, role, text) in enumerate(entry.pop("turns"))  # type: ignore[call-overload]
    )
    slot = tuple(entry.pop("slot"))  # type: ignore[call-overload]
    return Dialogue(turns=turns, slot=slot, **entry)  # type: ignore[arg-type]


async def play(longmind: Longmind, dialogue: Dialogue, *, reader: bool) -> Outcome:
    """Remember and consolidate a dialogue, one visit after the other, and return what memory holds then."""
    mem = longmind.agent(f"updates {dialogue.name} {'reader' if reader else 'patterns'}", user=USER)
    await mem.configure(statement_reader=reader)
    before: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    for day in dict.fromkeys(turn[0].date() for turn in dialogue.turns):
        for moment, role, text in dialogue.turns:
            if moment.date() == day:
                await mem.remember({"role": role, "content": text}, session=str(day), occurred_at=moment)
        await mem.consolidate()
        before, values = values, await _holding(mem, dialogue)
    return Outcome(dialogue, before, values)


async def _holding(mem: AgentMemory, dialogue: Dialogue) -> tuple[str, ...]:
    facts = [fact for fact in (await mem.semantic.facts(limit=500)).items if _is_in(fact.predicate, dialogue.slot)]
    own = [f for f in facts if not _named(dialogue) or _is_about(dialogue.subject, f)]
    return tuple(f"{fact.predicate}: {fact.object}" for fact in own)


def _is_in(predicate: str, slot: Sequence[str]) -> bool:
    """Whether facts with a predicate belong to a slot, in which "favorite" stands for that of any kind.

    Who wrote a slot may have named the relation ("allergy") where memory names its predicate ("allergic to").
    """
    asked = {name.replace("_", " ") for name in slot}
    named = {name for name, predicates in _PREDICATES.items() if predicate in predicates}
    if predicate.startswith("has ") and not named:  # "has daughter", "has dog"
        named = _HAVING
    return (
        predicate in slot or not named.isdisjoint(asked) or ("favorite" in slot and predicate.startswith("favorite "))
    )


def _is_about(name: str, fact: Fact) -> bool:
    """Whether a fact is about who or what is meant.

    "The user's flatmate" is not the user, but a rent has its own name; and an appointment at the dentist's is the
    user's plan.
    """
    if name == USER:
        return fact.subject == name or fact.predicate in _OF_THINGS
    words = re.escape(_OWNER.sub("", name.casefold()))
    whole = re.compile(rf"{words}(?!\w*['’]s)")  # her son's friend is not her son
    told_of = fact.subject if fact.predicate not in _OF_TIMES else f"{fact.subject} {fact.object}"
    return whole.search(told_of.casefold()) is not None


def _named(dialogue: Dialogue) -> bool:
    """Whether only facts about the subject count; a thing's name is said in many ways."""
    return dialogue.domain not in ("servers", "project", "prices", "tools")


async def measure(reader: bool, chosen: Sequence[Dialogue] | None = None) -> list[Outcome]:
    """Play all dialogues, each with an agent of its own."""
    async with Longmind.open("memory:", embedder="none", clock=FakeClock(AFTER)) as longmind:
        return [await play(longmind, dialogue, reader=reader) for dialogue in chosen or dialogues()]
