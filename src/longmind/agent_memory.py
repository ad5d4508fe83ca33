"""``AgentMemory``: what one agent knows: the six verbs, and the operations on single memories."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, overload

from pydantic import BaseModel

from longmind import telemetry
from longmind.agent_systems import AgentSystems
from longmind.arguments import checked_arguments
from longmind.config import AgentSettings
from longmind.errors import InvalidInput
from longmind.forgetting import forget_memories, undo_operation
from longmind.pacing import load_module
from longmind.perceive.intake import (
    InputDetails,
    MemoryInput,
    build_keyed_memory,
    build_memories,
    check_metadata,
    expiry_after,
    is_content_key,
)
from longmind.perceive.messages import checked_message
from longmind.perceive.turns import recognise_turns
from longmind.recall.filters import filter_of, narrows
from longmind.remembering import forgotten_since, store_documents, store_keyed, store_turns
from longmind.store.base import Update
from longmind.systems.configuration import configuration, configure
from longmind.types import (
    Answer,
    ConsolidationReport,
    ContextLine,
    Document,
    Filter,
    Forgotten,
    Hit,
    Memory,
    Message,
    Model,
    Source,
    Undone,
)

if TYPE_CHECKING:
    from longmind.consolidate.model import SummaryWriter
    from longmind.conversation import Conversation
    from longmind.model_tools import MemoryTools
    from longmind.models.chat_model import ChatModel
    from longmind.recall.engine import ContextParts

_INLINE = 50
"""How many messages are made into memories on the event loop; more are in a thread."""
_SINGLE_MEMORY = (str, dict, Mapping, Message)
"""Inputs that become one memory. ``dict`` is listed beside ``Mapping`` because that check is faster."""
_SINGLE_INPUT = (*_SINGLE_MEMORY, Model, BaseModel)
_SETTINGS = "agent"
_FORGET_EVERYTHING = (
    "All that is a user's own is forgotten with where={'users': [user], 'states': None}, and erased by \
`Longmind.erase_user(user)`, in every agent; a whole agent is erased by `Longmind.erase_agent(agent)`."
)
Memories = list[Memory]
Hits = list[Hit]
ContextLines = list[ContextLine]


@checked_arguments
class AgentMemory(AgentSystems):
    """What one agent knows, or what it knows with one user.

    Six methods are enough for most programs: ``remember``, ``recall``, ``context``, ``ask``, ``forget`` and
    ``consolidate``.
    """

    # -- over all memory systems ---------------------------------------------------------------------------------

    def conversation(self, id: str, *, window: int = 20) -> Conversation:
        """Return a conversation by its id. The last ``window`` messages are rendered whole, older ones in a summary."""
        from longmind.conversation import Conversation

        return Conversation(self.scoped, id, self._context_parts, window=window, summary_writer=self._summary_writer)

    def tools(self, *names: str, read_only: bool = False) -> MemoryTools:
        """Return tools over this memory for a language model: definitions as OpenAI and Anthropic want them, and calls.

        ``names`` are those of tools or of groups: ``verbs`` (remember, recall, context, forget, undo; by default),
        ``episodes``, ``facts``, ``procedures``, ``goals`` and ``graph``. With ``read_only`` those that change nothing.
        The scope is that of this memory; no argument of a model can change it.
        """
        tools: MemoryTools = import_module("longmind.model_tools.memory_tools").tools_of(
            self, names, read_only=read_only
        )
        return tools

    async def _context_parts(
        self, task: str, tokens: int, *, conversation: Sequence[Message], left_out: Collection[str]
    ) -> ContextParts:
        """Return the memories that a conversation's context adds to its messages."""
        recaller = await self._longmind.recaller()
        return await recaller.context_parts(
            self.scope,
            task,
            tokens=tokens,
            conversation=conversation,
            left_out=left_out,
            shared=self._shared_limit,
        )

    async def _summary_writer(self) -> SummaryWriter | None:
        chat = await self.chat()
        if chat is None:
            return None
        from longmind.consolidate.model import ChatSummaryWriter

        return ChatSummaryWriter(chat)

    # -- the six verbs -------------------------------------------------------------------------------------------

    @overload
    async def remember(  # type: ignore[overload-overlap]  # a str is one text, though it is also an Iterable[str]
        self,
        content: str | Message | Mapping[str, Any],
        *,
        key: str | None = None,
        session: str | None = None,
        occurred_at: datetime | str | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        source: Source | str | None = None,
        operation: str | None = None,
        expires_at: datetime | timedelta | str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Memory: ...

    @overload
    async def remember(  # type: ignore[overload-overlap]  # a Document is a BaseModel too, and has many passages
        self,
        content: Document | Iterable[MemoryInput],
        *,
        session: str | None = None,
        occurred_at: datetime | str | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        source: Source | str | None = None,
        operation: str | None = None,
        expires_at: datetime | timedelta | str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Memories: ...

    @overload
    async def remember(
        self,
        content: BaseModel,
        *,
        key: str | None = None,
        session: str | None = None,
        occurred_at: datetime | str | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        source: Source | str | None = None,
        operation: str | None = None,
        expires_at: datetime | timedelta | str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Memory: ...

    async def remember(
        self,
        content: MemoryInput | Iterable[MemoryInput],
        *,
        key: str | None = None,
        session: str | None = None,
        occurred_at: datetime | str | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        source: Source | str | None = None,
        operation: str | None = None,
        expires_at: datetime | timedelta | str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Memory | Memories:
        """Store a text, a message, a list of messages, or a document, and return what was stored.

        When it returns, it is durable and the next recall finds it. Without a ``session`` the same text is stored once;
        then the memory that was there is returned. With one, every turn is stored, also one that says the same again,
        unless it was delivered before: a message with the same id, or a list that begins with the last turns of the
        conversation. With an ``operation`` id of yours the call can be repeated safely.
        With a ``key`` it replaces what was stored under that key before; then any dict can be stored as a record.
        A document with a URI or title that is known replaces its former version, in one transaction. From
        ``expires_at`` on, a moment or how long from now, it is no longer returned, and consolidation removes it.
        What is blank in a list is left out, and the log says so; a blank text alone is refused.
        ``progress`` is called with the number of memories done and the total, after each batch.
        """
        details = InputDetails(
            session, cast("datetime | None", occurred_at), importance, tags, metadata, source, expires_at=expires_at
        )
        if key is not None:
            if not isinstance(content, _SINGLE_INPUT):
                raise InvalidInput(
                    "A key is for one memory, not for a list.", hint="Remember each with a key of its own."
                )
            memory = build_keyed_memory(content, key, details, self.scope, self._longmind.clock)
            embed = self._longmind.embedding.embed_new()
            return await store_keyed(self.scoped, memory, embed, operation, dated=occurred_at is not None)
        inputs = (
            list(content) if not isinstance(content, _SINGLE_INPUT) and isinstance(content, Iterable) else [content]
        )
        documents = any(isinstance(item, Document) for item in inputs)
        if documents:
            details = details._replace(passage_chars=(await self.configuration()).passage_chars)
        build = partial(build_memories, inputs, details, self.scope, self._longmind.clock)
        built = await asyncio.to_thread(build) if documents or len(inputs) > _INLINE else build()
        single = isinstance(content, _SINGLE_MEMORY) or (
            isinstance(content, BaseModel) and not isinstance(content, Document)
        )
        turns = await recognise_turns(self.store, self.scope, built, listed=not single, metadata=metadata)
        store = store_documents if documents else store_turns
        stored = await store(self.scoped, turns, self._longmind.embedding.embed_new, operation, progress)
        if single and not stored:
            raise forgotten_since(operation)
        return stored[0] if single else stored

    async def recall(
        self,
        query: str,
        k: int | None = None,
        *,
        kinds: Sequence[str] | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        session: str | None = None,
        conversation: Sequence[Message | Mapping[str, Any]] = (),
        min_score: float = 0.0,
        explain: bool = False,
    ) -> Hits:
        """Return the k memories that fit a question best, the best first, each with its reason.

        A hit's score is the chance that it is right; ``min_score`` leaves out what is less likely. ``as_of`` answers
        as the world was at a moment, ``known_at`` as the agent knew at a moment. With a ``conversation`` its last
        messages are read beside the question, and what they say is left out. A question without restrictions is put to
        the tenant's shared memory, too; such hits are ``shared`` and say so. Without ``k``, the agent's ``recall_k``
        hits are followed by up to three standing instructions of the user ("Always ...") that fit such a question and
        are not among the hits; their score is 0 and their reason says so.
        """
        recaller = await self._longmind.recaller()
        with telemetry.span("longmind.recall", {"longmind.agent": self.scope.agent}) as span:
            hits = await recaller.recall(
                self.scope,
                query,
                k=(await self.configuration()).recall_k if k is None else k,
                kinds=kinds,
                where=where,
                since=since,
                until=until,
                as_of=as_of,
                known_at=known_at,
                session=session,
                conversation=_messages(conversation),
                min_score=min_score,
                explain=explain,
                shared=self._shared_limit,
                instructions=k is None,
            )
            span.set("longmind.hits", len(hits))
        return hits

    async def context(
        self,
        task: str,
        tokens: int | None = None,
        *,
        conversation: Sequence[Message | Mapping[str, Any]] = (),
    ) -> str:
        """Render what matters for a task, ready for a prompt, within a budget of tokens.

        First comes what stands in every context: what the user said of health, safety and themselves, standing
        instructions, open goals, and traits. Then what ``recall`` finds for the task. Everything is quoted as data.
        With a ``conversation`` its last messages are read beside the task, and what they say is left out.
        """
        recaller = await self._longmind.recaller()
        budget = (await self.configuration()).context_tokens if tokens is None else tokens
        return await recaller.context(
            self.scope, task, tokens=budget, conversation=_messages(conversation), shared=self._shared_limit
        )

    async def context_lines(
        self,
        task: str,
        tokens: int | None = None,
        *,
        conversation: Sequence[Message | Mapping[str, Any]] = (),
    ) -> ContextLines:
        """Return the lines that ``context`` renders for a task, each with its memory and why it is there."""
        recaller = await self._longmind.recaller()
        budget = (await self.configuration()).context_tokens if tokens is None else tokens
        return await recaller.context_lines(
            self.scope, task, tokens=budget, conversation=_messages(conversation), shared=self._shared_limit
        )

    async def ask(
        self,
        question: str,
        *,
        k: int | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        session: str | None = None,
        as_of: datetime | None = None,
        min_confidence: float | None = None,
        use_model: bool = True,
    ) -> Answer:
        """Answer a question from memory, with the exact words the answer rests on, or say that it is not known.

        With a language model configured the model writes the answer, and every sentence of it quotes a memory. Without
        one, or with ``use_model=False``, the answer is taken from current facts and from the words of the ``k``
        memories that ``recall`` finds; relative dates are resolved. An answer less sure than ``min_confidence``, by
        default the agent's setting ``answer_confidence``, is "not known".
        """
        settings = await self.configuration()
        chat = await self.chat() if use_model else None
        most = settings.recall_k if k is None else k  # only what may answer, without instructions beside it
        hits = await self.recall(question, most, where=where, session=session, as_of=as_of)
        await load_module("longmind.answering")
        from longmind.answering import Answerer

        reader, recaller = await self._longmind.span_reader(), await self._longmind.recaller()
        answerer = Answerer(self.scoped, self.semantic, reader, recaller.context_reranker)
        least = settings.answer_confidence if min_confidence is None else min_confidence
        with telemetry.span("longmind.ask", {"longmind.agent": self.scope.agent}) as span:
            if chat is not None:
                answer = await answerer.write(chat, question, hits, least)
            else:
                answer = await answerer.extract(question, hits, least)
            span.set("longmind.known", answer.known)
        return answer

    async def _shared_limit(self) -> int:
        return (await self.configuration()).recall_shared

    async def forget(
        self,
        which: str | Sequence[str] | None = None,
        *,
        where: Filter | Mapping[str, Any] | None = None,
        erase: bool = False,
        reason: str = "",
    ) -> Forgotten:
        """Remove memories by id, or all that match a filter, and return what was removed.

        What is forgotten is found by no recall, but ``history`` keeps it and ``undo(forgotten.operation)`` brings it
        back. With ``erase`` nothing remains: not in the journal, and not what was derived from it at any time. A filter
        that narrows nothing is refused. All that belongs to a user is erased by ``Longmind.erase_user``.
        """
        if (which is None) == (where is None):
            raise InvalidInput("Say what to forget: ids, or a filter.", hint=_FORGET_EVERYTHING)
        if which is None:
            matching = filter_of(where)
            if "expired" not in matching.model_fields_set:
                matching = matching.model_copy(update={"expired": None})
            if not narrows(matching):
                raise InvalidInput(
                    "The filter is empty, so it would forget everything; nothing was forgotten.",
                    hint=_FORGET_EVERYTHING,
                )
            ids = sorted(await self.store.matching(self.scope, matching))
        else:
            ids = [which] if isinstance(which, str) else list(dict.fromkeys(which))
        if not erase:
            return await forget_memories(self.scoped, ids, erase=False, reason=reason)
        await self._longmind._forget_texts()
        try:
            return await forget_memories(self.scoped, ids, erase=True, reason=reason)
        finally:
            await self._longmind._forget_texts()

    async def consolidate(
        self, *, dry_run: bool = False, progress: Callable[[str, float], None] | None = None
    ) -> ConsolidationReport:
        """Turn experience into knowledge. The report lists what changed; ``undo(report.id)`` reverts it.

        ``progress`` is called after each stage with its name and the share of the run that is done, from 0 to 1. A run
        that meets another writer begins again, and so does the share. With nothing new it is not called.
        """
        await load_module("longmind.consolidate.runs")
        from longmind.consolidate.runs import consolidate

        settings = await self.configuration()
        await self._longmind.count_reads()
        return await consolidate(
            self.store,
            self.scope,
            settings,
            self._longmind.embedding.embed,
            dry_run=dry_run,
            chat=await self.chat(),
            progress=progress,
        )

    # -- the plain ones ------------------------------------------------------------------------------------------

    async def update(
        self, id: str, /, *, expected_version: int | None = None, reason: str = "", **changes: Any
    ) -> Memory:
        """Change fields of a memory. With ``expected_version`` it fails if the memory was changed since it was read."""
        check_metadata(changes)
        if isinstance(expiry := changes.get("expires_at"), timedelta):
            changes = {**changes, "expires_at": expiry_after(expiry, self._longmind.clock.now())}
        stored = await self.store.get(self.scope, id)
        if (
            stored is not None
            and changes.get("content", stored.content) != stored.content
            and is_content_key(stored.key)
        ):
            changes = {"key": None, **changes}  # what was said there first may be said again
        receipt = await self.store.apply(
            self.scope, [Update(id, changes, expected_version)], embed=self._longmind.embedding.embed, reason=reason
        )
        return receipt.memories[0]

    async def undo(self, operation: str) -> Undone:
        """Undo an operation by its id, which is in ``history`` and in reports. Return what that changed."""
        return await undo_operation(self.scoped, operation)

    async def configuration(self) -> AgentSettings:
        """Return this agent's settings: the defaults with the changes made by ``configure``."""
        return await configuration(self.scoped, _SETTINGS, AgentSettings())

    async def configure(self, /, **changes: Any) -> AgentSettings:
        """Change this agent's settings and store them. They hold for all its users."""
        return await configure(self.scoped, _SETTINGS, AgentSettings(), changes)

    async def chat(self) -> ChatModel | None:
        """Return the language model, limited by this agent's budget; None when none is configured."""
        model = self._longmind.chat
        if model is None:
            return None
        from longmind.models.budget import Budget
        from longmind.spending import StoreLedger

        limit = (await self.configuration()).model_tokens_per_day
        return model.with_budget(Budget(limit, StoreLedger(self.scoped), self._longmind.clock))


def _messages(conversation: Sequence[Message | Mapping[str, Any]]) -> Sequence[Message]:
    return [message if isinstance(message, Message) else checked_message(message) for message in conversation]
