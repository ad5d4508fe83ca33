"""The stage ``summarise``: one summary for each conversation and each document, made anew when it has grown.

A summary that quotes what was forgotten since is made anew as well, or goes if too little is left to be told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from longmind.consolidate.edits import forgotten
from longmind.consolidate.model import ModelPart, Retold, Text, Unusable, supported
from longmind.consolidate.rules.extraction import is_source, speaker_of
from longmind.consolidate.rules.key_sentences import phrases, telling
from longmind.consolidate.work import Work
from longmind.kinds import SAID
from longmind.store.base import AddLink, Batch, Delete, Put, RemoveLink, Update, Write
from longmind.types import Filter, Link, Memory, Source

KIND = "summary"
FEWEST = 4
"""Turns or passages below which a summary would say no less than they do."""
_MOST = 2_000
"""Turns of one conversation that are read for its summary, the latest."""
_AT_ONCE = 20
"""Conversations that are read together."""
_CHARS = 8_000
"""What is longer is shown to the model by its most telling sentences only."""
_SENTENCES = 40
Place = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class Retelling:
    """The stage: summaries by rules and then, where there is a model, in its words."""

    name: str = "summarise"

    async def propose(self, work: Work) -> None:
        await _summaries(work)
        if work.model is None or work.model.teller is None:
            return
        writes: list[Write] = []
        places = {(m.user, m.session) for m in work.sources if m.session} | work.model.places
        for user, session in sorted(places, key=str):
            found = await work.draft.scan(work.scope, Filter(kinds=(KIND,), metadata={"session": session}))
            for record in found.items:
                if record.user == user and "turns" in record.body:
                    writes += await _renewed(work, work.model, record)
        if writes:
            await work.draft.apply(Batch(work.scope, work.operation, work.clock.now(), tuple(writes)))


async def _summaries(work: Work) -> None:
    """Write or renew the summaries by rules."""
    grown = {(m.user, m.session): None for m in work.sources if m.session and m.kind in SAID}
    places: list[Place] = [(user, session) for user, session in grown if session is not None]
    missing = await forgotten(work)
    places += [place for place in await _quoting(work, missing) if place not in grown]
    await work.draft.know_keys(_key(place) for place in places)
    writes: list[Write] = []
    for start in range(0, len(places), _AT_ONCE):
        part = places[start : start + _AT_ONCE]
        turns = await _turns(work, {session for _, session in part})
        for place in part:
            writes += await _summary(work, place, turns.get(place, []), missing)
    if writes:
        await work.draft.apply(Batch(work.scope, work.operation, work.clock.now(), tuple(writes)))


async def _quoting(work: Work, missing: Collection[str]) -> list[Place]:
    """The conversations whose summaries quote one of these turns."""
    if not missing:
        return []
    kept = (await work.draft.scan(work.scope, Filter(kinds=(KIND,), states=("active", "stale")))).items
    return [(m.user, m.body["session"]) for m in kept if _quotes(m, missing)]


def _quotes(summary: Memory, turns: Collection[str]) -> bool:
    return any(id in turns for id in summary.body.get("quoted", ()))


async def _summary(work: Work, place: Place, turns: Sequence[Memory], missing: Collection[str]) -> list[Write]:
    """The writes that make, or renew, the summary of one conversation, or take it away."""
    user, session = place
    old = next((m for id in work.draft.holders(_key(place)) if (m := work.draft.now[id]) and m.user == user), None)
    said = [m for m in turns[-_MOST:] if is_source(m)]
    texts = [m.content for m in said]
    chosen = telling(texts) if len(said) >= FEWEST else []
    if not chosen:
        if old is None or not _quotes(old, missing):
            return []
        work.notes.why[old.id] = (old.id, f"what it quotes of {session!r} was forgotten")
        return [Delete(old.id, old.version)]
    content = "\n".join(_line(said[one.source], one.text) for one in chosen)
    words = phrases(texts)
    quoted = list(dict.fromkeys(said[one.source].id for one in chosen))
    body = {"session": session, "phrases": words, "turns": len(said), "quoted": quoted}
    if old is None:
        made = _record(work, place, content, body, said)
        work.notes.why[made.id] = (quoted[0], f"what {len(said)} turns of {session!r} are about")
        return [Put(made, existing="fail"), *_links(made.id, quoted)]
    if old.content == content and old.body == body:
        return []
    work.notes.why[old.id] = (quoted[0], f"{session!r} has {len(said)} turns now")
    dropped = [id for id in old.body.get("quoted", ()) if id not in quoted]
    await work.draft.know_links([old.id], leaving=True)
    there = {link.target for link in await work.draft.links(
        work.scope, [old.id], relation="derived_from", direction="out", limit=1_000
    )}  # fmt: skip
    return [
        Update(old.id, {"content": content, "body": body, "occurred_at": said[-1].occurred_at}, old.version),
        *(RemoveLink(old.id, "derived_from", id) for id in dropped if id in there),
        *_links(old.id, quoted),
    ]


async def _turns(work: Work, sessions: Collection[str]) -> dict[Place, list[Memory]]:
    """The turns of some conversations, in the order in which they were learnt. What is new is in hand already."""
    where = Filter(sessions=tuple(sorted(sessions)), kinds=SAID, states=("active", "stale"))
    wanted = await work.store.backend.matching(work.scope, where)
    turns = [memory for memory in work.sources if memory.id in wanted]
    older = sorted(wanted.difference(memory.id for memory in turns))
    turns += await work.store.get_all(work.scope, older)
    found: dict[Place, list[Memory]] = {}
    for memory in sorted(turns, key=lambda memory: (memory.recorded_at, memory.id)):
        if memory.session is not None:
            found.setdefault((memory.user, memory.session), []).append(memory)
    return found


def _line(memory: Memory, text: str) -> str:
    return f"{memory.source.name}: {text}" if memory.source.name else text


def _links(id: str, sources: Sequence[str]) -> list[Write]:
    return [AddLink(Link(source=id, relation="derived_from", target=source)) for source in sources]


def _key(place: Place) -> str:
    """The key of a conversation's summary; the user is not in it: keys are each user's own."""
    return f"summary:{sha256(place[1].encode()).hexdigest()[:32]}"


def _record(work: Work, place: Place, content: str, body: dict[str, object], said: Sequence[Memory]) -> Memory:
    user, session = place
    now = work.clock.now()
    return Memory(
        id=work.clock.new_id(),
        tenant=work.scope.tenant,
        agent=work.scope.agent,
        user=user,
        kind=KIND,
        key=_key(place),
        content=content,
        body=body,
        metadata={"session": session},
        source=Source(role="system", name="consolidation"),
        trust=min(m.trust for m in said),
        occurred_at=said[-1].occurred_at,
        recorded_at=now,
    )


# -- the language model ----------------------------------------------------------------------------------------------


async def _renewed(work: Work, part: ModelPart, record: Memory) -> list[Write]:
    """The writes that put the model's words in place of those that rules chose; none if there is nothing to renew."""
    turns = int(record.body["turns"])
    stored = work.draft.read.get(record.id)
    if "retold" in record.body:
        return []
    if stored is not None and stored.body.get("retold", {}).get("turns") == turns:
        return [Update(record.id, {"content": stored.content, "body": stored.body}, record.version)]
    place = (record.user, str(record.body["session"]))
    if (*place, turns) not in part.retold:
        asked = await _asked(work, part, record)
        if asked is None:
            part.places.add(place)
            work.notes.failed = None if part.stopped is None else part.stopped.why
            return []
        part.retold[*place, turns] = asked
    part.places.discard(place)
    made = part.retold[*place, turns]
    work.notes.rejected.update(made.rejected)
    return _writes(work, record, made)


def _writes(work: Work, record: Memory, made: Retold) -> list[Write]:
    if not made.kept:
        return []
    quoted = list(dict.fromkeys(id for _, id in made.kept))
    body: dict[str, Any] = {
        **record.body,
        "quoted": list(dict.fromkeys([*record.body.get("quoted", ()), *quoted])),
        "retold": {"model": made.told.model, "prompts": list(made.told.prompts), "turns": record.body["turns"]},
    }
    because = work.notes.why.get(record.id, (quoted[0], ""))
    work.notes.why[record.id] = (because[0], f"{because[1]}; told by {made.told.model}".removeprefix("; "))
    return [
        Update(record.id, {"content": "\n".join(text for text, _ in made.kept), "body": body}, record.version),
        *(AddLink(Link(source=record.id, relation="derived_from", target=id)) for id in quoted),
    ]


async def _asked(work: Work, part: ModelPart, record: Memory) -> Retold | None:
    """The model's summary of a conversation, checked; None if it cannot be asked now."""
    assert part.teller is not None
    texts = await _texts(work, record)
    if not texts:
        return Retold()
    asked = [
        Text(number=n, speaker=speaker_of(m), date=f"{m.occurred_at:%Y-%m-%d}", content=text)
        for n, (m, text) in enumerate(texts)
    ]
    try:
        told = await part.ask(partial(part.teller.tell, asked))
    except Unusable:
        return Retold(rejected=Counter(answer=1))
    if told is None:
        return None
    kept, rejected = supported(told.points, [text for _, text in texts])
    return Retold(told, [(statement, texts[number][0].id) for statement, number in kept], rejected)


async def _texts(work: Work, record: Memory) -> list[tuple[Memory, str]]:
    """What the model reads: all that was said, or of a long conversation the sentences that tell most."""
    where = Filter(sessions=(str(record.body["session"]),), kinds=SAID, states=("active", "stale"))
    said = [m async for m in work.store.scan_all(work.scope, where) if m.user == record.user and is_source(m)][-_MOST:]
    if sum(len(m.content) for m in said) <= _CHARS:
        return [(m, m.content) for m in said]
    return [(said[one.source], one.text) for one in telling([m.content for m in said], _SENTENCES)]
