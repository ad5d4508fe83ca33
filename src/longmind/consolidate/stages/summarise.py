"""The stage ``summarise``: one summary for each conversation and each document, renewed when it has grown.

A summary that quotes a turn that was deleted since is renewed too, or deleted if too little is left to summarise.

Where there is a language model, it rewrites the summary that rules made in a few plain sentences. Each sentence must
quote a turn; one that does not is dropped and counted. If none is left the sentences that rules chose stay. They also
stay until the model can be asked: the conversation waits as ``unsummarised``.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from longmind.consolidate.edits import deleted_since_last_run
from longmind.consolidate.model import CheckedSummary, ModelCalls, PromptText, UnusableAnswer, supported_points
from longmind.consolidate.rules.extraction import is_source, speaker_of
from longmind.consolidate.rules.key_sentences import KeySentence, key_phrases, key_sentences
from longmind.consolidate.work import Work
from longmind.kinds import SAID
from longmind.store.base import AddLink, Delete, Put, RemoveLink, Update, Write
from longmind.store.reads import all_links
from longmind.systems.unvalidated import link_unvalidated
from longmind.types import Filter, Memory, Source

KIND = "summary"
MIN_TURNS = 4
"""Turns or passages below which a summary would be no shorter than they are."""
_MAX_TURNS = 2_000
"""Turns of one conversation that are read for its summary, the latest."""
_CONVERSATIONS_AT_ONCE = 20
_MAX_CHARS = 8_000
"""Of a longer conversation the model is shown the key sentences only."""
_MAX_SENTENCES = 40
Conversation = tuple[str | None, str]
"""A conversation or document: its user and its session."""


@dataclass(frozen=True, slots=True)
class SummariseStage:
    """The stage."""

    name: str = "summarise"

    async def propose(self, work: Work) -> None:
        await _summarise_by_rules(work)
        if work.model is not None and work.model.summary_writer is not None:
            await _rewrite_by_model(work, work.model)


# -- rules -------------------------------------------------------------------------------------------------------------


async def _summarise_by_rules(work: Work) -> None:
    grown = {(m.user, m.session): None for m in work.sources if m.session and m.kind in SAID}
    conversations: list[Conversation] = [(user, session) for user, session in grown if session is not None]
    deleted = deleted_since_last_run(work)
    conversations += [quoting for quoting in await _quoting(work, deleted) if quoting not in grown]
    await work.draft.know_keys(_key(conversation) for conversation in conversations)
    writes: list[Write] = []
    for start in range(0, len(conversations), _CONVERSATIONS_AT_ONCE):
        part = conversations[start : start + _CONVERSATIONS_AT_ONCE]
        turns = await _load_turns(work, {session for _, session in part})
        said = [[m for m in turns.get(key, [])[-_MAX_TURNS:] if is_source(m)] for key in part]
        chosen = await asyncio.to_thread(_choose, said)
        for conversation, own, extracts in zip(part, said, chosen, strict=True):
            writes += await _summary_writes(work, conversation, own, extracts, deleted)
    await work.apply(writes)


async def _quoting(work: Work, turns: Collection[str]) -> list[Conversation]:
    """Return the conversations whose summaries quote one of these turns."""
    if not turns:
        return []
    summaries = (await work.draft.scan(work.scope, Filter(kinds=(KIND,), states=("active", "stale")))).items
    return [(m.user, m.body["session"]) for m in summaries if _quotes(m, turns)]


def _quotes(summary: Memory, turns: Collection[str]) -> bool:
    return any(id in turns for id in summary.body.get("quoted", ()))


def _choose(conversations: Sequence[Sequence[Memory]]) -> list[tuple[list[KeySentence], list[str]]]:
    """Return the key sentences and the key phrases of each conversation; none of one that is too short."""
    chosen: list[tuple[list[KeySentence], list[str]]] = []
    for said in conversations:
        texts = [m.content for m in said]
        sentences = key_sentences(texts) if len(said) >= MIN_TURNS else []
        chosen.append((sentences, key_phrases(texts) if sentences else []))
    return chosen


async def _summary_writes(
    work: Work,
    conversation: Conversation,
    said: Sequence[Memory],
    extracts: tuple[list[KeySentence], list[str]],
    deleted: Collection[str],
) -> list[Write]:
    """Return the writes that create, renew or delete the summary of one conversation."""
    user, session = conversation
    held = (work.draft.now[id] for id in work.draft.holders(_key(conversation)))
    old = next((memory for memory in held if memory is not None and memory.user == user), None)
    chosen, repeated_phrases = extracts
    if not chosen:
        if old is None or not _quotes(old, deleted):
            return []
        work.notes.why[old.id] = (old.id, f"what it quotes of {session!r} was forgotten")
        return [Delete(old.id, old.version)]
    content = "\n".join(_line(said[sentence.source], sentence.text) for sentence in chosen)
    quoted = list(dict.fromkeys(said[sentence.source].id for sentence in chosen))
    body = {"session": session, "phrases": repeated_phrases, "turns": len(said), "quoted": quoted}
    if old is None:
        record = _record(work, conversation, content, body, said)
        work.notes.why[record.id] = (quoted[0], f"what {len(said)} turns of {session!r} are about")
        return [Put(record, existing="fail"), *_links(record.id, quoted)]
    if old.content == content and old.body == body:
        return []
    work.notes.why[old.id] = (quoted[0], f"{session!r} has {len(said)} turns now")
    linked = {link.target for link in await all_links(work.draft, work.scope, [old.id], relation="derived_from")}
    dropped = [id for id in old.body.get("quoted", ()) if id not in quoted and id in linked]
    return [
        Update(old.id, {"content": content, "body": body, "occurred_at": said[-1].occurred_at}, old.version),
        *(RemoveLink(old.id, "derived_from", id) for id in dropped),
        *_links(old.id, quoted),
    ]


async def _load_turns(work: Work, sessions: Collection[str]) -> dict[Conversation, list[Memory]]:
    """Return the turns of some conversations in the order of their recording. New ones are not read again."""
    where = Filter(sessions=tuple(sorted(sessions)), kinds=SAID, states=("active", "stale"))
    wanted = await work.store.backend.matching(work.scope, where)
    turns = [memory for memory in work.sources if memory.id in wanted]
    older = sorted(wanted.difference(memory.id for memory in turns))
    turns += await work.store.get_all(work.scope, older)
    by_conversation: dict[Conversation, list[Memory]] = {}
    for memory in sorted(turns, key=lambda memory: (memory.recorded_at, memory.id)):
        if memory.session is not None and memory.expires_at is None:
            by_conversation.setdefault((memory.user, memory.session), []).append(memory)
    return by_conversation


def _line(memory: Memory, text: str) -> str:
    return f"{memory.source.name}: {text}" if memory.source.name else text


def _links(id: str, sources: Sequence[str]) -> list[Write]:
    return [AddLink(link_unvalidated(id, "derived_from", source)) for source in sources]


def _key(conversation: Conversation) -> str:
    """Return the key of a conversation's summary; the user is not in it, since each user has their own keys."""
    return f"summary:{sha256(conversation[1].encode()).hexdigest()[:32]}"


def _record(
    work: Work, conversation: Conversation, content: str, body: dict[str, object], said: Sequence[Memory]
) -> Memory:
    user, session = conversation
    return Memory(
        id=work.clock.new_id(),
        tenant=work.scope.tenant,
        agent=work.scope.agent,
        user=user,
        kind=KIND,
        key=_key(conversation),
        content=content,
        body=body,
        metadata={"session": session},
        source=Source(role="system", name="consolidation"),
        trust=min(m.trust for m in said),
        occurred_at=said[-1].occurred_at,
        recorded_at=work.clock.now(),
    )


# -- the language model ------------------------------------------------------------------------------------------------


async def _rewrite_by_model(work: Work, model: ModelCalls) -> None:
    writes: list[Write] = []
    conversations = {(m.user, m.session) for m in work.sources if m.session} | model.unsummarised
    for user, session in sorted(conversations, key=str):
        summaries = await work.draft.scan(work.scope, Filter(kinds=(KIND,), metadata={"session": session}))
        for record in summaries.items:
            if record.user == user and "turns" in record.body:
                writes += await _model_writes(work, model, record)
    await work.apply(writes)


async def _model_writes(work: Work, model: ModelCalls, record: Memory) -> list[Write]:
    """Return the writes that put the model's sentences in place of those that rules chose."""
    turns = int(record.body["turns"])
    stored = work.draft.read.get(record.id)
    if "retold" in record.body:
        return []
    if stored is not None and stored.body.get("retold", {}).get("turns") == turns:
        return [Update(record.id, {"content": stored.content, "body": stored.body}, record.version)]
    conversation = (record.user, str(record.body["session"]))
    if (*conversation, turns) not in model.summaries:
        summary = await _ask_for_summary(work, model, record)
        if summary is None:
            model.unsummarised.add(conversation)
            work.notes.failed = None if model.stopped is None else model.stopped.why
            return []
        model.summaries[*conversation, turns] = summary
    model.unsummarised.discard(conversation)
    checked = model.summaries[*conversation, turns]
    work.notes.rejected.update(checked.rejected)
    return _replace_content(work, record, checked)


def _replace_content(work: Work, record: Memory, summary: CheckedSummary) -> list[Write]:
    if not summary.points:
        return []
    quoted = list(dict.fromkeys(id for _, id in summary.points))
    answer = summary.answer
    body: dict[str, Any] = {
        **record.body,
        "quoted": list(dict.fromkeys([*record.body.get("quoted", ()), *quoted])),
        "retold": {"model": answer.model, "prompts": list(answer.prompts), "turns": record.body["turns"]},
    }
    because, why = work.notes.why.get(record.id, (quoted[0], ""))
    work.notes.why[record.id] = (because, f"{why}; told by {answer.model}".removeprefix("; "))
    content = "\n".join(sentence for sentence, _ in summary.points)
    return [Update(record.id, {"content": content, "body": body}, record.version), *_links(record.id, quoted)]


async def _ask_for_summary(work: Work, model: ModelCalls, record: Memory) -> CheckedSummary | None:
    """Return the model's summary of a conversation, checked; None if it cannot be asked now."""
    assert model.summary_writer is not None
    turns = await _texts_for_model(work, record)
    if not turns:
        return CheckedSummary()
    texts = [
        PromptText(number=n, speaker=speaker_of(m), date=f"{m.occurred_at:%Y-%m-%d}", content=text)
        for n, (m, text) in enumerate(turns)
    ]
    try:
        answer = await model.ask(partial(model.summary_writer.summarise, texts))
    except UnusableAnswer:
        return CheckedSummary(rejected=Counter(answer=1))
    if answer is None:
        return None
    points, rejected = supported_points(answer.points, [text for _, text in turns])
    return CheckedSummary(answer, [(sentence, turns[number][0].id) for sentence, number in points], rejected)


async def _texts_for_model(work: Work, record: Memory) -> list[tuple[Memory, str]]:
    """Return the turns of a conversation, or of a long one its key sentences."""
    where = Filter(sessions=(str(record.body["session"]),), kinds=SAID, states=("active", "stale"))
    turns = [m async for m in work.store.scan_all(work.scope, where) if m.user == record.user and is_source(m)]
    turns = turns[-_MAX_TURNS:]
    if sum(len(m.content) for m in turns) <= _MAX_CHARS:
        return [(m, m.content) for m in turns]
    chosen = key_sentences([m.content for m in turns], _MAX_SENTENCES)
    return [(turns[sentence.source], sentence.text) for sentence in chosen]
