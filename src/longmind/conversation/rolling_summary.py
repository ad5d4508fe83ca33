"""The rolling summary: a stored summary of the messages that have left a conversation's window."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pydantic import Field

from longmind.consolidate.model import PromptText, SummaryWriter, supported_points
from longmind.consolidate.rules.key_sentences import key_sentences
from longmind.conversation.messages import MessageLog, digest
from longmind.errors import ModelError
from longmind.store.base import AddLink, Put, Write
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.text.quoting import flatten, label
from longmind.types import Id, Link, Memory, Model, Moment, Source

_log = logging.getLogger(__name__)
SUMMARY = "summary"
_MAX_SENTENCES = 12
"""The most sentences a summary has. Those of the summary before compete with those of new messages."""
_MAX_SENTENCE = 1_000
"""Characters of a sentence of a summary."""
_MAX_NEW_MESSAGES = 2_000
"""The most messages that are read to update a summary."""

FindSummaryWriter = Callable[[], Awaitable[SummaryWriter | None]]
"""Returns what writes summaries, such as a language model; None where there is none."""


class Quote(Model):
    """The message that a line of a summary comes from, with its version. If it changes, the summary is discarded."""

    id: Id
    version: int


class SummaryBody(Model):
    """The body of the record that stores a rolling summary."""

    session: str
    covered: int = Field(default=0, alias="told")
    """How many messages it covers, counted from the first."""
    until: Id | None = None
    until_at: Moment | None = None
    """The last message it covers, and when that was recorded."""
    quotes: tuple[Quote, ...] = ()
    """The origin of each line of the text."""
    by: str = "rules"


@dataclass(frozen=True, slots=True)
class _Passage:
    """An input of a new summary: a message, or a line of the previous summary."""

    speaker: str
    date: str
    text: str
    quote: Quote


@dataclass(frozen=True, slots=True)
class _Summary:
    """A rolling summary, with the record that stores it."""

    text: str
    body: SummaryBody
    record: KeyedRecord[SummaryBody]


class RollingSummary:
    """Keeps the summary of one conversation up to date."""

    def __init__(
        self,
        scoped: ScopedStore,
        log: MessageLog,
        session: str,
        *,
        window: int,
        summary_writer: FindSummaryWriter | None,
    ) -> None:
        self._scoped = scoped
        self._log = log
        self._session = session
        self._window = window
        self._summary_writer = summary_writer
        self._key = f"conversation:{digest(session)}"

    async def text(self) -> str:
        """Return the summary. Messages that have left the window since the last call are added to it first."""

        async def update() -> str:
            summary = await self._read()
            messages = (await self._uncovered(summary.body))[: -self._window]
            if not messages or (summary.text and len(messages) < self._window // 2):
                return summary.text
            advanced = await self._advance(summary, messages)
            await self._scoped.rewrite(self._writes(advanced, messages), "what left the window, in short")
            return advanced.text

        return await retry_on_conflict(update)

    async def record(self) -> Memory | None:
        """Return the record that stores the summary, or None."""
        record = self._keyed_record()
        await record.read()
        return record.memory

    def _keyed_record(self) -> KeyedRecord[SummaryBody]:
        fields = {"source": Source(role="system", name="conversation"), "metadata": {"session": self._session}}
        scoped, default = self._scoped, SummaryBody(session=self._session)
        return KeyedRecord(scoped.store, scoped.scope, scoped.clock, self._key, default, kind=SUMMARY, fields=fields)

    async def _read(self) -> _Summary:
        """Return the stored summary. One that quotes a changed or forgotten message, or was edited, starts empty."""
        record = self._keyed_record()
        body = await record.read()
        if record.memory is None:
            return _Summary("", body, record)
        ids = list(dict.fromkeys(quote.id for quote in body.quotes))
        versions = {m.id: m.version for m in await self._scoped.store.get_all(self._scoped.scope, ids)}
        current = all(versions.get(quote.id) == quote.version for quote in body.quotes)
        # One line for each origin. A record that somebody edited by hand may have others.
        if not current or len(record.memory.content.splitlines()) != len(body.quotes):
            return _Summary("", SummaryBody(session=self._session), record)
        return _Summary(record.memory.content, body, record)

    async def _uncovered(self, body: SummaryBody) -> list[Memory]:
        """Return the messages that the summary does not cover, the earliest first; of very many only the latest."""
        messages = await self._log.latest(_MAX_NEW_MESSAGES, recorded_since=body.until_at)
        ids = [message.id for message in messages]
        if body.until in ids:
            messages = messages[: ids.index(body.until)]
        elif body.until_at is not None:
            messages = [message for message in messages if message.recorded_at > body.until_at]
        return messages[::-1]

    async def _advance(self, summary: _Summary, messages: Sequence[Memory]) -> _Summary:
        """Return the summary with these messages added."""
        passages = _passages(summary, messages)
        lines, by = _visible(await self._lines_by_model(passages)), "model"
        if not lines:
            lines, by = _visible(_lines_by_rules(passages)), "rules"
        last = messages[-1]
        body = SummaryBody(
            session=self._session,
            told=summary.body.covered + len(messages),
            until=last.id,
            until_at=last.recorded_at,
            quotes=tuple(quote for _, quote in lines),
            by=by,
        )
        return _Summary("\n".join(text for text, _ in lines), body, summary.record)

    async def _lines_by_model(self, passages: Sequence[_Passage]) -> list[tuple[str, Quote]]:
        """Return the model's sentences, each with its origin. There are none without a model, or if it fails."""
        try:
            summary_writer = None if self._summary_writer is None else await self._summary_writer()
            if summary_writer is None:
                return []
            texts = [
                PromptText(number=number, speaker=passage.speaker or None, date=passage.date, content=passage.text)
                for number, passage in enumerate(passages)
            ]
            reply = await summary_writer.summarise(texts)
        except ModelError as error:
            _log.warning("The model made no summary of a conversation, so it is made by rules: %s", error.message)
            return []
        kept, _ = supported_points(reply.points, [passage.text for passage in passages])
        return [(statement, passages[number].quote) for statement, number in kept]

    def _writes(self, summary: _Summary, messages: Sequence[Memory]) -> list[Write]:
        """Return the writes that store a summary. It is linked to its origins, so that erasing them erases it."""
        write = summary.record.overwrite(summary.body, content=summary.text)
        id = write.memory.id if isinstance(write, Put) else write.id
        read = (m.id for m in messages) if summary.body.by == "model" else ()  # its words may rest on all it read
        origins = dict.fromkeys([*(quote.id for quote in summary.body.quotes), *read])
        return [write, *(AddLink(Link(source=id, relation="derived_from", target=origin)) for origin in origins)]


def _visible(lines: Sequence[tuple[str, Quote]]) -> list[tuple[str, Quote]]:
    """Return each text on one line, without those of which nothing is visible: a line stands for its origin."""
    flattened = ((flatten(text, _MAX_SENTENCE), quote) for text, quote in lines)
    return [(text, quote) for text, quote in flattened if text]


def _passages(summary: _Summary, messages: Sequence[Memory]) -> list[_Passage]:
    """Return the inputs of a new summary: the lines of the previous one, then the messages that follow."""
    previous = zip(summary.text.splitlines(), summary.body.quotes, strict=True)
    return [
        *(_Passage("", "", text, quote) for text, quote in previous),
        *(
            _Passage(
                message.source.name or message.source.role,
                f"{message.occurred_at:%Y-%m-%d}",
                message.content,
                Quote(id=message.id, version=message.version),
            )
            for message in messages
        ),
    ]


def _lines_by_rules(passages: Sequence[_Passage]) -> list[tuple[str, Quote]]:
    """Return the most informative sentences in their order, each with its origin."""
    sentences = key_sentences([passage.text for passage in passages], limit=_MAX_SENTENCES)
    chosen = [(passages[sentence.source], sentence.text) for sentence in sentences]
    if not chosen:
        chosen = [(passages[-1], " ".join(passages[-1].text.split())[:500])]
    return [
        (f"{label(passage.speaker)}: {text}" if passage.speaker else text, passage.quote) for passage, text in chosen
    ]
