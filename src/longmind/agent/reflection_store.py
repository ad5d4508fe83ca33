"""Storage of reflections: repeated ones get stronger, contradicted ones are superseded.

A reflection is a memory of the kind ``reflection``, linked ``derived_from`` to every episode that supports it. Newer
evidence supersedes an older reflection; the parts of it that are not contradicted are taken over. Only reflections of
the same user, or of no user, are compared, so that nothing passes from one user to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longmind.agent.critics import ReflectionDraft, describe_conclusions
from longmind.agent.task_similarity import in_family, without_subject
from longmind.agent_memory import AgentMemory
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.scoped_store import retry_on_conflict
from longmind.types import TRUST, Filter, Json, Link, Memory

REFLECTION = "reflection"
SURPRISING = 0.9
_LOOKED_AT = 20
_STRONGER = 0.05
_KEPT = 20


@dataclass(slots=True)
class ReflectionStore:
    """The reflections of an agent."""

    mem: AgentMemory

    async def keep(self, draft: ReflectionDraft, episode: str | None) -> str:
        """Store a reflection, or strengthen the one that says the same; return its id."""
        return await retry_on_conflict(lambda: self._kept(draft, episode))

    async def of_family(self, task: str) -> list[Memory]:
        """Return the active reflections about tasks of this family, best match first."""
        where = Filter(states=("active",))
        hits = await self.mem.recall(without_subject(task), _LOOKED_AT, kinds=(REFLECTION,), where=where)
        return [hit.memory for hit in hits if in_family(task, hit.memory.body.get("family", ()))]

    async def _kept(self, draft: ReflectionDraft, episode: str | None) -> str:
        task = str(draft.body.get("task", "")) or draft.text
        known = [memory for memory in await self.of_family(task) if memory.user == self.mem.scope.user]
        against = [memory for memory in known if contradicts(memory.body, draft.body)]
        same = next((m for m in known if m not in against and says_same(m.body, draft.body)), None)
        writes: list[Write] = []
        if same is not None:
            count = int(same.metadata.get("count", 1)) + 1
            stronger = min(1.0, same.importance + _STRONGER)
            changes: Json = {"metadata": {**same.metadata, "count": count}, "importance": stronger}
            writes.append(Update(same.id, changes | _added_conclusion(same, draft), same.version))
            id = same.id
        else:
            reflection = self._new(draft, against)
            writes.append(Put(reflection))
            id = reflection.id
        if episode is not None:
            writes.append(AddLink(Link(source=id, relation="derived_from", target=episode)))
        for memory in against:
            writes.append(Update(memory.id, {"state": "superseded"}, memory.version))
            writes.append(AddLink(Link(source=id, relation="supersedes", target=memory.id)))
        await self.mem.scoped.rewrite(writes, "reflection")
        return id

    def _new(self, draft: ReflectionDraft, against: list[Memory]) -> Memory:
        body, text = dict(draft.body), draft.text
        if against and "failed" in body:
            body["failed"] = _merged(body, against)
            text = describe_conclusions(body) if draft.text == describe_conclusions(draft.body) else text
        success = body.get("success")
        return self.mem.scoped.new(
            REFLECTION,
            text,
            body=body,
            metadata={"count": 1} | ({} if success is None else {"success": success}),
            importance=max(draft.importance, SURPRISING) if against else draft.importance,
            valence=0.0 if success is None else 0.3 if success else -0.5,
            trust=TRUST["assistant"],
        )


def _added_conclusion(known: Memory, draft: ReflectionDraft) -> Json:
    """Return what changes in a reflection that a model's conclusion is new to; what the rules found is the same."""
    conclusion = draft.text.removeprefix(describe_conclusions(draft.body)) if "quote" in draft.body else ""
    if not conclusion.strip() or "quote" in known.body:
        return {}
    origin = {name: draft.body[name] for name in ("quote", "model", "prompt") if name in draft.body}
    return {"content": known.content + conclusion, "body": known.body | origin}


def says_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two conclusions say the same about different runs."""
    alike = all(_shapes(left, part) == _shapes(right, part) for part in ("worked", "failed"))
    same_needs = left.get("needs", []) == right.get("needs", [])
    return (
        alike
        and same_needs
        and left.get("success") == right.get("success")
        and left.get("answer") == right.get("answer")
    )


def contradicts(older: Mapping[str, Any], newer: Mapping[str, Any]) -> bool:
    """Whether a newer conclusion contradicts an older one about the same calls."""
    if _shapes(older, "failed") & _shapes(newer, "worked") or _shapes(older, "worked") & _shapes(newer, "failed"):
        return True
    outcomes = older.get("success"), newer.get("success")
    steps = older.get("steps"), newer.get("steps")
    return None not in outcomes and outcomes[0] != outcomes[1] and bool(steps[0]) and steps[0] == steps[1]


def _shapes(body: Mapping[str, Any], part: str) -> set[str]:
    return {str(call["shape"]) for call in body.get(part, ())}


def _merged(body: Mapping[str, Any], against: list[Memory]) -> list[Any]:
    """Return the failures of this run, and the known ones that it does not contradict."""
    worked = _shapes(body, "worked")
    failures = {call["shape"]: call for memory in against for call in memory.body.get("failed", ())}
    failures |= {call["shape"]: call for call in body["failed"]}
    return [call for its_shape, call in failures.items() if its_shape not in worked][:_KEPT]
