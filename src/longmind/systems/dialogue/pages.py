"""Pages with their texts: a record, its body, and the messages that its turns contain or point to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import chain

from longmind.errors import InvalidInput, NotFound
from longmind.store.base import Put, Update, Write
from longmind.systems.dialogue import term_weights
from longmind.systems.dialogue.models import PAGE, DialoguePage, DialogueTurn, PageBody, PageDraft
from longmind.systems.ownership import marks
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.unvalidated import copy_unvalidated, link_unvalidated
from longmind.types import TRUST, Json, Link, Memory, Role, Source, construct_unvalidated

_NEVER = datetime(1, 1, 1, tzinfo=UTC)
_BLANK = Memory(
    id="00000000-0000-7000-8000-000000000000",
    tenant="t",
    agent="a",
    kind=PAGE,
    content="",
    occurred_at=_NEVER,
    recorded_at=_NEVER,
).__dict__
"""The fields of a page that points to its messages and has no text of its own."""


class PageContent:
    """The turns of a page with their texts, and the term weights computed from them on first use."""

    def __init__(self, turns: tuple[DialogueTurn, ...]) -> None:
        self.turns = turns
        self._heaviest: tuple[int, frozenset[str]] | None = None

    @cached_property
    def text(self) -> str:
        return "\n".join(turn.text for turn in self.turns if turn.text)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The term weights of the page, without the names of the speakers."""
        weights = term_weights.weigh_stems(chain.from_iterable(sentence.stems for sentence in self._sentence_words))
        for name in {turn.name for turn in self.turns if turn.name}:
            for term in term_weights.analyse_sentence(name).distinct:
                weights.pop(term, None)
        return weights

    @cached_property
    def forms(self) -> dict[str, str]:
        """The first written form of each stem."""
        forms: dict[str, str] = {}
        for sentence in reversed(self._sentence_words):
            forms.update(zip(reversed(sentence.stems), reversed(sentence.words), strict=True))
        return forms

    @cached_property
    def alone(self) -> dict[str, float]:
        """The term weights as a vector of length 1, without weights for rarity."""
        return term_weights.scale(self.weights, _EVEN)

    def heaviest(self, most: int) -> frozenset[str]:
        """Return this many of the heaviest stems; a page is compared with the one before and the one after it."""
        if self._heaviest is None or self._heaviest[0] != most:
            self._heaviest = (most, frozenset(term_weights.heaviest(self.weights, most)))
        return self._heaviest[1]

    @cached_property
    def lines(self) -> list[str]:
        """The sentences, each with its speaker."""
        return [
            f"{turn.who}: {sentence}"
            for turn, sentences in zip(self.turns, self._sentences, strict=True)
            for sentence in sentences
        ]

    @cached_property
    def _sentences(self) -> list[list[str]]:
        """The sentences of each turn."""
        return [term_weights.split_sentences(turn.text) for turn in self.turns]

    @cached_property
    def _sentence_words(self) -> list[term_weights.SentenceWords]:
        """The words of each sentence; of a very long page only of the beginning."""
        if len(self.text) > term_weights.READ:
            return [term_weights.analyse_sentence(sentence) for sentence in term_weights.split_sentences(self.text)]
        return [term_weights.analyse_sentence(sentence) for sentences in self._sentences for sentence in sentences]


_EVEN = term_weights.Rarity()


@dataclass(frozen=True, slots=True)
class LoadedPage:
    """A page, stored or new. A turn whose message was forgotten has no text."""

    record: Memory
    body: PageBody
    content: PageContent
    stored: bool

    @property
    def id(self) -> str:
        return self.record.id

    def with_chain(self, chain: str) -> LoadedPage:
        """Return the page as a member of a chain."""
        return LoadedPage(self.record, copy_unvalidated(self.body, chain=chain), self.content, self.stored)

    def to_write(self) -> Write:
        """Return the write that stores the page as it is now."""
        body = _plain(self.body)
        if self.stored:
            return Update(self.id, {"body": body}, expected_version=self.record.version)
        return Put(copy_unvalidated(self.record, body=body), existing="fail")

    def with_segment(self, segment: str, number: int) -> LoadedPage:
        """Return the page as a member of a segment."""
        return LoadedPage(
            self.record, copy_unvalidated(self.body, segment=segment, number=number), self.content, self.stored
        )

    def to_page(self) -> DialoguePage:
        return construct_unvalidated(
            DialoguePage,
            {
                "id": self.record.id,
                "turns": self.content.turns,
                "session": self.record.session,
                "at": self.record.occurred_at,
                "importance": self.record.importance,
                "chain": self.body.chain,
                "segment": self.body.segment,
                "state": self.record.state,
            },
        )


def _plain(body: PageBody) -> Json:
    """Return the body of a page as JSON; pages are many, and this is faster than ``model_dump``."""
    turns = [{"role": t.role, "name": t.name, "text": t.text, "memory": t.memory} for t in body.turns]
    return {"turns": turns, "chain": body.chain, "segment": body.segment, "number": body.number}


def page_key(draft: PageDraft) -> str | None:
    """Return a key that is equal for drafts of the same page; None if a draft has neither key nor messages."""
    if draft.messages:
        return f"page:{draft.messages[0]}"
    return None if draft.key is None else f"page:{draft.key}"


async def load_pages(scoped: ScopedStore, records: Sequence[Memory]) -> list[LoadedPage]:
    """Load stored pages with their texts, in one read."""
    bodies = [PageBody.read(record) for record in records]
    texts = await texts_of(scoped, [turn.memory for body in bodies for turn in body.turns if turn.memory])
    return [
        LoadedPage(record, body, PageContent(tuple(_resolved(turn, texts) for turn in body.turns)), stored=True)
        for record, body in zip(records, bodies, strict=True)
    ]


async def texts_of(scoped: ScopedStore, ids: Sequence[str]) -> dict[str, Memory]:
    return {m.id: m for m in await scoped.store.get_all(scoped.scope, list(dict.fromkeys(ids)))} if ids else {}


def _resolved(turn: DialogueTurn, messages: Mapping[str, Memory]) -> DialogueTurn:
    if turn.memory is None:
        return turn
    message = messages.get(turn.memory)
    return turn if message is None else copy_unvalidated(turn, text=message.content)


def new_page(scoped: ScopedStore, draft: PageDraft, messages: Mapping[str, Memory]) -> LoadedPage:
    """Build a new page in a chain of its own. Its messages must exist and belong to this user."""
    if not draft.messages:
        return _page_of_texts(scoped, draft)
    sources = [_message(scoped, id, messages) for id in draft.messages]
    turns = tuple(_pointer(message) for message in sources)
    now = scoped.now()
    record = construct_unvalidated(
        Memory,
        {
            **_BLANK,
            "id": scoped.clock.new_id(),
            "tenant": scoped.scope.tenant,
            "agent": scoped.scope.agent,
            "user": scoped.scope.user,
            "session": draft.session or next((m.session for m in sources if m.session), None),
            "key": page_key(draft),
            "importance": draft.importance if draft.importance is not None else max(m.importance for m in sources),
            "metadata": marks(scoped.scope),
            "source": _speaker(turns[0].role, turns[0].name),
            "trust": min(m.trust for m in sources),
            "occurred_at": draft.occurred_at or min(m.occurred_at for m in sources),
            "recorded_at": now,
        },
    )
    body = _own_chain(turns, record.id)
    resolved = tuple(copy_unvalidated(turn, text=m.content) for turn, m in zip(turns, sources, strict=True))
    return LoadedPage(record, body, PageContent(resolved), stored=False)


def _page_of_texts(scoped: ScopedStore, draft: PageDraft) -> LoadedPage:
    """Build a page that stores its own texts."""
    turns = _turns(draft)
    record = scoped.new(
        PAGE,
        "\n".join(turn.text for turn in turns),
        key=page_key(draft),
        session=draft.session,
        importance=draft.importance if draft.importance is not None else 0.5,
        metadata=marks(scoped.scope),
        source=Source(role=turns[0].role),
        trust=TRUST[turns[0].role],
        occurred_at=draft.occurred_at or scoped.now(),
    )
    return LoadedPage(record, _own_chain(turns, record.id), PageContent(turns), stored=False)


def _own_chain(turns: tuple[DialogueTurn, ...], id: str) -> PageBody:
    return construct_unvalidated(PageBody, {"turns": turns, "chain": id, "segment": None, "number": 0})


@lru_cache(maxsize=1_024)
def _speaker(role: Role, name: str | None) -> Source:
    return Source(role=role, name=name)


async def check_free(scoped: ScopedStore, messages: Sequence[str]) -> None:
    """Raise ``InvalidInput`` if one of these messages is already in a page, or is listed twice."""
    if not messages:
        return
    links = await scoped.store.all_links(scoped.scope, messages, relation="derived_from", direction="in")
    records = await scoped.store.get_all(scoped.scope, sorted({link.source for link in links})) if links else []
    paged = {memory.id for memory in records if memory.kind == PAGE}
    taken = sorted(link.target for link in links if link.source in paged)
    taken += sorted(id for id, times in Counter(messages).items() if times > 1)
    if taken:
        raise InvalidInput(
            f"The message {taken[0]} is in a page already.", hint="Give each message to one page.", ids=taken
        )


def _message(scoped: ScopedStore, id: str, messages: Mapping[str, Memory]) -> Memory:
    message = messages.get(id)
    if message is None or message.kind != "message":
        raise NotFound(f"There is no message {id} here.", hint="Remember the messages first.", id=id)
    if message.user != scoped.scope.user:
        raise InvalidInput(
            f"The message {id} was said with another user, or with none.",
            hint="Use the dialogue of the user it was remembered with.",
            id=id,
        )
    return message


def _turns(draft: PageDraft) -> tuple[DialogueTurn, ...]:
    texts = (("user", draft.user), ("assistant", draft.reply))
    return tuple(
        DialogueTurn.model_validate({"role": role, "text": text}) for role, text in texts if text and text.strip()
    )


def _pointer(message: Memory) -> DialogueTurn:
    source = message.source
    return construct_unvalidated(
        DialogueTurn, {"role": source.role, "name": source.name, "text": "", "memory": message.id}
    )


def sources(loaded: LoadedPage) -> list[Link]:
    """Return the links to the messages of a page, so that erasing one of them erases the page."""
    messages = (turn.memory for turn in loaded.body.turns)
    return [link_unvalidated(loaded.id, "derived_from", id) for id in messages if id is not None]
