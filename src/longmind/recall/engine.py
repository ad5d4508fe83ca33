"""Recall: from a question to ranked memories, each with its reason.

The steps: parse the question, let the policies make a plan, score the rows of the view (arms), fuse the scores, fetch
the best memories and rank them by what only the records show (replacements, links), rerank if there is a reranker, and
count the reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longmind.clock import Clock
from longmind.errors import InvalidInput
from longmind.kinds import SAID
from longmind.recall import anchors, arms, budget, fusion, knowledge, policy
from longmind.recall.allowed import allowed_now
from longmind.recall.beside import BESIDE, recent_texts, repeating, said_beside, weighted_terms, without_recent
from longmind.recall.filters import NOT_NARROWED, filter_of
from longmind.recall.hops import follow_hops
from longmind.recall.instructions import fitting_instructions
from longmind.recall.query import Query, parse_query
from longmind.recall.ranking import Ranking
from longmind.recall.read_ahead import ReadAhead
from longmind.recall.rerank import ContextReranker, KeepsTexts, ReadsAhead, Reranker
from longmind.recall.shared_knowledge import APPROVED, SharedTenants, with_shared
from longmind.recall.standing import standing_memories
from longmind.recall.touches import Touches
from longmind.store.search.ranking import count_terms, searched_terms
from longmind.store.search.view import View
from longmind.store.store import Store
from longmind.types import SHARED_AGENT, ContextLine, Filter, Hit, Memory, Message, Scope

if TYPE_CHECKING:
    from longmind.models.embed import Embedder

SharedLimit = Callable[[], Awaitable[int]]
"""Returns how many entries of shared memory a recall may add."""
MAX_K = 1_000
MAX_QUERY = 100_000
"""Characters of a question with the messages that are read beside it."""
EMBEDDED = 2_000
"""Characters of a question that are embedded; an embedder's window is full long before."""
_ARCHIVED_KINDS = frozenset({*SAID, "fact"})
"""Kinds that are looked for in the archive if they are asked for by name."""
ANSWERED, LIKELY = 0.3, 0.15
"""The archive is asked if the best hit is less likely right than the first; a hit there must reach the second."""
LONG = 5_000
"""Characters from which a question is analysed in a thread."""
MAX_HITS = 300
TOKENS_OF_A_HIT = 10
"""A context asks for one hit for so many tokens, more than fit, since not all are used."""


class ContextParts(NamedTuple):
    """The memories that a context is made of."""

    standing: list[Memory]
    hits: list[Hit]
    count_reads: Callable[[Iterable[Memory]], None]
    """Counts memories as read. Call it with the hits that are shown: what falls out of the budget was not used."""


class Recaller:
    """Finds what a scope knows about a question."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        clock: Clock,
        *,
        reranker: Reranker | ContextReranker | None = None,
        read_ahead: int = 0,
    ) -> None:
        """Use a store. ``read_ahead`` is how many messages of a scope a reranker that can do so reads ahead."""
        self.store = store
        self.embedder = embedder
        self.clock = clock
        self.reranker = reranker
        self._policies: list[policy.RecallPolicy] = list(policy.BUILT_IN)
        self._touches = Touches(store)
        self._shared = SharedTenants(store, clock)
        ahead: object = reranker
        self._ahead = ReadAhead(store, ahead, read_ahead) if read_ahead and isinstance(ahead, ReadsAhead) else None
        self._embedded: tuple[Embedder, list[str], NDArray[np.float32]] | None = None
        """The question that was embedded last: shared memory is asked the same one."""
        self.counts_reads = True
        """Whether what is recalled is counted as read, which makes it warmer for later questions."""
        self.watch: Callable[[str], None] = _unwatched
        """Called with the name of each stage as it ends; for measuring."""

    def register(self, chosen: policy.RecallPolicy) -> None:
        """Let a policy take part in choosing systems, arms and weights."""
        self._policies.append(policy.checked_policy(chosen))

    async def recall(
        self,
        scope: Scope,
        query: str,
        *,
        k: int = 10,
        kinds: Sequence[str] | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        session: str | None = None,
        conversation: Sequence[Message] = (),
        min_score: float = 0.0,
        explain: bool = False,
        shared: SharedLimit | None = None,
        instructions: bool = False,
    ) -> list[Hit]:
        """Return the memories that fit a question best, the best first.

        With a ``conversation`` its last messages are read beside the question, and what they say is left out.
        ``as_of`` answers as the world was at that moment: facts that were valid then, and what had happened by then.
        ``known_at`` answers as the agent knew at that moment: only what had been recorded by then. They combine.
        ``explain`` adds to each hit the score of every arm. ``shared`` returns how many entries of the tenant's shared
        memory may be added; it is called only if there are any, and only for a question without restrictions. With
        ``instructions`` a few standing instructions follow the ``k`` hits of such a question.
        """
        recent = recent_texts(conversation)
        _check(query, k, min_score)
        parsed = parse_query(query, self.clock.now())
        plan = policy.make_plan(parsed, self._policies)
        narrowed = filter_of(
            where,
            kinds=kinds if kinds is not None else plan.kinds,
            since=since,
            until=until,
            session=session,
            valid_at=as_of,
            recorded_until=known_at,
        )
        self.watch("plan")
        most = min(k + len(recent), MAX_K)
        beside = said_beside(query, recent)[:MAX_QUERY]
        hits = await self._answer(
            scope, parsed, plan, narrowed, most, min_score=min_score, full=explain, beside=beside, recent=recent
        )
        if shared is not None and narrowed is NOT_NARROWED:
            hits = await self._with_shared(
                scope, parsed, plan, hits, shared, min_score=min_score, full=explain, beside=beside
            )
        hits = without_recent(hits, recent)[:k]
        self._count_reads(scope, (hit.memory for hit in hits))
        if instructions and narrowed is NOT_NARROWED and not min_score:
            hits += without_recent(await self._instructions(scope, parsed, beside, hits), recent)
        return hits

    async def context(
        self,
        scope: Scope,
        task: str,
        *,
        tokens: int = 1500,
        conversation: Sequence[Message] = (),
        shared: SharedLimit | None = None,
    ) -> str:
        """Return the memories that matter for a task as text, within a budget of tokens, quoted as data.

        With a ``conversation`` its last messages are read beside the task, and what they say is left out.
        """
        if tokens < 1:
            raise InvalidInput(f"tokens must be at least 1, not {tokens}.")
        parts = await self.context_parts(scope, task, tokens=tokens, conversation=conversation, shared=shared)
        text, shown = budget.render_hits(parts.standing, parts.hits, tokens)
        parts.count_reads(shown)
        return text

    async def context_lines(
        self,
        scope: Scope,
        task: str,
        *,
        tokens: int,
        conversation: Sequence[Message] = (),
        shared: SharedLimit | None = None,
    ) -> list[ContextLine]:
        """Return the lines that ``context`` renders, each with its memory and why it is there."""
        if tokens < 1:
            raise InvalidInput(f"tokens must be at least 1, not {tokens}.")
        parts = await self.context_parts(scope, task, tokens=tokens, conversation=conversation, shared=shared)
        lines = budget.explained_lines(parts.standing, parts.hits, tokens)
        shown = {line.memory_id for line in lines if not line.standing}
        parts.count_reads(hit.memory for hit in parts.hits if hit.memory.id in shown)
        return lines

    async def context_parts(
        self,
        scope: Scope,
        task: str,
        *,
        tokens: int,
        conversation: Sequence[Message] = (),
        left_out: Collection[str] = (),
        shared: SharedLimit | None = None,
    ) -> ContextParts:
        """Return the memories a context is made of: those that stand in every one, and what fits the task.

        Left out are the task itself, the last messages of the ``conversation``, and the ids in ``left_out``.
        """
        recent = recent_texts(conversation)
        most = max(10, min(MAX_HITS, tokens // TOKENS_OF_A_HIT))
        standing = await standing_memories(self.store, scope, left_out=left_out)
        count_reads = partial(self._count_reads, scope)
        if not task.strip():
            return ContextParts(standing, [], count_reads)
        _check(task, 1, 0.0)
        parsed = parse_query(task, self.clock.now())
        plan = policy.make_plan(parsed, self._policies)
        beside, k = said_beside(task, recent)[:MAX_QUERY], most + len(recent) + len(left_out)
        where = filter_of(None, kinds=plan.kinds)
        hits = await self._answer(
            scope, parsed, plan, where, k, folds=False, absolute=True, beside=beside, recent=[*recent, task]
        )
        if shared is not None:
            hits = await self._with_shared(scope, parsed, plan, hits, shared, absolute=True, beside=beside)
        fitting = [hit for hit in without_recent(hits, [*recent, task]) if hit.memory.id not in left_out]
        informative = await knowledge.without_empty_replies(self.store, scope, fitting)
        ordered = knowledge.statements_first(informative, asks_assistant=parsed.asks_assistant)
        return ContextParts(standing, ordered, count_reads)

    @property
    def context_reranker(self) -> ContextReranker | None:
        """The reranker, if it reads what was said around a text."""
        return self.reranker if isinstance(self.reranker, ContextReranker) else None

    async def flush(self) -> None:
        """Wait until every read so far is counted."""
        await self._touches.flush()

    async def read_ahead(self, scope: Scope) -> None:
        """Let the reranker read the newest messages of a scope, and wait until it has read all that is queued.

        That happens in the background from the first recall on. Call it before that one, if it can wait.
        """
        if self._ahead is not None:
            self._ahead.begin(scope)
            await self._ahead.finish()

    async def close(self) -> None:
        self._shared.close()
        if self._ahead is not None:
            await self._ahead.close()
        reranker: object = self.reranker
        if isinstance(reranker, KeepsTexts):
            await reranker.close()
        await self.flush()

    async def forget_texts(self) -> None:
        """Let go of what was kept of texts, and wait for those that are being read ahead: something is erased."""
        if self._ahead is not None:
            self._ahead.forget()
        reranker: object = self.reranker
        if isinstance(reranker, KeepsTexts):
            reranker.forget()
        if self._ahead is not None:
            await self._ahead.pause()

    # -- the steps of a recall -----------------------------------------------------------------------------------

    async def _instructions(self, scope: Scope, parsed: Query, beside: str, hits: Sequence[Hit]) -> list[Hit]:
        """Return the standing instructions that fit a question and are not among its hits."""
        view = await self.store.view(scope)
        vector, space = await self._vector(parsed.text, beside)
        terms = searched_terms(view, await _counted(parsed.text))
        left_out = {hit.memory.id for hit in hits}
        return await fitting_instructions(
            self.store, scope, view, terms, vector if space == view.space else None, left_out
        )

    async def _with_shared(
        self,
        scope: Scope,
        parsed: Query,
        plan: policy.RecallPlan,
        own: list[Hit],
        limit: SharedLimit,
        *,
        min_score: float = 0.0,
        full: bool = False,
        absolute: bool = False,
        beside: str = "",
    ) -> list[Hit]:
        """Add what fits of the tenant's shared memory, if anything is shared there."""
        where = await self._shared.scope_of(scope.tenant)
        most = await limit() if where is not None else 0
        if where is None or not most:
            return own
        asked = most + len(own)  # some of it the agent knows itself
        hits = await self._answer(
            where,
            parsed,
            plan,
            APPROVED,
            asked,
            min_score=min_score,
            full=full,
            folds=False,
            absolute=absolute,
            beside=beside,
        )
        return with_shared(own, hits, most, min_score)

    async def _answer(
        self,
        scope: Scope,
        parsed: Query,
        plan: policy.RecallPlan,
        narrowed: Filter,
        k: int,
        *,
        min_score: float = 0.0,
        full: bool = False,
        folds: bool = True,
        absolute: bool = False,
        beside: str = "",
        recent: Sequence[str] = (),
    ) -> list[Hit]:
        """Return the hits of a question that was parsed and planned, without those that repeat ``recent`` messages.

        Words that were said ``beside`` the question weigh less than its own, unless it has none.

        With ``folds``, facts are shown with the memory they were extracted from, unless kinds were asked for by name.
        With ``absolute``, arms count only as far as their best hit fits.
        """
        vector, space = await self._vector(parsed.text, beside)
        asked, said_beside = await _counted(parsed.text), await _counted(beside)
        self.watch("embed")
        ids = await self.store.allowed_ids(scope, narrowed)
        view = await self.store.view(scope)
        if self._ahead is not None:
            self._ahead.begin(scope)
        allowed = allowed_now(view, narrowed, ids, self.clock.now())
        if space != view.space:
            vector = None  # the store has changed its embedder since: vectors of two models cannot be compared
        self.watch("view")
        parsed = await self._dated(scope, parsed, view, allowed)
        if len(allowed) != view.rows:  # it grew meanwhile
            allowed = allowed_now(view, narrowed, ids, self.clock.now())
        terms = weighted_terms(searched_terms(view, asked), searched_terms(view, said_beside))
        arm_scores = arms.score_rows(view, parsed, arms.cut_terms(view, terms), vector, allowed)
        self.watch("arms")
        timeless = narrowed.valid_at is not None or narrowed.recorded_until is not None
        here = allowed[arm_scores.rows]
        now = self.clock.now().timestamp()
        fused = fusion.fuse(view, arm_scores, plan, here, now, demote=not timeless, absolute=absolute)
        self.watch("fuse")
        ranking = Ranking(
            self.store,
            scope,
            parsed,
            plan,
            view,
            arm_scores,
            fused,
            here,
            folds=folds and narrowed.kinds is None,
        )
        await self._rank(ranking, k, allowed, timeless)
        ranking.leave_out(repeating(recent))
        hits = ranking.hits(k, min_score, full)
        self.watch("explain")
        if not timeless and _lacks_answer(hits, narrowed) and view.has_state("archived"):
            archive = narrowed.model_copy(update={"states": ("archived",)})
            least = max(min_score, LIKELY)
            found = await self._answer(
                scope,
                parsed,
                plan,
                archive,
                k,
                min_score=least,
                full=full,
                folds=folds,
                absolute=absolute,
                beside=beside,
                recent=recent,
            )
            return [*(hit for hit in found if not hits or hit.score > hits[0].score), *hits][:k]
        return hits

    def _count_reads(self, scope: Scope, memories: Iterable[Memory]) -> None:
        """Count one read of each of these memories: only of those that are returned or shown, not of all candidates."""
        if not self.counts_reads:
            return
        ids: dict[Scope, list[str]] = {}
        for memory in memories:
            shared = memory.agent == SHARED_AGENT != scope.agent
            owner = Scope(tenant=scope.tenant, agent=SHARED_AGENT) if shared else scope
            ids.setdefault(owner, []).append(memory.id)
        for owner, read in ids.items():
            self._touches.add(owner, read, self.clock.now())

    async def _rank(self, ranking: Ranking, k: int, allowed: NDArray[np.bool_], timeless: bool) -> None:
        reranker = self.reranker
        await ranking.fetch(k, await reranker.depth() if isinstance(reranker, ContextReranker) else 0)
        self.watch("fetch")
        if not timeless:
            ranking.warm(self.clock.now())
        await ranking.follow_links(allowed)
        self.watch("links")
        # before what replaced something is put first, which is known and not a matter of likelihood
        if isinstance(reranker, ContextReranker):
            await ranking.reorder(reranker)
        elif reranker is not None:
            await ranking.rerank(reranker)
        self.watch("rerank")
        if not timeless:
            await follow_hops(ranking, allowed)
            self.watch("hops")
        await ranking.put_replacements_first(allowed, timeless)
        if not timeless:
            await ranking.put_endings_first(allowed, self.clock.now())
            ranking.put_updates_first()
        self.watch("ranking")

    async def _vector(self, query: str, beside: str) -> tuple[NDArray[np.float32] | None, str | None]:
        """Embed the question, with what was said beside it; return the vector and the name of its space."""
        texts, embedder = (
            [text for text in (query[:EMBEDDED].strip(), beside[:EMBEDDED].strip()) if text],
            self.embedder,
        )
        if embedder is None or not texts:
            return None, None
        if self._embedded is None or self._embedded[0] is not embedder or self._embedded[1] != texts:
            vectors: NDArray[np.float32] = np.asarray(await embedder.embed(texts), np.float32)
            vector = vectors[0] if len(texts) == 1 else _unit(vectors[0] + np.float32(BESIDE) * vectors[1])
            self._embedded = embedder, texts, vector
        return self._embedded[2], embedder.name

    async def _dated(self, scope: Scope, parsed: Query, view: View, allowed: NDArray[np.bool_]) -> Query:
        """Add the time of the event that a question without a date names, if a memory tells of that event."""
        if parsed.span is not None or parsed.anchor is None:
            return parsed
        id = anchors.find_telling_memory(view, parsed.anchor, allowed)
        memory = await self.store.get(scope, id) if id is not None else None
        return parsed if memory is None else replace(parsed, span=anchors.span_around(parsed.anchor, memory))


def _lacks_answer(hits: Sequence[Hit], narrowed: Filter) -> bool:
    """Whether no active memory is likely to answer, so that the archive is asked too.

    Not if states were asked for, nor for kinds that a memory system keeps: what it archived is not in use.
    """
    if "states" in narrowed.model_fields_set or not _ARCHIVED_KINDS.issuperset(narrowed.kinds or ()):
        return False
    return not hits or hits[0].score < ANSWERED


async def _counted(text: str) -> dict[int, float]:
    """Return the terms of a text with their counts; those of a long text are found in a thread."""
    return await asyncio.to_thread(count_terms, text) if len(text) > LONG else count_terms(text)


def _unwatched(stage: str) -> None:
    """The default watcher: ignore the stage."""


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    norm = np.linalg.norm(vector)
    scaled: NDArray[np.float32] = vector / norm if norm > 0 else vector
    return scaled


def _check(query: str, k: int, min_score: float) -> None:
    if not isinstance(query, str):
        raise InvalidInput(f"The question must be text, not {type(query).__name__}.")
    if len(query) > MAX_QUERY:
        raise InvalidInput(
            f"The question has {len(query):,} characters; at most {MAX_QUERY:,} are read.",
            hint="Ask something shorter.",
        )
    if not 1 <= k <= MAX_K:
        raise InvalidInput(f"k must be from 1 to {MAX_K}, not {k}.")
    if not 0 <= min_score <= 1:
        raise InvalidInput(f"min_score must be from 0 to 1, not {min_score}.")
