"""The stored and returned types of dialogue memory.

A page is a memory of the kind ``page``, a topic a ``segment``, a chain a ``summary``. One more record, the window,
lists the pages in short-term memory. Every change of the window expects its version, so of two concurrent writers one
retries, and together they cannot exceed the capacity.
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
"""The key of the window; each user has one."""
MAX_TURNS = 100


class DialogueTurn(Model):
    """A turn of a page. Its text is stored in the page, or in the message that it points to."""

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
    """Adding the same key again returns the same page. Messages need no key: each belongs to one page."""

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
    """The ids of the pages, the oldest first."""
    revision: int = 0


class PageBody(Model):
    """A page as it is stored. Only ``segment`` says where it belongs."""

    turns: tuple[DialogueTurn, ...]
    chain: Id
    segment: Id | None = None
    """None while the page is in short-term memory."""
    number: int = 0
    """The page's number within its segment."""

    @classmethod
    def read(cls, record: Memory) -> PageBody:
        return validated(cls, record.body)


class ChainBody(Model):
    """A chain of pages that continue one another, as it is stored."""

    pages: int = 0
    summary: Text = ""
    terms: Text = ""
    """Its term weights, as ``term_weights.pack`` writes them."""

    @classmethod
    def read(cls, record: Memory) -> ChainBody:
        return validated(cls, record.body)


class Analysed(Model):
    """The visits and pages of a segment when it was last analysed for long-term memory."""

    visits: int = 0
    length: int = 0
    at: Moment | None = None


class SegmentBody(Model):
    """A segment as it is stored."""

    terms: Text = ""
    """Its term weights, as ``term_weights.pack`` writes them."""
    words: tuple[str, ...] = ()
    """The keywords as they were written."""
    summary: Text = ""
    summarised: int = 0
    """How many pages the model's summary covers; 0 if the summary was made by rules."""
    length: int = 0
    first_at: Moment
    last_at: Moment
    joined_at: Moment
    analysed: Analysed = Analysed()
    new_importance: Unit = 0.0
    """The highest importance of the pages that joined since it was last analysed."""

    @classmethod
    def read(cls, record: Memory) -> SegmentBody:
        return validated(cls, record.body)

    def text(self) -> str:
        """Return the text that is searched."""
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
        """Return the turns as text, one on each line."""
        return "\n".join(turn.text for turn in self.turns if turn.text)


class DialogueSegment(Model):
    """A topic of mid-term memory, with its current heat."""

    id: str
    keywords: tuple[str, ...]
    summary: str
    length: int
    """How many pages have joined it."""
    new_pages: int
    """The pages since it was last analysed; together with ``visits`` they determine its heat."""
    new_importance: Unit
    """The highest importance of these pages."""
    visits: int
    all_visits: int
    heat: float
    active_at: Moment
    """When it was last visited or gained a page."""
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
    """``cos + Jaccard`` with the best existing segment, from 0 to 2."""


class Added(Model):
    """The result of adding pages."""

    pages: tuple[DialoguePage, ...]
    moved: tuple[Moved, ...] = ()
    archived: tuple[str, ...] = ()
    """The ids of segments that were archived to keep the capacity."""


class PageHit(Model):
    """A page that matches a query."""

    page: DialoguePage
    score: Unit


class RankedHit(Model):
    """A memory that matches a query, ranked as ``recall`` ranks it: a turn, a page with its own texts, or a fact."""

    memory: Memory
    score: Unit
    page: str | None
    """The page that holds it; None for what is no turn, and for a turn that is in no page yet."""


class SegmentHit(Model):
    """A segment that matches a query, with its best pages."""

    segment: DialogueSegment
    score: Unit
    pages: tuple[PageHit, ...]


class Recalled(Model):
    """What each level of memory has on a query."""

    query: str
    short_term: tuple[DialoguePage, ...]
    """The whole window, the oldest page first."""
    chain: str
    """The rolling summary of the current conversation."""
    hits: tuple[RankedHit, ...]
    """What recall finds, the best first; the levels put it in order."""
    mid_term: tuple[SegmentHit, ...]
    """The topics of these hits, each with its best pages."""
    traits: tuple[Trait, ...]
    knowledge: tuple[Knowledge, ...]
    shared: tuple[SharedHit, ...]


class Promotion(Model):
    """The hot segments that were analysed, and those that failed with the reason; these stay hot."""

    promoted: tuple[str, ...] = ()
    failed: Mapping[str, str] = Field(default_factory=dict)


class Upkeep(Model):
    """What a round of upkeep changed."""

    moved: tuple[Moved, ...] = ()
    regrouped: tuple[Moved, ...] = ()
    """Pages whose segment no longer existed, and which were assigned to another."""
    archived_pages: tuple[str, ...] = ()
    archived_segments: tuple[str, ...] = ()
    summarised: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    """The operation ids for ``undo``, in the order of the changes."""


class SegmentSummariser(Protocol):
    """A model that shortens a text. The text is data, never an instruction."""

    async def summarise(self, text: str, *, words: int) -> str: ...
