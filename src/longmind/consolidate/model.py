"""The language model's part in consolidation: what it is asked, how its answers are checked, and when to stop asking.

A model makes consolidation better and is never needed for it. Once its budget is spent, or it does not answer, it is
not asked again in the run; what it has not read waits, and rules do their part meanwhile. An answer that cannot be used
is counted, and the next request is another chance.

A statement of a model counts only where it quotes words that are really in the source. The texts are data for the
model, never instructions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from pydantic import Field, create_model

from longmind.clock import Clock
from longmind.consolidate.bookmarks import next_midnight
from longmind.consolidate.rules.claims import Claim
from longmind.errors import BudgetSpent, InvalidAnswer, ModelError
from longmind.models import prompts
from longmind.models.quotes import find_quote
from longmind.systems.episodic import LessonDraft
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.quoting import quote_json
from longmind.types import Memory, Model, Unit

if TYPE_CHECKING:
    from longmind.models.chat import Chat
    from longmind.systems.episodic import Account, Teacher

T = TypeVar("T")
PROMPTS = "longmind.consolidate.prompts"
MAX_POINTS = 6
MAX_LESSONS = 4
"""Sentences of a summary, at most."""
BACKOFF = timedelta(minutes=10)
"""How long a model that does not answer is not asked, unless its server asks for longer."""
_TOKENS_PER_FACT = 180
"""Enough for a fact whose every field is as long as it may be, so that a valid answer is never cut off."""
_CHARS_PER_FACT = 400
"""A model may list one fact per text, and one more per so many characters."""
_TOKENS_PER_POINT = 170
"""Enough for a sentence and a quote that are as long as they may be."""
_REFUSED_STATUSES = frozenset({400, 413, 415, 422})
"""With these a server refuses the request itself, and will refuse it later too."""


class PromptText(Model):
    """A text for a model: who speaks, when, and what was said."""

    number: int
    speaker: str | None
    date: str
    content: str


def render_texts(texts: Iterable[PromptText]) -> str:
    """Return texts as the model reads them: JSON, so that they are told apart from the instructions."""
    return quote_json([text.model_dump() for text in texts])


# The names and docstrings of the schemas (Triple, Triples, Point, Points) are part of the JSON schema that a model is
# given: to change one changes what it is asked.

# -- extraction --------------------------------------------------------------------------------------------------------


class Triple(Model):
    """A fact as a model tells it."""

    subject: str = Field(min_length=1, max_length=60)
    predicate: str = Field(min_length=1, max_length=40)
    object: str = Field(min_length=1, max_length=100)
    quote: str = Field(max_length=200)
    """The words of the text that say so, character by character."""
    text: int = Field(ge=0)
    """The number of the text it is in."""
    confidence: Unit = 0.7
    single: bool = False
    """Whether there can be only one such value at a time."""


class Triples(Model):
    """What a model found in some texts."""

    facts: tuple[Triple, ...] = ()


@lru_cache(maxsize=256)
def triples_schema(limit: int) -> type[Triples]:
    """Return the schema of at most so many facts: a weak model would go on for as long as it may."""
    return create_model("Triples", __base__=Triples, facts=(tuple[Triple, ...], Field(default=(), max_length=limit)))


@dataclass(frozen=True, slots=True)
class ExtractionAnswer:
    """The facts that a model found, which model it was, and the prompts it was asked with."""

    facts: tuple[Triple, ...] = ()
    model: str = ""
    prompts: tuple[str, ...] = ()


class Extractor(Protocol):
    """Finds facts in texts, such as a language model does. One call is one request."""

    async def extract(self, texts: Sequence[PromptText]) -> ExtractionAnswer: ...


class ChatExtractor:
    """An extractor that asks a language model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def extract(self, texts: Sequence[PromptText]) -> ExtractionAnswer:
        prompt = prompts.load("extract", PROMPTS)
        messages = [{"role": "system", "content": prompt.fill()}, {"role": "user", "content": render_texts(texts)}]
        limit = 2 + len(texts) + sum(len(text.content) for text in texts) // _CHARS_PER_FACT
        answer = await self._chat.structured(
            messages, triples_schema(limit), max_tokens=_TOKENS_PER_FACT * limit, temperature=0.0, prompts=[prompt.id]
        )
        return ExtractionAnswer(answer.value.facts, self._chat.name, answer.prompts)


# -- summaries ---------------------------------------------------------------------------------------------------------


class Point(Model):
    """One sentence of a summary, and the words that it rests on."""

    statement: str = Field(min_length=1, max_length=200)
    quote: str = Field(max_length=200)
    text: int = Field(ge=0)


class Points(Model):
    """A summary as a model tells it."""

    points: tuple[Point, ...] = ()


@lru_cache(maxsize=MAX_POINTS)
def points_schema(limit: int) -> type[Points]:
    """Return the schema of a summary of at most so many sentences."""
    points = (tuple[Point, ...], Field(default=(), max_length=limit))
    return create_model("Points", __base__=Points, points=points)


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """A summary, which model wrote it, and the prompts it was asked with."""

    points: tuple[Point, ...] = ()
    model: str = ""
    prompts: tuple[str, ...] = ()


class SummaryWriter(Protocol):
    """Summarises texts, such as a language model does. One call is one request."""

    async def summarise(self, texts: Sequence[PromptText]) -> SummaryAnswer: ...


class ChatSummaryWriter:
    """A summary writer that asks a language model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def summarise(self, texts: Sequence[PromptText]) -> SummaryAnswer:
        prompt = prompts.load("summarise", PROMPTS)
        limit = min(MAX_POINTS, 1 + len(texts) // 2)
        messages = [
            {"role": "system", "content": prompt.fill(points=str(limit))},
            {"role": "user", "content": render_texts(texts)},
        ]
        answer = await self._chat.structured(
            messages, points_schema(limit), max_tokens=_TOKENS_PER_POINT * limit, temperature=0.0, prompts=[prompt.id]
        )
        return SummaryAnswer(answer.value.points, self._chat.name, answer.prompts)


# -- lessons -----------------------------------------------------------------------------------------------------------


class TaughtLesson(Model):
    """A lesson that an account shows."""

    statement: str = Field(min_length=1, max_length=300)
    advice: Literal["do", "avoid"]
    quote: str = Field(min_length=1, max_length=200)
    """The words of the account that show it, character by character."""
    text: int = Field(ge=0)
    """The number of the account it is in."""


class TaughtLessons(Model):
    """What a model learnt from some accounts."""

    lessons: tuple[TaughtLesson, ...] = Field(default=(), max_length=MAX_LESSONS)


class ChatTeacher:
    """A teacher that asks a language model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def lessons(self, task: str, accounts: Sequence[Account]) -> Sequence[LessonDraft]:
        """Return the model's lessons that quote the account they name and share words with it."""
        texts = [
            PromptText(number=n, speaker=None, date=f"{a.episode.start:%Y-%m-%d}", content=a.text)
            for n, a in enumerate(accounts)
        ]
        prompt = prompts.load("teach", PROMPTS)
        question = quote_json({"task": task, "accounts": [text.model_dump() for text in texts]})
        answer = await self._chat.structured(
            [
                {"role": "system", "content": prompt.fill(lessons=str(MAX_LESSONS))},
                {"role": "user", "content": question},
            ],
            TaughtLessons,
            max_tokens=_TOKENS_PER_POINT * MAX_LESSONS,
            temperature=0.0,
            prompts=[prompt.id],
        )
        return [draft for lesson in answer.value.lessons if (draft := _supported_lesson(lesson, accounts)) is not None]


def _supported_lesson(lesson: TaughtLesson, accounts: Sequence[Account]) -> LessonDraft | None:
    place = locate_quote(lesson.quote, lesson.text, [account.text for account in accounts])
    if place is None:
        return None
    account, (start, end) = accounts[place[0]], place[1]
    if not content_terms(lesson.statement) & content_terms(account.text):
        return None
    return LessonDraft(
        statement=" ".join(lesson.statement.split()),
        advice=lesson.advice,
        episodes=(account.episode.id,),
        quote=account.text[start:end],
    )


# -- checking answers --------------------------------------------------------------------------------------------------


def locate_quote(quote: str, number: int, texts: Sequence[str]) -> tuple[int, tuple[int, int]] | None:
    """Return the number of the text that a quote is in, and its span: the text that was named, or the only one."""
    if number < len(texts) and (span := find_quote(texts[number], quote)) is not None:
        return number, span
    places = [(n, span) for n, text in enumerate(texts) if (span := find_quote(text, quote)) is not None]
    return places[0] if len(places) == 1 else None


def content_terms(text: str) -> frozenset[str]:
    """Return the stems of the words of a text without stop words; of a text of stop words, these."""
    all_words = words(text)
    return frozenset(stem(word) for word in all_words if word not in STOP_WORDS) or frozenset(all_words)


def is_meant(wanted: frozenset[str], known: frozenset[str]) -> bool:
    """Whether some words mean a known value: one says no more than the other."""
    return wanted <= known or (bool(known) and known <= wanted)


def supported_points(points: Iterable[Point], texts: Sequence[str]) -> tuple[list[tuple[str, int]], Counter[str]]:
    """Return the sentences that rest on a text, each with its number, and the count of the others by reason."""
    supported: list[tuple[str, int]] = []
    rejected: Counter[str] = Counter()
    for point in points:
        place = locate_quote(point.quote, point.text, texts)
        if place is None:
            rejected["quote"] += 1
        elif not content_terms(point.statement) & content_terms(texts[place[0]]):
            rejected["unsupported"] += 1
        else:
            supported.append((" ".join(point.statement.split()), place[0]))
    return supported, rejected


@dataclass(slots=True)
class CheckedClaims:
    """The claims that the model made about one memory, and how many of them were rejected, by reason."""

    claims: list[tuple[Memory, Claim]] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class CheckedSummary:
    """A summary by the model, checked."""

    answer: SummaryAnswer = field(default_factory=SummaryAnswer)
    points: list[tuple[str, str]] = field(default_factory=list)
    """Each sentence that counts, and the id of the memory it quotes."""
    rejected: Counter[str] = field(default_factory=Counter)


# -- asking ------------------------------------------------------------------------------------------------------------


class UnusableAnswer(Exception):
    """Nothing can be taken from the answer. ``smaller``: a smaller request may work."""

    def __init__(self, why: str, *, smaller: bool) -> None:
        super().__init__(why)
        self.smaller = smaller


@dataclass(frozen=True, slots=True)
class ModelStop:
    """Why the model is not asked any more, and until when."""

    why: str
    until: datetime
    backoff: bool
    """Whether to ask nothing before ``until``; False where only the budget is spent."""


@dataclass(slots=True)
class ModelCalls:
    """The calls of the language model in one run: their budget, and their answers so far."""

    clock: Clock
    extractor: Extractor | None = None
    summary_writer: SummaryWriter | None = None
    teacher: Teacher | None = None
    calls_left: int | None = None
    calls: int = 0
    stopped: ModelStop | None = None
    wanted: set[str] = field(default_factory=set)
    """The memories that the model should read; the other sources it has read in an earlier run."""
    read: dict[str, CheckedClaims] = field(default_factory=dict)
    """By memory: its claims, kept so that a stage that is retried does not ask again."""
    unsummarised: set[tuple[str | None, str]] = field(default_factory=set)
    """Conversations, by user and session, whose summaries wait to be written by the model."""
    taught: dict[tuple[str, int], Sequence[LessonDraft]] = field(default_factory=dict)
    """By kind of episode and number of episodes: its lessons."""
    summaries: dict[tuple[str | None, str, int], CheckedSummary] = field(default_factory=dict)
    """By user, session and number of turns: its summary."""
    reflections: dict[tuple[str, int], CheckedSummary] = field(default_factory=dict)
    """By kind of episode and number of episodes: their summary."""

    async def ask(self, request: Callable[[], Awaitable[T]]) -> T | None:
        """Return the answer to one request; None once the model must not be asked any more.

        Raise ``UnusableAnswer`` where only this request failed.
        """
        if self.stopped is not None:
            return None
        now = self.clock.now()
        if self.calls_left is not None and self.calls >= self.calls_left:
            self.stopped = ModelStop("The model calls for today are used.", next_midnight(now), backoff=False)
            return None
        self.calls += 1
        try:
            return await request()
        except BudgetSpent as error:
            if error.details.get("wanted", 0) > error.details.get("limit", 0):
                raise UnusableAnswer(error.message, smaller=True) from error
            self.stopped = ModelStop(error.message, _moment(error, "resumes_at") or next_midnight(now), backoff=False)
        except InvalidAnswer as error:
            raise UnusableAnswer(error.message, smaller=error.details.get("finish") == "length") from error
        except ModelError as error:
            if error.details.get("status") in _REFUSED_STATUSES:
                raise UnusableAnswer(error.message, smaller=True) from error
            wait = error.details.get("retry_after")
            backoff = max(BACKOFF, timedelta(seconds=float(wait))) if isinstance(wait, int | float) else BACKOFF
            self.stopped = ModelStop(f"{type(error).__name__}: {error.message}", now + backoff, backoff=True)
        return None


def _moment(error: ModelError, name: str) -> datetime | None:
    value = error.details.get(name)
    return datetime.fromisoformat(value) if isinstance(value, str) else None
