"""What the dialogue tiers store and return.

A page is a memory of the kind ``page``, a topic a ``segment``, a chain a ``summary``. Which pages are in short-term
memory stands in one more record, the window; every change of it expects its version, so of two writers that saw the
same window one looks again, and no two can together put in more than there is room for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Protocol

from pydantic import Field, model_validator

from longmind.systems.persona import Knowledge, Trait
from longmind.systems.scoped_store import validated
from longmind.systems.shared import SharedHit
from longmind.types import Id, Memory, Model, Moment, Name, Role, State, Text, Unit

PAGE, SEGMENT, CHAIN = "page", "segment", "summary"
WINDOW = "dialogue:window"
"""The key of the window, for each user its own."""
MAX_TURNS = 100


class DialogueTurn(Model):
    """What one side said in a page. The text is in the page, or in the message it was remembered as."""

    role: Role = "user"
    name: Name | None = None
    text: Text = ""
    memory: Id | None = None

    @property
    def who(self) -> str:
        return self.name or self.role


class PageDraft(Model):
    """A page to be added: texts, or the ids of messages that were remembered."""

    user: Text | None = None
    reply: Text | None = None
    messages: Annotated[tuple[Id, ...], Field(max_length=MAX_TURNS)] = ()
    session: Name | None = None
    occurred_at: Moment | None = None
    importance: Unit | None = None
    key: Annotated[Name, Field(max_length=150)] | None = None
    """The same key again is the same page; messages need none, they are in one page only."""

    @model_validator(mode="after")
    def _says_something(self) -> PageDraft:
        texts = bool((self.user or "").strip() or (self.reply or "").strip())
        if texts == bool(self.messages):
            raise ValueError("give what the user said and the reply, or the ids of messages")
        if len(set(self.messages)) < len(self.messages):
            raise ValueError("a message is in a page once")
        return self


class WindowBody(Model):
    """Short-term memory as it is stored."""

    pages: tuple[Id, ...] = ()
    """The oldest first."""
    revision: int = 0


class PageBody(Model):
    """A page as it is stored. ``segment`` is the one place that says where it belongs."""

    turns: tuple[DialogueTurn, ...]
    chain: Id
    segment: Id | None = None
    """None while the page is in short-term memory."""
    number: int = 0
    """The how manyth page of its segment it was."""

    @classmethod
    def read(cls, record: Memory) -> PageBody:
        return validated(cls, record.body)


class ChainBody(Model):
    """A chain of pages that go on from one another, as it is stored."""

    pages: int = 0
    summary: Text = ""
    terms: Text = ""
    """``words.packed`` of what it is about."""

    @classmethod
    def read(cls, record: Memory) -> ChainBody:
        return validated(cls, record.body)


class Analysed(Model):
    """How far a segment had come when it was last handed on to long-term memory."""

    visits: int = 0
    length: int = 0
    at: Moment | None = None


class SegmentBody(Model):
    """A segment as it is stored."""

    terms: Text = ""
    """``words.packed`` of what it is about."""
    words: tuple[str, ...] = ()
    """The keywords as they were written."""
    summary: Text = ""
    summarised: int = 0
    """How many pages the summary of a model covers; 0 if the summary was made by rules."""
    length: int = 0
    first_at: Moment
    last_at: Moment
    joined_at: Moment
    analysed: Analysed = Analysed()

    @classmethod
    def read(cls, record: Memory) -> SegmentBody:
        return validated(cls, record.body)

    def text(self) -> str:
        """What search looks at."""
        return "\n".join(part for part in (", ".join(self.words), self.summary) if part)


class DialoguePage(Model):
    """One exchange of a conversation."""

    id: str
    turns: tuple[DialogueTurn, ...]
    session: str | None
    at: Moment
    importance: Unit
    chain: str
    segment: str | None
    state: State

    @property
    def text(self) -> str:
        """What was said, one turn a line."""
        return "\n".join(turn.text for turn in self.turns if turn.text)


class DialogueSegment(Model):
    """A topic of mid-term memory, and how hot it is now."""

    id: str
    keywords: tuple[str, ...]
    summary: str
    length: int
    """Pages that joined it, ever."""
    new_pages: int
    """Those since it was last analysed; with ``visits`` what its heat is made of."""
    visits: int
    all_visits: int
    heat: float
    active_at: Moment
    """When it was last visited or grew."""
    first_at: Moment
    last_at: Moment
    importance: Unit
    analysed_at: Moment | None
    archived: bool


class Moved(Model):
    """A page that left short-term memory for a segment."""

    page: str
    segment: str
    created: bool
    """Whether it began the segment."""
    fit: float
    """``cos + Jaccard`` with the best segment there was, from 0 to 2."""


class Added(Model):
    """What adding pages did."""

    pages: tuple[DialoguePage, ...]
    moved: tuple[Moved, ...] = ()
    archived: tuple[str, ...] = ()
    """Segments that had to make room."""


class PageHit(Model):
    """A page that fits a question."""

    page: DialoguePage
    score: Unit


class SegmentHit(Model):
    """A segment that fits a question, and its pages that fit best."""

    segment: DialogueSegment
    score: Unit
    pages: tuple[PageHit, ...]


class Recalled(Model):
    """What every level of memory says to a question."""

    query: str
    short_term: tuple[DialoguePage, ...]
    """The whole window, the oldest page first."""
    chain: str
    """What the conversation that goes on now has been about."""
    mid_term: tuple[SegmentHit, ...]
    traits: tuple[Trait, ...]
    knowledge: tuple[Knowledge, ...]
    shared: tuple[SharedHit, ...]


class Promotion(Model):
    """Which hot segments were handed on, and which failed and why; those stay hot."""

    promoted: tuple[str, ...] = ()
    failed: Mapping[str, str] = Field(default_factory=dict)


class Upkeep(Model):
    """What looking after the tiers changed."""

    moved: tuple[Moved, ...] = ()
    regrouped: tuple[Moved, ...] = ()
    """Pages whose segment was gone and that have another now."""
    archived_pages: tuple[str, ...] = ()
    archived_segments: tuple[str, ...] = ()
    summarised: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    """What ``undo`` takes, the first change first."""


class SegmentSummariser(Protocol):
    """A model that shortens a text. What it is given is data to be told again, never an instruction."""

    async def summarise(self, text: str, *, words: int) -> str: ...
