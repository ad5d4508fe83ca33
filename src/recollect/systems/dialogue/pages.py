"""Pages in hand: a record, its body, and the texts that its turns have or point to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from recollect.errors import InvalidInput, NotFound
from recollect.store.base import Put, Update, Write
from recollect.systems.dialogue import words
from recollect.systems.dialogue.models import PAGE, Page, PageBody, PageDraft, Turn
from recollect.systems.ownership import marks
from recollect.systems.room import Room
from recollect.types import TRUST, Link, Memory, Source


class Said:
    """The turns of a page with their texts, and what they say; worked out once."""

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self.turns = turns

    @cached_property
    def text(self) -> str:
        return "\n".join(turn.text for turn in self.turns if turn.text)

    @cached_property
    def weights(self) -> dict[str, float]:
        """What the page is about; whom the speakers call by name is no topic."""
        called = {term for turn in self.turns if turn.name for term in words.weights(turn.name)}
        return {term: weight for term, weight in words.weights(self.text).items() if term not in called}

    @cached_property
    def lines(self) -> list[str]:
        return [line for turn in self.turns for line in words.lines(turn.who, turn.text)]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page, stored already or about to be. A turn whose message was forgotten has no text."""

    record: Memory
    body: PageBody
    said: Said
    stored: bool

    @property
    def id(self) -> str:
        return self.record.id

    def chained(self, chain: str) -> Leaf:
        """The page as one of a chain."""
        return replace(self, body=self.body.model_copy(update={"chain": chain}))

    def written(self) -> Write:
        """The write that stores the page as it is now."""
        body = self.body.model_dump(mode="json")
        if self.stored:
            return Update(self.id, {"body": body}, expected_version=self.record.version)
        return Put(self.record.model_copy(update={"body": body}), existing="fail")

    def placed(self, segment: str, number: int) -> Leaf:
        """The page as one of a segment."""
        return replace(self, body=self.body.model_copy(update={"segment": segment, "number": number}))

    def told(self) -> Page:
        return Page(
            id=self.record.id,
            turns=self.said.turns,
            session=self.record.session,
            at=self.record.occurred_at,
            importance=self.record.importance,
            chain=self.body.chain,
            segment=self.body.segment,
            state=self.record.state,
        )


def page_key(draft: PageDraft) -> str | None:
    """What makes two drafts the same page; None for one that nothing tells from another."""
    if draft.messages:
        return f"page:{draft.messages[0]}"
    return None if draft.key is None else f"page:{draft.key}"


async def leaves(room: Room, records: Sequence[Memory]) -> list[Leaf]:
    """Stored pages with their texts, read in one go."""
    bodies = [PageBody.read(record) for record in records]
    texts = await texts_of(room, [turn.memory for body in bodies for turn in body.turns if turn.memory])
    return [
        Leaf(record, body, Said(tuple(_resolved(turn, texts) for turn in body.turns)), stored=True)
        for record, body in zip(records, bodies, strict=True)
    ]


async def texts_of(room: Room, ids: Sequence[str]) -> dict[str, Memory]:
    return {m.id: m for m in await room.store.get_many(room.scope, list(dict.fromkeys(ids)))} if ids else {}


def _resolved(turn: Turn, messages: Mapping[str, Memory]) -> Turn:
    if turn.memory is None:
        return turn
    message = messages.get(turn.memory)
    return turn if message is None else turn.model_copy(update={"text": message.content})


def new_leaf(room: Room, draft: PageDraft, messages: Mapping[str, Memory]) -> Leaf:
    """A page that is not stored yet and in no chain but its own. Its messages must be there, and be this user's."""
    said = [_message(room, id, messages) for id in draft.messages]
    turns = _turns(draft) if not said else tuple(_pointer(message) for message in said)
    lasting = [message.importance for message in said]
    speaker = turns[0]
    record = room.new(
        PAGE,
        "\n".join(turn.text for turn in turns if turn.memory is None and turn.text),
        key=page_key(draft),
        session=draft.session or next((m.session for m in said if m.session), None),
        importance=draft.importance if draft.importance is not None else max(lasting, default=0.5),
        metadata=marks(room.scope),
        source=Source(role=speaker.role, name=speaker.name),
        trust=min([m.trust for m in said] or [TRUST[speaker.role]]),
        occurred_at=draft.occurred_at or min((m.occurred_at for m in said), default=room.now()),
    )
    body = PageBody(turns=turns, chain=record.id)
    return Leaf(record, body, Said(tuple(_resolved(turn, messages) for turn in turns)), stored=False)


async def check_free(room: Room, messages: Sequence[str]) -> None:
    """``InvalidInput`` if one of these messages is in a page already, or is named twice."""
    if not messages:
        return
    links = await room.store.links(room.scope, messages, relation="derived_from", direction="in", limit=1_000_000)
    found = await room.store.get_many(room.scope, sorted({link.source for link in links})) if links else []
    paged = {memory.id for memory in found if memory.kind == PAGE}
    taken = sorted(link.target for link in links if link.source in paged)
    taken += sorted(id for id, times in Counter(messages).items() if times > 1)
    if taken:
        raise InvalidInput(
            f"The message {taken[0]} is in a page already.", hint="Give each message to one page.", ids=taken
        )


def _message(room: Room, id: str, messages: Mapping[str, Memory]) -> Memory:
    message = messages.get(id)
    if message is None or message.kind != "message":
        raise NotFound(f"There is no message {id} here.", hint="Remember the messages first.", id=id)
    if message.user != room.scope.user:
        raise InvalidInput(
            f"The message {id} was said with another user, or with none.",
            hint="Use the dialogue of the user it was remembered with.",
            id=id,
        )
    return message


def _turns(draft: PageDraft) -> tuple[Turn, ...]:
    said = (("user", draft.user), ("assistant", draft.reply))
    return tuple(Turn.model_validate({"role": role, "text": text}) for role, text in said if text and text.strip())


def _pointer(message: Memory) -> Turn:
    return Turn(role=message.source.role, name=message.source.name, memory=message.id)


def sources(leaf: Leaf) -> list[Link]:
    """Links to the messages a page was made of, so that erasing one erases the page."""
    told = (turn.memory for turn in leaf.body.turns)
    return [Link(source=leaf.id, relation="derived_from", target=id) for id in told if id is not None]
