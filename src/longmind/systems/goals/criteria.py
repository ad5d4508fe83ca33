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
"""Pieces of evidence kept for one criterion; the oldest leave first."""
_ID_LENGTH = 36


def build_criteria(given: Iterable[CriterionInput], description: str, known: Sequence[Criterion] = ()) -> Criteria:
    """Criteria from what was given; without any, the goal's description is the one criterion.

    One that is ``known`` (by its id, or by the same words) keeps its id and stays met. A known one that now says
    something else has to be met again. Ids of earlier criteria are not given to new ones.
    """
    if isinstance(given, str | Mapping):
        raise InvalidInput("The criteria must be a list.", hint='Write criteria=["The flight is booked."].')
    wanted = list(given) or [description]
    taken = {one.id for one in known} | {id for one in wanted if (id := _id(one)) is not None}
    made: list[Criterion] = []
    for one in wanted:
        told = _describe(one)
        before = _before(told, known)
        if before is not None:
            told = {**before.model_dump(), **told, "id": before.id}
            if _folded(told["description"]) != _folded(before.description):
                told |= {"met_at": None, "evidence": ()}
        elif "id" not in told:
            told["id"] = next(f"c{n}" for n in range(1, len(taken) + 2) if f"c{n}" not in taken)
        taken.add(told["id"])
        made.append(validated(Criterion, told))
    return tuple(made)


def need(goal: Goal, ids: Iterable[str]) -> list[Criterion]:
    """Criteria of a goal by their ids; ``NotFound`` names those there are."""
    found: list[Criterion] = []
    for id in dict.fromkeys(ids):
        one = goal.criterion(id)
        if one is None:
            known = ", ".join(criterion.id for criterion in goal.criteria)
            raise NotFound(f"The goal has no criterion {id}.", hint=f"Its criteria are {known}.", criterion=id)
        found.append(one)
    return found


def check_criteria_exist(goal: Goal, steps: Iterable[PlanStep]) -> None:
    """Refuse steps that serve a criterion which the goal does not have."""
    known = {criterion.id for criterion in goal.criteria}
    for step in steps:
        for id in step.criteria:
            if id not in known:
                raise InvalidInput(
                    f"The step {step.id} serves the criterion {id}, which the goal does not have.",
                    hint=f"Its criteria are {', '.join(sorted(known))}.",
                    step=step.id,
                )


def met(criterion: Criterion, evidence: Sequence[CriterionEvidence], now: datetime, *, whole: bool = True) -> Criterion:
    """The criterion with more evidence and, if that is the whole of it, met."""
    more = [one for one in evidence if one not in criterion.evidence]
    kept = (*criterion.evidence, *more)[-MAX_EVIDENCE:]
    return criterion.model_copy(update={"evidence": kept, "met_at": criterion.met_at or (now if whole else None)})


def reopened(criterion: Criterion) -> Criterion:
    """The criterion, no longer met. Its evidence is in the history of the goal."""
    return criterion.model_copy(update={"met_at": None, "evidence": ()})


def served(
    goal: Goal, steps: Sequence[PlanStep], step: PlanStep, evidence: Sequence[CriterionEvidence], now: datetime
) -> Criteria:
    """The goal's criteria after a step was done or skipped.

    What was done is evidence for the criteria it serves. One is met when every step that serves it is settled and at
    least one of them was really done: skipping alone shows nothing.
    """
    told = tuple(evidence)
    if step.status == "done" and not told:
        told = (CriterionEvidence(note=result_note(step.result) or step.description[:500], step=step.id, at=now),)
    after: list[Criterion] = []
    for criterion in goal.criteria:
        if criterion.id in step.criteria and not criterion.met:
            serving = [one for one in steps if criterion.id in one.criteria]
            whole = all(one.is_finished for one in serving) and any(one.status == "done" for one in serving)
            criterion = met(criterion, told if step.status == "done" else (), now, whole=whole)
        after.append(criterion)
    return tuple(after)


def _describe(given: CriterionInput) -> dict[str, Any]:
    if isinstance(given, str):
        return {"description": given.strip()}
    told = dict(given) if isinstance(given, Mapping) else given.model_dump(exclude_unset=True)
    return told | ({"description": str(told["description"]).strip()} if "description" in told else {})


def _id(given: CriterionInput) -> str | None:
    id = given.id if isinstance(given, Criterion) else given.get("id") if isinstance(given, Mapping) else None
    return id if isinstance(id, str) else None


def _before(told: Mapping[str, Any], known: Sequence[Criterion]) -> Criterion | None:
    if "id" in told:
        return next((one for one in known if one.id == told["id"]), None)
    words = _folded(str(told.get("description", "")))
    return next((one for one in known if _folded(one.description) == words), None)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def build_evidence(given: EvidenceInput, at: datetime, *, step: str | None = None) -> tuple[CriterionEvidence, ...]:
    """Evidence from what was given. A text that is an id names a memory; any other is a note."""
    if given is None:
        return ()
    several = [given] if isinstance(given, str | CriterionEvidence | Mapping) else list(given)
    if len(several) > MAX_EVIDENCE:
        raise InvalidInput(
            f"{len(several)} pieces of evidence are too many at once.", hint=f"Give at most {MAX_EVIDENCE}."
        )
    return tuple(_evidence(one, at, step) for one in several)


def _evidence(given: _OneEvidence, at: datetime, step: str | None) -> CriterionEvidence:
    if isinstance(given, CriterionEvidence):
        return given
    told: dict[str, Any] = {"at": at, "step": step}
    if isinstance(given, Mapping):
        return validated(CriterionEvidence, {**told, **given})
    if not given.strip():
        raise InvalidInput("An empty text is no evidence.", hint="Say what shows it, or name a memory by its id.")
    if len(given) == _ID_LENGTH and given.count("-") == 4:
        return validated(CriterionEvidence, {**told, "memory": given})
    return validated(CriterionEvidence, {**told, "note": truncate_text(given)})
