"""The criteria of a goal and the evidence for them: built from a caller's input, met, reopened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from longmind.errors import InvalidInput, NotFound
from longmind.systems.goals.models import Criterion, CriterionEvidence, Goal, PlanStep
from longmind.systems.goals.steps import result_note, truncate_text
from longmind.systems.scoped_store import validated

CriterionInput = str | Criterion | Mapping[str, Any]
"""A criterion as a caller passes it: its description, or a mapping of its fields."""
_OneEvidence = str | CriterionEvidence | Mapping[str, Any]
EvidenceInput = _OneEvidence | Sequence[_OneEvidence] | None
"""Evidence as a caller passes it: the id of a memory, a note, or several of these."""
Criteria = tuple[Criterion, ...]
MAX_EVIDENCE = 20
"""Pieces of evidence kept for one criterion; the oldest are dropped first."""
_ID_LENGTH = 36


def build_criteria(inputs: Iterable[CriterionInput], description: str, known: Sequence[Criterion] = ()) -> Criteria:
    """Build criteria from a caller's input. Without any, the goal's description is the only criterion.

    One that is ``known`` (by its id, or by the same words) keeps its id and stays met. A known one that now says
    something else has to be met again. Ids of earlier criteria are not given to new ones.
    """
    if isinstance(inputs, str | Mapping):
        raise InvalidInput("The criteria must be a list.", hint='Write criteria=["The flight is booked."].')
    wanted = list(inputs) or [description]
    taken = {item.id for item in known} | {id for item in wanted if (id := _id(item)) is not None}
    criteria: list[Criterion] = []
    for item in wanted:
        fields = _describe(item)
        before = _before(fields, known)
        if before is not None:
            fields = {**before.model_dump(), **fields, "id": before.id}
            if _folded(fields["description"]) != _folded(before.description):
                fields |= {"met_at": None, "evidence": ()}
        elif "id" not in fields:
            fields["id"] = next(f"c{n}" for n in range(1, len(taken) + 2) if f"c{n}" not in taken)
        taken.add(fields["id"])
        criteria.append(validated(Criterion, fields))
    return tuple(criteria)


def require_criteria(goal: Goal, ids: Iterable[str]) -> list[Criterion]:
    """Return criteria of a goal by their ids; ``NotFound`` names the criteria there are."""
    criteria: list[Criterion] = []
    for id in dict.fromkeys(ids):
        criterion = goal.criterion(id)
        if criterion is None:
            known = ", ".join(known_criterion.id for known_criterion in goal.criteria)
            raise NotFound(f"The goal has no criterion {id}.", hint=f"Its criteria are {known}.", criterion=id)
        criteria.append(criterion)
    return criteria


def check_criteria_exist(goal: Goal, steps: Iterable[PlanStep]) -> None:
    """Raise ``InvalidInput`` for a step that serves a criterion which the goal does not have."""
    known = {criterion.id for criterion in goal.criteria}
    for step in steps:
        for id in step.criteria:
            if id not in known:
                raise InvalidInput(
                    f"The step {step.id} serves the criterion {id}, which the goal does not have.",
                    hint=f"Its criteria are {', '.join(sorted(known))}.",
                    step=step.id,
                )


def meet_criterion(
    criterion: Criterion, evidence: Sequence[CriterionEvidence], now: datetime, *, whole: bool = True
) -> Criterion:
    """Return the criterion with more evidence; it is met if the evidence is complete (``whole``)."""
    more = [piece for piece in evidence if piece not in criterion.evidence]
    kept = (*criterion.evidence, *more)[-MAX_EVIDENCE:]
    return criterion.model_copy(update={"evidence": kept, "met_at": criterion.met_at or (now if whole else None)})


def reopen_criterion(criterion: Criterion) -> Criterion:
    """Return the criterion as not met. Its evidence stays in the history of the goal."""
    return criterion.model_copy(update={"met_at": None, "evidence": ()})


def criteria_after_step(
    goal: Goal, steps: Sequence[PlanStep], step: PlanStep, evidence: Sequence[CriterionEvidence], now: datetime
) -> Criteria:
    """Return the goal's criteria after a step was done or skipped.

    What was done is evidence for the criteria it serves. One is met when every step that serves it is settled and at
    least one of them was really done: skipping alone shows nothing.
    """
    shown = tuple(evidence)
    if step.status == "done" and not shown:
        shown = (CriterionEvidence(note=result_note(step.result) or step.description[:500], step=step.id, at=now),)
    after: list[Criterion] = []
    for criterion in goal.criteria:
        if criterion.id in step.criteria and not criterion.met:
            serving = [other for other in steps if criterion.id in other.criteria]
            whole = all(other.is_finished for other in serving) and any(other.status == "done" for other in serving)
            criterion = meet_criterion(criterion, shown if step.status == "done" else (), now, whole=whole)
        after.append(criterion)
    return tuple(after)


def _describe(item: CriterionInput) -> dict[str, Any]:
    if isinstance(item, str):
        return {"description": item.strip()}
    fields = dict(item) if isinstance(item, Mapping) else item.model_dump(exclude_unset=True)
    return fields | ({"description": str(fields["description"]).strip()} if "description" in fields else {})


def _id(item: CriterionInput) -> str | None:
    id = item.id if isinstance(item, Criterion) else item.get("id") if isinstance(item, Mapping) else None
    return id if isinstance(id, str) else None


def _before(fields: Mapping[str, Any], known: Sequence[Criterion]) -> Criterion | None:
    if "id" in fields:
        return next((criterion for criterion in known if criterion.id == fields["id"]), None)
    words = _folded(str(fields.get("description", "")))
    return next((criterion for criterion in known if _folded(criterion.description) == words), None)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def build_evidence(evidence: EvidenceInput, at: datetime, *, step: str | None = None) -> tuple[CriterionEvidence, ...]:
    """Build evidence from a caller's input. A text that is an id names a memory; any other is a note."""
    if evidence is None:
        return ()
    several = [evidence] if isinstance(evidence, str | CriterionEvidence | Mapping) else list(evidence)
    if len(several) > MAX_EVIDENCE:
        raise InvalidInput(
            f"{len(several)} pieces of evidence are too many at once.", hint=f"Give at most {MAX_EVIDENCE}."
        )
    return tuple(_evidence(item, at, step) for item in several)


def _evidence(item: _OneEvidence, at: datetime, step: str | None) -> CriterionEvidence:
    if isinstance(item, CriterionEvidence):
        return item
    fields: dict[str, Any] = {"at": at, "step": step}
    if isinstance(item, Mapping):
        return validated(CriterionEvidence, {**fields, **item})
    if not item.strip():
        raise InvalidInput("An empty text is no evidence.", hint="Say what shows it, or name a memory by its id.")
    if len(item) == _ID_LENGTH and item.count("-") == 4:
        return validated(CriterionEvidence, {**fields, "memory": item})
    return validated(CriterionEvidence, {**fields, "note": truncate_text(item)})
