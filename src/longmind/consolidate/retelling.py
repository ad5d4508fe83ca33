"""The stage ``summarise`` with a language model: the summary that rules made is told anew in a few plain sentences.

Each sentence must quote a turn; one that does not is dropped and counted, and if none is left the sentences that rules
chose stay. So does a summary whose turn with the model has not come yet: it is retold when what waits is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import Field, create_model

from longmind.consolidate.asking import PROMPTS, Text, place_of, shown, terms_of
from longmind.consolidate.extract import is_source, speaker_of
from longmind.consolidate.model_part import ModelPart, Unusable
from longmind.consolidate.summaries import telling
from longmind.consolidate.summarise import KIND, Summaries
from longmind.consolidate.work import Stage, Work
from longmind.kinds import SAID
from longmind.models import prompts
from longmind.store.base import AddLink, Batch, Update, Write
from longmind.types import Filter, Link, Memory, Model

if TYPE_CHECKING:
    from longmind.models.chat import Chat

POINTS = 6
"""Sentences of a summary, at most."""
_CHARS = 8_000
"""What is longer is shown to the model by its most telling sentences only."""
_SENTENCES = 40
_MOST = 2_000
_TOKENS_A_POINT = 170
"""Room for a sentence and a quote that are as long as they may be."""


class Point(Model):
    """One sentence of a summary, and the words that it rests on."""

    statement: str = Field(min_length=1, max_length=200)
    quote: str = Field(max_length=200)
    text: int = Field(ge=0)


class Points(Model):
    """A summary as a model tells it."""

    points: tuple[Point, ...] = ()


@lru_cache(maxsize=POINTS)
def points_of(most: int) -> type[Points]:
    """``Points`` of at most so many sentences."""
    return create_model("Points", __base__=Points, points=(tuple[Point, ...], Field(default=(), max_length=most)))


@dataclass(frozen=True, slots=True)
class Told:
    """A summary, which model it is of, and the prompts it was asked with."""

    points: tuple[Point, ...] = ()
    model: str = ""
    prompts: tuple[str, ...] = ()


class Teller(Protocol):
    """Something that tells in short what texts say, such as a language model. One call is one request."""

    async def tell(self, texts: Sequence[Text]) -> Told: ...


class ChatTeller:
    """A teller that asks a language model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def tell(self, texts: Sequence[Text]) -> Told:
        prompt = prompts.load("summarise", PROMPTS)
        most = min(POINTS, 1 + len(texts) // 2)
        messages = [
            {"role": "system", "content": prompt.fill(points=str(most))},
            {"role": "user", "content": shown(texts)},
        ]
        made = await self._chat.structured(
            messages, points_of(most), max_tokens=_TOKENS_A_POINT * most, temperature=0.0, prompts=[prompt.id]
        )
        return Told(made.value.points, self._chat.name, made.prompts)


@dataclass(slots=True)
class Retold:
    """What came of asking for one summary."""

    told: Told = field(default_factory=Told)
    kept: list[tuple[str, str]] = field(default_factory=list)
    """Each sentence that counts, and the memory it quotes."""
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Retelling:
    """The stage: summaries by rules and then, where there is a model, in its words."""

    rules: Stage = field(default_factory=Summaries)
    name: str = "summarise"

    async def propose(self, work: Work) -> None:
        await self.rules.propose(work)
        if work.model is None or work.model.teller is None:
            return
        writes: list[Write] = []
        places = {(m.user, m.session) for m in work.sources if m.session} | work.model.places
        for user, session in sorted(places, key=str):
            found = await work.draft.scan(work.scope, Filter(kinds=(KIND,), metadata={"session": session}))
            for record in found.items:
                if record.user == user and "turns" in record.body:
                    writes += await _renewed(work, work.model, record)
        if writes:
            await work.draft.apply(Batch(work.scope, work.operation, work.clock.now(), tuple(writes)))


async def _renewed(work: Work, part: ModelPart, record: Memory) -> list[Write]:
    """The writes that put the model's words in place of those that rules chose; none if there is nothing to renew."""
    turns = int(record.body["turns"])
    stored = work.draft.read.get(record.id)
    if "retold" in record.body:
        return []
    if stored is not None and stored.body.get("retold", {}).get("turns") == turns:
        return [Update(record.id, {"content": stored.content, "body": stored.body}, record.version)]
    place = (record.user, str(record.body["session"]))
    if (*place, turns) not in part.retold:
        asked = await _asked(work, part, record)
        if asked is None:
            part.places.add(place)
            work.notes.failed = None if part.stopped is None else part.stopped.why
            return []
        part.retold[*place, turns] = asked
    part.places.discard(place)
    made = part.retold[*place, turns]
    work.notes.rejected.update(made.rejected)
    return _writes(work, record, made)


def _writes(work: Work, record: Memory, made: Retold) -> list[Write]:
    if not made.kept:
        return []
    quoted = list(dict.fromkeys(id for _, id in made.kept))
    body: dict[str, Any] = {
        **record.body,
        "quoted": list(dict.fromkeys([*record.body.get("quoted", ()), *quoted])),
        "retold": {"model": made.told.model, "prompts": list(made.told.prompts), "turns": record.body["turns"]},
    }
    because = work.notes.why.get(record.id, (quoted[0], ""))
    work.notes.why[record.id] = (because[0], f"{because[1]}; told by {made.told.model}".removeprefix("; "))
    return [
        Update(record.id, {"content": "\n".join(text for text, _ in made.kept), "body": body}, record.version),
        *(AddLink(Link(source=record.id, relation="derived_from", target=id)) for id in quoted),
    ]


async def _asked(work: Work, part: ModelPart, record: Memory) -> Retold | None:
    """The model's summary of a conversation, checked; None if it cannot be asked now."""
    assert part.teller is not None
    texts = await _texts(work, record)
    if not texts:
        return Retold()
    asked = [
        Text(number=n, speaker=speaker_of(m), date=f"{m.occurred_at:%Y-%m-%d}", content=text)
        for n, (m, text) in enumerate(texts)
    ]
    try:
        told = await part.ask(partial(part.teller.tell, asked))
    except Unusable:
        return Retold(rejected=Counter(answer=1))
    if told is None:
        return None
    kept, rejected = supported(told.points, [text for _, text in texts])
    return Retold(told, [(statement, texts[number][0].id) for statement, number in kept], rejected)


def supported(points: Iterable[Point], texts: Sequence[str]) -> tuple[list[tuple[str, int]], Counter[str]]:
    """The sentences that rest on a text, each with its number; and how many of the others do not count, by reason."""
    kept: list[tuple[str, int]] = []
    rejected: Counter[str] = Counter()
    for point in points:
        place = place_of(point.quote, point.text, texts)
        if place is None:
            rejected["quote"] += 1
        elif not terms_of(point.statement) & terms_of(texts[place[0]]):
            rejected["unsupported"] += 1
        else:
            kept.append((" ".join(point.statement.split()), place[0]))
    return kept, rejected


async def _texts(work: Work, record: Memory) -> list[tuple[Memory, str]]:
    """What the model reads: all that was said, or of a long conversation the sentences that tell most."""
    where = Filter(sessions=(str(record.body["session"]),), kinds=SAID, states=("active", "stale"))
    said = [m async for m in work.store.scan_all(work.scope, where) if m.user == record.user and is_source(m)][-_MOST:]
    if sum(len(m.content) for m in said) <= _CHARS:
        return [(m, m.content) for m in said]
    return [(said[one.source], one.text) for one in telling([m.content for m in said], _SENTENCES)]
