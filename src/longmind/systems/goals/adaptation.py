"""Adapt plans: a past plan to a new goal, or the current plan to its own goal after that changed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from longmind.systems.goals.models import MAX_STEPS, Criterion, Goal, GoalBody, Plan, PlanStep, order_steps
from longmind.systems.goals.steps import without_steps

_LEAST_COMMON = 0.4
"""The share of words that two descriptions must have in common before a difference counts as a changed name."""
_LONGEST_NAME = 4
_WORD = re.compile(r"[\w'’@./:+-]*[\w+]|[^\w\s]")
_UNTOUCHED: dict[str, Any] = {
    "status": "pending",
    "attempts": 0,
    "result": None,
    "error": "",
    "errors": (),
    "started_at": None,
    "finished_at": None,
    "lease_until": None,
    "episode": None,
}
Rename = Mapping[str, str]


def reset_step(step: PlanStep, **changes: Any) -> PlanStep:
    """Return a step as if it had never started."""
    return step.model_copy(update={**_UNTOUCHED, **changes})


def name_changes(old: str, new: str) -> dict[str, str]:
    """Return the names that differ between two otherwise similar descriptions: ``{"Lisbon": "Porto"}``.

    Only unambiguous ones: a few words in the same place that always have the same counterpart.
    """
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, [w.casefold() for w in before], [w.casefold() for w in after], autojunk=False)
    if matcher.ratio() < _LEAST_COMMON:
        return {}
    replacements: dict[str, set[str]] = {}
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "replace" and min(a, c) > 0 and _is_name(before[a:b]) and _is_name(after[c:d]):
            replacements.setdefault(" ".join(before[a:b]), set()).add(" ".join(after[c:d]))
    kept = {name: next(iter(others)) for name, others in replacements.items() if len(others) == 1}
    return {name: other for name, other in kept.items() if not _names(name, new) and other not in kept}


def replace_names(value: Any, names: Rename) -> Any:
    """Return a text, or a JSON value, with these names replaced in its texts, all at once."""
    if not names:
        return value
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in sorted(names, key=len, reverse=True)))

    def change(node: Any) -> Any:
        if isinstance(node, str):
            return pattern.sub(lambda match: names[match[0]], node)
        if isinstance(node, Mapping):
            return {key: change(item) for key, item in node.items()}
        return [change(item) for item in node] if isinstance(node, list | tuple) else node

    return change(value)


def adapt_past_plan(
    plan: Plan, names: Rename, criteria: Mapping[str, str | None], existing: Collection[str]
) -> list[PlanStep]:
    """Return the steps of a plan that worked, reset for another goal.

    Only what was really done is taken: what failed, was skipped or never needed is left out. ``criteria`` says which
    criterion of the new goal takes the place of each old one, ``existing`` for which steps what they call is there: the
    others are left to whoever does them.
    """
    steps = without_steps(plan.steps, {step.id for step in plan.steps if step.status != "done"})
    adapted: list[PlanStep] = []
    for step in steps:
        serves = tuple(dict.fromkeys(new for old in step.criteria if (new := criteria.get(old)) is not None))
        changes: dict[str, Any] = {
            "description": replace_names(step.description, names),
            "expected": replace_names(step.expected, names),
            "args": replace_names(step.args, names),
            "criteria": serves,
        }
        if step.id not in existing:
            changes |= {"tool": None, "procedure": None, "args": {}}
        adapted.append(reset_step(step, **changes))
    return adapted


def adapt_to_changed_goal(plan: Plan, old: GoalBody, new: Goal, again: Sequence[str] = ()) -> list[PlanStep]:
    """Return the steps of a plan after its goal changed.

    What was done stays. Open steps that served only criteria which are gone are left out, one that runs is skipped. For
    each criterion that is not met and that no open step serves, there is one: a copy of what was done for it when it is
    to be done ``again``, else a step of its own.
    """
    known = {criterion.id for criterion in new.criteria}
    names = name_changes(old.description, new.description)
    dropped: set[str] = set()
    steps: list[PlanStep] = []
    for step in plan.steps:
        serves = tuple(id for id in step.criteria if id in known)
        changes: dict[str, Any] = {"criteria": serves}
        orphaned = bool(step.criteria) and not serves
        if step.status in ("pending", "failed"):
            changes |= {part: replace_names(getattr(step, part), names) for part in ("description", "expected", "args")}
            if orphaned:
                dropped.add(step.id)
        elif step.status == "running" and orphaned:
            changes |= {"status": "skipped", "error": "The goal no longer asks for it.", "lease_until": None}
        steps.append(step.model_copy(update=changes))
    kept = without_steps(steps, dropped)
    for id in again:
        kept += repeat_steps(kept, id)
    unserved = [criterion for criterion in new.criteria if not criterion.met and not _served(criterion.id, kept)]
    kept += steps_for_criteria(unserved, taken={step.id for step in (*plan.steps, *kept)})
    if not kept:  # nothing is left to do, and a plan is never empty: tell what is no longer asked for
        kept = [
            step.model_copy(update={"status": "skipped", "error": "The goal no longer asks for it."}) for step in steps
        ]
    return kept if len(kept) <= MAX_STEPS else _fitting(kept)


def repeat_steps(steps: Sequence[PlanStep], criterion: str) -> list[PlanStep]:
    """Return copies of the steps that were done for a criterion, to be done again in the same order."""
    done = [step for step in order_steps(steps) if criterion in step.criteria and step.status == "done"]
    taken = {step.id for step in steps}
    ids: dict[str, str] = {}
    for step in done:
        ids[step.id] = unused_id(f"{step.id[:40]}_again", taken)
        taken.add(ids[step.id])
    return [
        reset_step(
            step, id=ids[step.id], after=tuple(ids[name] for name in step.after if name in ids), criteria=(criterion,)
        )
        for step in done
    ]


def steps_for_criteria(criteria: Sequence[Criterion], taken: set[str] | None = None) -> list[PlanStep]:
    """Return one step for each criterion, without dependencies."""
    used = set(taken or ())
    steps: list[PlanStep] = []
    for criterion in criteria:
        id = unused_id(f"s{len(used) + 1}", used)
        used.add(id)
        steps.append(PlanStep(id=id, description=criterion.description, criteria=(criterion.id,)))
    return steps


def unused_id(wanted: str, taken: set[str]) -> str:
    """Return an unused step id: the wanted one, or the same with a number."""
    if wanted not in taken:
        return wanted
    return next(f"{wanted}_{n}" for n in range(2, len(taken) + 3) if f"{wanted}_{n}" not in taken)


def _served(criterion: str, steps: Sequence[PlanStep]) -> bool:
    return any(criterion in step.criteria and step.status in ("pending", "running", "failed") for step in steps)


def _fitting(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """Drop the oldest finished steps beyond what a plan may hold; earlier versions keep them."""
    surplus = len(steps) - MAX_STEPS
    leaving = [step.id for step in order_steps(steps) if step.is_finished][:surplus]
    return without_steps(steps, set(leaving))


def _is_name(words: Sequence[str]) -> bool:
    """Whether words look like a name: a proper name, a number or an address, not a plain word."""
    return (
        0 < len(words) <= _LONGEST_NAME
        and all(
            word[0].isupper() or any(sign.isdigit() or sign in "@./:+-_" for sign in word)
            for word in words
            if word.isalnum()
        )
        and any(word[-1].isalnum() for word in words)
    )


def _names(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
