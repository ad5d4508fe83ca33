"""From a question and recalled memories to an answer with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from longmind.answering.asked_about import asked_about, asks_for_former, asks_for_now
from longmind.answering.candidates import find_candidates
from longmind.answering.contrast import CONTRASTED, Contrasts, about_another, read_contrast
from longmind.answering.ended import Places, ended_places, states_ended
from longmind.answering.facts import NOTHING_ENDED, Ended, KnownFacts, former_facts, known_facts, what_has_ended
from longmind.answering.model_writer import write_answer
from longmind.answering.passages import USER, Passage, is_evidence, passages_of
from longmind.answering.people import of_person
from longmind.answering.reading import Draft, draft_answer
from longmind.answering.sentences import SentenceReader
from longmind.models.chat import Chat
from longmind.models.span_reader import SpanReader
from longmind.recall.in_context import texts_in_context
from longmind.recall.rerank import ContextReranker
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import ENDED_BY, SemanticMemory
from longmind.text.questions import read_question
from longmind.types import NOT_KNOWN, Answer, AnswerMethod, Citation, Hit, Link, Memory

MOST_READ, MOST_LISTED = 5, 10
"""The most memories that the reader reads for one question, and for one that asks for several things."""


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers questions from what was recalled: by a language model, or from facts and by the reader of spans."""

    scoped: ScopedStore
    semantic: SemanticMemory
    reader: SpanReader
    reranker: ContextReranker | None = None
    """What compares the question with the same one about somebody else, for the confidence."""

    async def write(self, chat: Chat, question: str, hits: Sequence[Hit], min_confidence: float) -> Answer:
        """Return the answer of a language model, with the sentences for which it quotes evidence."""
        memories = [hit.memory for hit in hits]
        if not memories:
            return _not_known(question, "none", 0.0)
        written = await write_answer(chat, question, memories, self.scoped.now())
        if not written.text or written.confidence < min_confidence:
            return _not_known(question, "model", written.confidence)
        return Answer(
            question=question,
            text=written.text,
            known=True,
            confidence=written.confidence,
            method="model",
            evidence=written.evidence,
        )

    async def extract(self, question: str, hits: Sequence[Hit], min_confidence: float) -> Answer:
        """Return the answer that stands in facts or in the words of memories."""
        form = read_question(question)
        asker = self.scoped.scope.user or USER
        subjects = await asked_about(self.semantic, question, form, asker)
        if asks_for_former(question):
            former = await former_facts(self.semantic, question, subjects)
            if former is not None:
                return await self._from_facts(question, former, min_confidence)
            subjects = []
        facts = await known_facts(self.semantic, question, form, subjects)
        learnt = None if facts is None else await self._learnt(facts)
        if facts is not None and learnt is not None and not any(hit.memory.recorded_at > learnt for hit in hits):
            return await self._from_facts(question, facts, min_confidence)  # nothing newer: no need to read
        ended = await what_has_ended(self.semantic, question, subjects) if facts is None else NOTHING_ENDED
        hits = [hit for hit in hits if hit.memory.id not in ended.memories]
        draft = await self.draft(question, hits, ended)
        if facts is not None and learnt is not None and not _is_newer(draft, learnt, min_confidence):
            return await self._from_facts(question, facts, min_confidence)
        method: AnswerMethod = "sentence" if isinstance(self.reader, SentenceReader) else "reader"
        if draft is None:
            return _not_known(question, "none", 0.0)
        if draft.confidence < min_confidence:
            return _not_known(question, method, draft.confidence)
        return Answer(
            question=question,
            text=draft.text,
            known=True,
            confidence=draft.confidence,
            method=method,
            evidence=tuple(
                _citation(candidate.source.memory, candidate.start, candidate.end, item)
                for item, candidate in draft.items
            ),
        )

    async def draft(self, question: str, hits: Sequence[Hit], ended: Ended = NOTHING_ENDED) -> Draft | None:
        """Return what the words of memories answer, with its confidence; None if there are no words at all.

        Turns that state what has ended are not read beside others, and words that do answer nothing.
        """
        form = read_question(question)
        kept = [hit for hit in hits if hit.memory.kind != "concept" and is_evidence(hit.memory)]
        kept = kept[: MOST_LISTED if form.kind == "list" else MOST_READ]
        passages = await passages_of(self.scoped.store, self.scoped.scope, kept, ended.memories)
        asker = (self.scoped.scope.user or USER).capitalize()
        asked = of_person(question, asker) if form.of_asker else question
        readings = await self.reader.read(asked, [passage.read for passage in passages])
        over: Places = {}
        if asks_for_now(question, form):
            read = {text.memory.id: text.memory for passage in passages for text in passage.texts}
            over = await ended_places(self.scoped.store, self.scoped.scope, read, self.scoped.now())
        contrasts = await self._contrasts(asked, about_another(asked, form, passages, asker), passages)
        candidates = [
            candidate
            for candidate in find_candidates(question, form, passages, readings, asker)
            if not ended.is_meant(candidate.words) and not states_ended(candidate, over)
        ]
        return draft_answer(question, form, candidates, contrasts)

    async def _contrasts(self, question: str, other: str | None, passages: Sequence[Passage]) -> Contrasts | None:
        """Compare the memories with a question about somebody else; None if there is none, or no reranker."""
        if other is None or self.reranker is None:
            return None
        memories = {memory.id: memory for passage in passages for memory in (text.memory for text in passage.texts)}
        ids = [passage.texts[passage.main].memory.id for passage in passages[:CONTRASTED]]
        store, scope = self.scoped.store, self.scoped.scope
        texts = await texts_in_context(store, scope, await store.view(scope), ids, memories)
        return await read_contrast(self.reranker, question, other, [texts[id] for id in ids])

    async def _learnt(self, known: KnownFacts) -> datetime:
        """Return when the newest of some facts was learnt, or that it has ended."""
        endings = [link.target for link in await self._endings(known)]
        memories = await self.scoped.store.get_all(self.scoped.scope, endings) if endings else []
        return max((known.learnt, *(memory.recorded_at for memory in memories)))

    async def _endings(self, known: KnownFacts) -> list[Link]:
        """Return the links from the facts that have ended to what says so."""
        now = self.scoped.now()
        over = [fact.id for fact in known.facts if fact.valid_to is not None and fact.valid_to <= now]
        return await self.scoped.store.all_links(self.scoped.scope, over, relation=ENDED_BY) if over else []

    async def _from_facts(self, question: str, known: KnownFacts, min_confidence: float) -> Answer:
        """Return what facts say, with the words they were drawn from; the fact itself where these are gone."""
        if known.confidence < min_confidence:
            return _not_known(question, "fact", known.confidence)
        store, scope = self.scoped.store, self.scoped.scope
        endings = await self._endings(known)
        wanted = {id for fact in known.facts for id in (fact.id, *(each.memory for each in fact.evidence))}
        wanted |= {link.target for link in endings}
        memories = {memory.id: memory for memory in await store.get_all(scope, sorted(wanted))}
        evidence = []
        for link in endings:
            if link.target in memories:
                memory = memories[link.target]
                evidence.append(_citation(memory, 0, len(memory.content), known.text))
        for fact in known.facts if not evidence else ():
            sources = [each for each in fact.evidence if each.memory in memories]
            for each in sources:
                memory = memories[each.memory]
                start, end = each.span or (0, len(memory.content))
                evidence.append(_citation(memory, start, end, str(fact.object)))
            if not sources and fact.id in memories:
                memory = memories[fact.id]
                evidence.append(_citation(memory, 0, len(memory.content), str(fact.object)))
        return Answer(
            question=question,
            text=known.text,
            known=True,
            confidence=known.confidence,
            method="fact",
            evidence=tuple(evidence),
        )


def _is_newer(draft: Draft | None, learnt: datetime, min_confidence: float) -> bool:
    """Return whether words that answer the question were said after the facts were learnt."""
    if draft is None or draft.confidence < min_confidence or not draft.items:
        return False
    return min(candidate.source.memory.recorded_at for _, candidate in draft.items) > learnt


def _citation(memory: Memory, start: int, end: int, supports: str) -> Citation:
    return Citation(memory=memory, start=start, end=end, quote=memory.content[start:end], supports=supports)


def _not_known(question: str, method: AnswerMethod, confidence: float) -> Answer:
    return Answer(question=question, text=NOT_KNOWN, known=False, confidence=confidence, method=method)
