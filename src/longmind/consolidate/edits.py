"""Withdraws what was learnt from words that were edited, and tells what was deleted since the last run.

A message that was edited is read again. Facts that quote what it said before lose that evidence. A fact without any
other evidence becomes stale, and so does what was derived from it. If the new wording says the same, nothing changes;
if the fact is stated again later, it becomes active again. The link to the message stays, so that erasing the message
still erases what came from it. An unsure claim of an edited message is dropped: the new wording is read anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from longmind.consolidate.rules.extraction import extract_memories
from longmind.consolidate.unsure_claims import KIND as CLAIM
from longmind.consolidate.work import Work
from longmind.store.base import Delete, Update, Write
from longmind.store.reads import all_links
from longmind.systems.semantic import find_derived, fold_name, predicate_name, with_next_revision
from longmind.types import Memory

Statement = tuple[str, str, str]
"""Subject, predicate and object of a fact, folded."""


@dataclass(frozen=True, slots=True)
class _Edited:
    """A memory whose text was changed: its former texts with when each was replaced, and what it states now."""

    memory: Memory
    wordings: tuple[tuple[datetime, str], ...]
    """Oldest first."""
    states: frozenset[Statement]

    def text_at(self, moment: datetime) -> str:
        """Return the text as it was at a moment."""
        return next((text for until, text in self.wordings if until >= moment), self.memory.content)


async def withdraw_edited(work: Work) -> None:
    """Take back, in the draft, the evidence that edited sources no longer give."""
    changed = [memory for memory in work.sources if memory.version > 1]
    if not changed:
        return
    ids = [memory.id for memory in changed]
    links = await all_links(work.draft, work.scope, ids, relation="derived_from", direction="in")
    derived_records = await work.draft.get(work.scope, list(dict.fromkeys(link.source for link in links)))
    facts = [fact for fact in derived_records if fact.kind == "fact" and fact.body.get("evidence")]
    claims = [record for record in derived_records if record.kind == CLAIM]
    quoted = {evidence["memory"] for record in (*facts, *claims) for evidence in record.body["evidence"]}
    edited = {m.id: edit for m in changed if m.id in quoted and (edit := await _edited(work, m)) is not None}
    weakened = {fact.id: fact for fact in facts if len(_remaining_evidence(fact, edited)) < len(fact.body["evidence"])}
    if weakened:
        await _withdraw_evidence(work, weakened, edited, derived_records)
    unsure = [claim for claim in claims if any(evidence["memory"] in edited for evidence in claim.body["evidence"])]
    await work.apply([Delete(claim.id, claim.version) for claim in unsure])


def deleted_since_last_run(work: Work) -> frozenset[str]:
    """Return the memories that were deleted since the last run; none before the first run has ended."""
    return frozenset() if work.first_run else work.deleted


async def former_wordings(work: Work, memory: Memory) -> list[tuple[datetime, str]]:
    """Return the former texts of a memory, each with when it was replaced, oldest first."""
    wordings: list[tuple[datetime, str]] = []
    for change in await work.store.history(work.scope, memory.id) if memory.version > 1 else ():
        before, after = (change.before or {}).get("content"), (change.after or {}).get("content")
        if change.action == "update" and before is not None and before != after:
            wordings.append((change.at, before))
    return wordings


async def _edited(work: Work, memory: Memory) -> _Edited | None:
    """Return the edits of a memory; None if its text was never changed."""
    wordings = await former_wordings(work, memory)
    if not wordings:
        return None
    (extracted,) = await asyncio.to_thread(extract_memories, [memory], work.settings.facts_from, work.reader)
    claims = extracted.claims
    states = frozenset((fold_name(c.subject), predicate_name(c.predicate), fold_name(c.object)) for c in claims)
    return _Edited(memory, tuple(wordings), states)


def _remaining_evidence(fact: Memory, edited: Mapping[str, _Edited]) -> list[dict[str, Any]]:
    """Return the evidence of a fact that still says what it said when the fact was learnt."""
    body = fact.body
    statement = (fold_name(body["subject_name"]), body["predicate"], fold_name(str(body["object"])))
    return [
        evidence
        for evidence in body["evidence"]
        if (source := edited.get(evidence["memory"])) is None
        or statement in source.states
        or _quoted(source.text_at(fact.recorded_at), evidence["span"])
        == _quoted(source.memory.content, evidence["span"])
    ]


def _quoted(text: str, span: Sequence[int] | None) -> str:
    """Return the characters that evidence points to; without a span all of them."""
    return text if span is None else text[span[0] : span[1]]


async def _withdraw_evidence(
    work: Work, facts: Mapping[str, Memory], edited: Mapping[str, _Edited], derived_records: Collection[Memory]
) -> None:
    """Write, in the draft, that these facts have less evidence; a fact without any becomes stale."""
    writes: list[Write] = []
    unsupported: list[str] = []
    for fact in facts.values():
        remaining = _remaining_evidence(fact, edited)
        changes: dict[str, Any] = {"body": {**with_next_revision(fact), "evidence": remaining}}
        lost = next(evidence["memory"] for evidence in fact.body["evidence"] if evidence not in remaining)
        if not remaining and fact.state == "active":
            changes["state"] = "stale"
            unsupported.append(fact.id)
        writes.append(Update(fact.id, changes, fact.version))
        work.notes.why[fact.id] = (lost, "the words that said so were changed")
    statements = {facts[id].content for id in unsupported}
    dependent = [m for m in derived_records if m.kind == "knowledge" and m.content in statements]
    dependent += await find_derived(work.scoped(work.scope.user), unsupported)
    for record in {m.id: m for m in dependent if m.state == "active" and m.id not in facts}.values():
        writes.append(Update(record.id, {"state": "stale"}, record.version))
        work.notes.why.setdefault(record.id, (unsupported[0], "rested on words that were changed"))
    await work.apply(writes)
