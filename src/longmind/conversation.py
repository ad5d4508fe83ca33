"""One conversation: its messages, what came before them in short, and what memory has to say to it.

A conversation is the messages of one session with one user, or with none. Each is stored before ``add`` returns. The
last ones are told as they were; what has left this window is told by a summary that rolls along. It is made of
sentences that were said, or by a model, and is kept as a memory linked to what it tells, so it is there after a restart
and goes when that is erased.

Several conversations of one user share what is learnt: recall looks at all that is known with the user.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from longmind.consolidate.model import Teller, Text, supported
from longmind.consolidate.rules.key_sentences import telling
from longmind.errors import InvalidInput, ModelError
from longmind.perceive.intake import About, memories_of
from longmind.recall.budget import HEAD, line
from longmind.store.base import AddLink, Delete, Put, Update, Write
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.tokens import estimate
from longmind.types import Filter, Hit, Id, Link, Memory, Message, Model, Moment, Name, Role, Source

_log = logging.getLogger(__name__)
SUMMARY = "summary"
WINDOW = 20
_SENTENCES = 12
"""How many sentences a rolling summary has at most; those of what is new compete with those it had."""
_READ_AT_ONCE = 500
_UNTOLD = 2_000
"""How many messages are read at most to make a summary."""
_RECALLED = 8
_SHARES = {"summary": 0.25, "memory": 0.3}
"""What part of a budget the summary and what memory brings may take; the rest is for the messages themselves."""

FindTeller = Callable[[], Awaitable[Teller | None]]
"""What tells in short what was said, such as a language model; None where there is none."""


class Active(Protocol):
    """What an agent should have in mind for its turn, as ``AgentMemory.active`` finds it."""

    async def __call__(self, task: str, conversation: Sequence[Message] = (), *, n: int = 5) -> list[Hit]: ...


class _Named(Model):
    id: Name


class _Quote(Model):
    """The message that a line of a summary is from, and in which version: a changed one makes the summary worthless."""

    id: Id
    version: int


class _Body(Model):
    """A rolling summary as it is stored."""

    session: str
    told: int = 0
    """How many messages it tells of, from the first on."""
    until: Id | None = None
    until_at: Moment | None = None
    """The last of them, and when it was recorded."""
    quotes: tuple[_Quote, ...] = ()
    """For each line of the text where it is from."""
    by: str = "rules"


@dataclass(frozen=True, slots=True)
class _Part:
    """Something a summary is made of: a message, or a line of the summary before."""

    who: str
    date: str
    text: str
    quote: _Quote


@dataclass(frozen=True, slots=True)
class _Rolled:
    """A rolling summary in hand, with the record it is stored in."""

    text: str
    body: _Body
    record: Memory | None


class Conversation:
    """The messages of one session, and what to tell a model about it."""

    def __init__(
        self, scoped: ScopedStore, id: str, active: Active, *, window: int = WINDOW, teller: FindTeller | None = None
    ) -> None:
        if window < 1:
            raise InvalidInput(f"A window of {window} messages cannot be.", hint="Give at least 1.")
        self.id = validated(_Named, {"id": id}).id
        self._scoped = scoped
        self._active = active
        self._window = window
        self._teller = teller
        self._key = f"conversation:{_digest(self.id)}"

    # -- what is said --------------------------------------------------------------------------------------------

    async def add(
        self,
        message: str | Message | Mapping[str, Any],
        *,
        role: Role | None = None,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Store a message, and return it as it is stored. It is durable then, and the next recall finds it.

        The same words twice are two messages. With a ``key`` of yours a call can be repeated: it is stored once.
        """
        told = _message(message, role)
        (made,) = memories_of([told], About(session=self.id, metadata=metadata), self._scoped.scope, self._scoped.clock)
        named = None if key is None else f"turn:{_digest(self.id, key)}"
        receipt = await self._scoped.write([Put(made.model_copy(update={"key": named}))], reason="said", actor="user")
        return receipt.memories[0]

    async def history(self, limit: int | None = None) -> tuple[Memory, ...]:
        """The messages, the earliest first: all of them, or the last ``limit``."""
        if limit is not None and limit < 1:
            raise InvalidInput(f"A history of {limit} messages cannot be.", hint="Give at least 1, or none for all.")
        return tuple(reversed(await self._latest(self._where(), limit)))

    async def clear(self) -> int:
        """Forget the conversation: its messages and its summary. Says how many messages there were."""

        async def go() -> int:
            said = await self.history()
            rolled = await self._stored()
            gone = [one.id for one in said] + ([rolled.id] if rolled else [])
            if gone:
                await self._scoped.rewrite([Delete(id) for id in gone], "clear the conversation")
            return len(said)

        return await retry_on_conflict(go)

    # -- what to tell of it --------------------------------------------------------------------------------------

    async def summary(self) -> str:
        """What was said before the window, in short; empty as long as all of it is in the window."""
        return (await self._rolled()).text

    async def messages(self, tokens: int = 3_000) -> list[Message]:
        """The last messages as they were, as many of the window as a budget holds, for a model's API."""
        return [_as_message(one) for one in _fitting(await self.history(self._window), tokens)]

    async def context(self, tokens: int = 1_500, *, task: str | None = None) -> str:
        """The conversation for a prompt: a summary of its beginning, its last messages, and what memory adds.

        Everything is quoted as data. The summary comes first and the messages follow in their order, so the beginning
        stays the same from turn to turn and a provider's prompt cache can use it.
        """
        if tokens < 1:
            raise InvalidInput(f"tokens must be at least 1, not {tokens}.")
        said = await self.history(self._window)
        if not said:
            return ""
        left = max(0, tokens - estimate(HEAD) - 20)
        earlier = _cut((await self._rolled()).text.splitlines(), left * _SHARES["summary"])
        hits = await self._brought(said, task)
        added = _cut([line(hit.memory) for hit in hits], left * _SHARES["memory"])
        spent = sum(map(estimate, (*earlier, *added)))
        last = [line(one) for one in _fitting(said, max(1, left - spent), cost=lambda m: estimate(line(m)) + 1)]
        parts = [
            ("Earlier in this conversation", [f'- "{one}"' for one in earlier]),
            ("This conversation", last),
            ("From memory", added),
        ]
        return "\n\n".join([HEAD, *("\n".join([f"## {title}", *lines]) for title, lines in parts if lines)])

    # -- inside --------------------------------------------------------------------------------------------------

    def _where(self) -> Filter:
        user = self._scoped.scope.user
        states = ("active", "stale")
        users = None if user is None else (user,)
        return Filter(kinds=("message",), sessions=(self.id,), states=states, users=users)

    async def _latest(self, where: Filter, limit: int | None) -> list[Memory]:
        """The last messages of the conversation, the latest first.

        A scope without a user sees what every user said; their conversations of the same name are not this one.
        """
        user = self._scoped.scope.user
        found: list[Memory] = []
        cursor: str | None = None
        while limit is None or len(found) < limit:
            size = _READ_AT_ONCE if limit is None or user is None else min(_READ_AT_ONCE, limit - len(found))
            page = await self._scoped.store.scan(self._scoped.scope, where, descending=True, limit=size, cursor=cursor)
            found += [one for one in page.items if one.user == user]
            cursor = page.cursor
            if cursor is None:
                break
        return found[:limit]

    async def _brought(self, said: Sequence[Memory], task: str | None) -> list[Hit]:
        """What memory has to say to the last turn that the conversation's own window does not say."""
        asked = task or next((m.content for m in reversed(said) if m.source.role == "user"), said[-1].content)
        hits = await self._active(asked, [_as_message(m) for m in said], n=_RECALLED)
        shown = {m.id for m in said}
        return [hit for hit in hits if hit.memory.id not in shown]

    async def _stored(self) -> Memory | None:
        found = await self._scoped.store.by_key(self._scoped.scope, self._key)
        return found if found is not None and found.user == self._scoped.scope.user else None

    async def _rolled(self) -> _Rolled:
        """The summary, brought up to what has left the window, and stored if that changed it."""

        async def roll() -> _Rolled:
            rolled = await self._read()
            left = (await self._untold(rolled.body))[: -self._window]
            if not left or (rolled.text and len(left) < self._window // 2):
                return rolled
            made = await self._advanced(rolled, left)
            await self._scoped.rewrite(self._writes(made, left), "what left the window, in short")
            return made

        return await retry_on_conflict(roll)

    async def _read(self) -> _Rolled:
        """The summary as it is stored; one that quotes something changed or forgotten begins anew."""
        record = await self._stored()
        if record is None:
            return _Rolled("", _Body(session=self.id), None)
        body = validated(_Body, record.body)
        ids = list(dict.fromkeys(quote.id for quote in body.quotes))
        there = {m.id: m.version for m in await self._scoped.store.get_all(self._scoped.scope, ids)}
        sound = all(there.get(quote.id) == quote.version for quote in body.quotes)
        return _Rolled(record.content, body, record) if sound else _Rolled("", _Body(session=self.id), record)

    async def _untold(self, body: _Body) -> list[Memory]:
        """The messages that the summary does not tell of, the earliest first; of a very long past the latest."""
        where = self._where().model_copy(update={"recorded_since": body.until_at})
        found = await self._latest(where, _UNTOLD)
        ids = [one.id for one in found]
        if body.until in ids:
            found = found[: ids.index(body.until)]
        elif body.until_at is not None:
            found = [one for one in found if one.recorded_at > body.until_at]
        return found[::-1]

    async def _advanced(self, rolled: _Rolled, said: Sequence[Memory]) -> _Rolled:
        """The summary with these messages in it."""
        parts = _parts(rolled, said)
        lines, by = await self._retold(parts), "model"
        if not lines:
            lines, by = _chosen(parts), "rules"
        last = said[-1]
        body = _Body(
            session=self.id,
            told=rolled.body.told + len(said),
            until=last.id,
            until_at=last.recorded_at,
            quotes=tuple(quote for _, quote in lines),
            by=by,
        )
        return _Rolled("\n".join(" ".join(text.split()) for text, _ in lines), body, rolled.record)

    async def _retold(self, parts: Sequence[_Part]) -> list[tuple[str, _Quote]]:
        """The summary in a model's words, each sentence with what it rests on; none without a model or if it fails."""
        try:
            teller = None if self._teller is None else await self._teller()
            if teller is None:
                return []
            asked = [Text(number=n, speaker=p.who or None, date=p.date, content=p.text) for n, p in enumerate(parts)]
            told = await teller.tell(asked)
        except ModelError as error:
            _log.warning("The model made no summary of a conversation, so it is made by rules: %s", error.message)
            return []
        kept, _ = supported(told.points, [part.text for part in parts])
        return [(statement, parts[number].quote) for statement, number in kept]

    def _writes(self, made: _Rolled, said: Sequence[Memory]) -> list[Write]:
        """What stores the summary. It is linked to what it was made from, so that erasing that erases it."""
        body = made.body.model_dump(mode="json")
        if made.record is not None:
            id = made.record.id
            writes: list[Write] = [Update(id, {"content": made.text, "body": body}, made.record.version)]
        else:
            source = Source(role="system", name="conversation")
            record = self._scoped.new(
                SUMMARY, made.text, body=body, key=self._key, source=source, metadata={"session": self.id}
            )
            id = record.id
            writes = [Put(record, existing="fail")]
        read = (m.id for m in said) if made.body.by == "model" else ()  # its words may tell of all that it read
        linked = dict.fromkeys([*(quote.id for quote in made.body.quotes), *read])
        return writes + [AddLink(Link(source=id, relation="derived_from", target=one)) for one in linked]


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()[:32]


def _message(message: str | Message | Mapping[str, Any], role: Role | None) -> Message:
    if isinstance(message, str):
        return validated(Message, {"role": role or "user", "content": message})
    if isinstance(message, Message):
        return message if role is None else message.model_copy(update={"role": role})
    return validated(Message, {**message, **({"role": role} if role else {})})


def _as_message(memory: Memory) -> Message:
    return Message(
        role=memory.source.role, content=memory.content, name=memory.source.name, occurred_at=memory.occurred_at
    )


def _parts(rolled: _Rolled, said: Sequence[Memory]) -> list[_Part]:
    """What a new summary is made of: the lines of the one before, and the messages that follow."""
    before = zip(rolled.text.splitlines(), rolled.body.quotes, strict=True)
    return [
        *(_Part("", "", text, quote) for text, quote in before),
        *(
            _Part(
                m.source.name or m.source.role,
                f"{m.occurred_at:%Y-%m-%d}",
                m.content,
                _Quote(id=m.id, version=m.version),
            )
            for m in said
        ),
    ]


def _chosen(parts: Sequence[_Part]) -> list[tuple[str, _Quote]]:
    """The sentences that tell most, in their order, each with where it is from."""
    chosen = [(parts[one.source], one.text) for one in telling([part.text for part in parts], most=_SENTENCES)]
    if not chosen:
        chosen = [(parts[-1], " ".join(parts[-1].text.split())[:500])]
    return [(f"{part.who}: {text}" if part.who else text, part.quote) for part, text in chosen]


def _cut(lines: Sequence[str], tokens: float) -> list[str]:
    """As many lines from the first on as fit."""
    kept: list[str] = []
    for one in lines:
        tokens -= estimate(one) + 1
        if tokens < 0:
            break
        kept.append(one)
    return kept


def _fitting(
    said: Sequence[Memory], tokens: int, cost: Callable[[Memory], int] = lambda m: estimate(m.content) + 4
) -> list[Memory]:
    """As many messages from the last on as fit, but always the last one."""
    kept: list[Memory] = []
    for one in reversed(said):
        tokens -= cost(one)
        if tokens < 0 and kept:
            break
        kept.append(one)
    return kept[::-1]
