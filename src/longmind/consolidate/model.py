"""The language model's part in one run: what it is asked, what it costs, and when to leave it alone.

A model makes consolidation better and is never needed for it. Once its budget is spent, or it does not answer, it is
not asked again in the run; what it has not read waits, and rules do their part meanwhile. An answer that cannot be used
concerns only what was asked: it is counted, and the next question is another chance.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

from pydantic import Field, create_model

from longmind.clock import Clock
from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.waiting import next_day
from longmind.errors import BudgetSpent, InvalidAnswer, ModelError
from longmind.models import prompts
from longmind.models.quotes import quotes
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.types import Memory, Model, Unit

if TYPE_CHECKING:
    from longmind.models.chat import Chat

T = TypeVar("T")
PROMPTS = "longmind.consolidate.prompts"
POINTS = 6
"""Sentences of a summary, at most."""
_TOKENS_A_FACT = 180
"""Room for a fact whose every field is as long as it may be, so that an answer held to the schema never breaks off."""
_CHARS_A_FACT = 400
"""One fact for so many characters of text, beside one for each text, is as many as a model may list."""
_TOKENS_A_POINT = 170
"""Room for a sentence and a quote that are as long as they may be."""
REST = timedelta(minutes=10)
"""How long a model that does not answer is left alone, unless its server asks for longer."""
_REFUSED = frozenset({400, 413, 415, 422})
"""With these a server means the question, and will not take it later either."""


class Triple(Model):
    """A fact as a model tells it."""

    subject: str = Field(min_length=1, max_length=60)
    predicate: str = Field(min_length=1, max_length=40)
    object: str = Field(min_length=1, max_length=100)
    quote: str = Field(max_length=200)
    """The words of the text that say so, letter by letter."""
    text: int = Field(ge=0)
    """The number of the text it is in."""
    confidence: Unit = 0.7
    single: bool = False
    """Whether there can be only one such value at a time."""


class Triples(Model):
    """What a model found in some texts."""

    facts: tuple[Triple, ...] = ()


@lru_cache(maxsize=256)
def triples_of(most: int) -> type[Triples]:
    """``Triples`` of at most so many facts: a weak model would go on for as long as it may."""
    return create_model("Triples", __base__=Triples, facts=(tuple[Triple, ...], Field(default=(), max_length=most)))


class Text(Model):
    """A text for a model: who speaks, when, and what was said."""

    number: int
    speaker: str | None
    date: str
    content: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts a model found, which model it was, and the prompts it was asked with."""

    facts: tuple[Triple, ...] = ()
    model: str = ""
    prompts: tuple[str, ...] = ()


class Extractor(Protocol):
    """Something that finds facts in texts, such as a language model. One call is one request."""

    async def extract(self, texts: Sequence[Text]) -> Reading: ...


class ChatExtractor:
    """An extractor that asks a language model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def extract(self, texts: Sequence[Text]) -> Reading:
        prompt = prompts.load("extract", PROMPTS)
        messages = [{"role": "system", "content": prompt.fill()}, {"role": "user", "content": shown(texts)}]
        most = 2 + len(texts) + sum(len(text.content) for text in texts) // _CHARS_A_FACT
        made = await self._chat.structured(
            messages, triples_of(most), max_tokens=_TOKENS_A_FACT * most, temperature=0.0, prompts=[prompt.id]
        )
        return Reading(made.value.facts, self._chat.name, made.prompts)


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


class Unusable(Exception):
    """Nothing can be taken from the answer. ``smaller``: less at once may work."""

    def __init__(self, why: str, *, smaller: bool) -> None:
        super().__init__(why)
        self.smaller = smaller


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the model is not asked any more, and until when."""

    why: str
    until: datetime
    rest: bool


@dataclass(slots=True)
class Answered:
    """What the model found in one memory, and what of it was refused."""

    found: list[tuple[Memory, Claim]] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class ModelPart:
    """The model in one run."""

    clock: Clock
    extractor: Extractor | None = None
    teller: Teller | None = None
    calls_left: int | None = None
    calls: int = 0
    stopped: Stop | None = None
    wanted: set[str] = field(default_factory=set)
    """The memories it should read; others of the run it has read before."""
    read: dict[str, Answered] = field(default_factory=dict)
    """By memory: what it said, kept so that a stage that is tried again does not ask again."""
    places: set[tuple[str | None, str]] = field(default_factory=set)
    """Conversations, by user and name, whose summaries wait to be told by it."""
    retold: dict[tuple[str | None, str, int], Retold] = field(default_factory=dict)
    """By user, conversation and number of turns: its summary."""

    async def ask(self, request: Callable[[], Awaitable[T]]) -> T | None:
        """The answer to one request; None once the model is not to be asked any more. ``Unusable`` is told."""
        if self.stopped is not None:
            return None
        now = self.clock.now()
        if self.calls_left is not None and self.calls >= self.calls_left:
            self.stopped = Stop("The model calls for today are used.", next_day(now), rest=False)
            return None
        self.calls += 1
        try:
            return await request()
        except BudgetSpent as error:
            if error.details.get("wanted", 0) > error.details.get("limit", 0):
                raise Unusable(error.message, smaller=True) from error
            self.stopped = Stop(error.message, _moment(error, "resumes_at") or next_day(now), rest=False)
        except InvalidAnswer as error:
            raise Unusable(error.message, smaller=error.details.get("finish") == "length") from error
        except ModelError as error:
            if error.details.get("status") in _REFUSED:
                raise Unusable(error.message, smaller=True) from error
            wait = error.details.get("retry_after")
            rest = max(REST, timedelta(seconds=float(wait))) if isinstance(wait, int | float) else REST
            self.stopped = Stop(f"{type(error).__name__}: {error.message}", now + rest, rest=True)
        return None


def _moment(error: ModelError, name: str) -> datetime | None:
    told = error.details.get(name)
    return datetime.fromisoformat(told) if isinstance(told, str) else None


def place_of(quote: str, number: int, texts: Sequence[str]) -> tuple[int, tuple[int, int]] | None:
    """The text that a quote is in, and where: the one that was named, or else the only one that has it."""
    if number < len(texts) and (span := quotes(texts[number], quote)) is not None:
        return number, span
    found = [(n, span) for n, text in enumerate(texts) if (span := quotes(text, quote)) is not None]
    return found[0] if len(found) == 1 else None


def terms_of(text: str) -> frozenset[str]:
    """The words by which one text can be found in another; those of everything only if there are no others."""
    found = words(text)
    return frozenset(stem(word) for word in found if word not in STOP_WORDS) or frozenset(found)


def shown(texts: Iterable[Text]) -> str:
    """Texts as a model reads them."""
    return json.dumps([text.model_dump() for text in texts], ensure_ascii=False)


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
