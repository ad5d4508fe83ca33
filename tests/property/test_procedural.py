"""Procedural memory under random use: templates, version chains, evidence, and runs cut off anywhere.

``HYPOTHESIS_PROFILE=thorough`` runs many more examples; with ``CI`` set the examples are the same every time.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.conftest import THOROUGH, Host, few

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.systems.procedural import ProceduralMemory, SuccessCounts, ToolRegistry
from longmind.systems.procedural.beta_binomial import TrialRule, judge, probability_better
from longmind.systems.procedural.conditions import Compare, holds
from longmind.systems.procedural.schema import bind_params, validate_schema
from longmind.systems.procedural.templates import escape_template, parse_template, render_template
from longmind.systems.procedural.values import json_equal, to_plain_json

CALM = few(15)
PURE = settings(CALM, max_examples=2_000 if THOROUGH else 150)
KEPT = 5

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12) | st.sampled_from(
    ["{{", "}}", "{{ params.a }}", "\\{{", "{{ params.a", '{{ params["x"][0] }}', "a {{ params.b }} c"]
)
SCALAR = (
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
)
JSON = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)


# -- templates, conditions, values -----------------------------------------------------------------------------------


@PURE
@given(JSON)
def test_any_value_can_be_written_as_a_template(value: Any) -> None:
    assert json_equal(render_template(escape_template(value), {"params": {}}), value)


@PURE
@given(TEXT | st.text(st.sampled_from('{}[]. "\\-_ab0'), max_size=20), st.dictionaries(TEXT, JSON, max_size=3))
def test_a_template_renders_or_says_what_is_wrong(text: str, params: dict[str, Any]) -> None:
    with suppress(InvalidInput):  # any other exception fails the test
        parse_template(text)
        render_template(text, {"params": params})


@PURE
@given(JSON, st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge", "in", "contains", "starts_with", "exists"]), JSON)
def test_a_comparison_is_true_or_false_or_refused(left: Any, op: Any, right: Any) -> None:
    condition = Compare.model_construct(left=escape_template(left), op=op, right=escape_template(right))
    with suppress(InvalidInput):  # any other exception fails the test
        assert holds(condition, {}) in (True, False)


@PURE
@given(JSON)
def test_what_is_plain_is_kept_as_it_is(value: Any) -> None:
    assert json_equal(to_plain_json(value, "it"), value)


@PURE
@given(st.dictionaries(st.sampled_from("abc"), JSON, max_size=3), st.dictionaries(st.sampled_from("abcd"), JSON))
def test_parameters_are_taken_as_they_are_or_refused(defaults: dict[str, Any], given_: dict[str, Any]) -> None:
    schema = validate_schema({"type": "object", "properties": {name: {"default": d} for name, d in defaults.items()}})
    if set(given_) - set(defaults):
        with pytest.raises(InvalidInput):
            bind_params(schema, given_)
    else:
        taken = bind_params(schema, given_)
        assert all(json_equal(taken[name], given_.get(name, default)) for name, default in defaults.items())


# -- evidence --------------------------------------------------------------------------------------------------------

COUNTS = st.builds(SuccessCounts, successes=st.integers(0, 400), failures=st.integers(0, 400))


@PURE
@given(COUNTS, COUNTS)
def test_evidence_is_a_probability_that_more_successes_raise(base: SuccessCounts, candidate: SuccessCounts) -> None:
    better = probability_better(base, candidate)
    assert 0 <= better <= 1
    assert better + probability_better(candidate, base) == pytest.approx(1, abs=1e-6)
    assert probability_better(base, candidate.plus(True)) >= better - 1e-9
    assert probability_better(base, candidate.plus(False)) <= better + 1e-9
    said = judge(base, candidate, TrialRule())
    if said.verdict == "promote":
        assert better >= 0.95
        assert min(base.runs, candidate.runs) >= 20


# -- version chains --------------------------------------------------------------------------------------------------


@dataclass
class Model:
    """What the versions of one procedure should be."""

    texts: dict[int, int] = field(default_factory=dict)
    current: int = 0
    latest: int = 0
    candidate: int | None = None
    labels: dict[str, int] = field(default_factory=dict)


OPERATION = st.one_of(
    st.tuples(st.just("store"), st.integers(0, 3)),
    st.tuples(st.just("rollback"), st.integers(1, 9)),
    st.tuples(st.just("index"), st.integers(0, 5)),
    st.tuples(st.just("propose"), st.integers(4, 7)),
    st.tuples(st.just("promote"), st.just(0)),
    st.tuples(st.just("withdraw"), st.just(0)),
    st.tuples(st.just("tag"), st.integers(1, 9)),
    st.tuples(st.just("undo"), st.integers(0, 3)),
)


def _procedure(text: int) -> dict[str, Any]:
    return {"name": "p", "purpose": f"Text {text}.", "steps": [{"name": "do", "use": "do"}]}


async def _apply(memory: ProceduralMemory, model: Model, operation: tuple[str, int]) -> None:
    """Do it to both; what the memory refuses must leave it as it was."""
    kind, value = operation
    with suppress(NotFound, Conflict, InvalidInput):
        match kind:
            case "store":
                made = await memory.store(_procedure(value))
                if model.texts.get(model.current) != value:
                    model.latest, model.candidate = model.latest + 1, None
                    model.texts[model.latest], model.current = value, model.latest
                assert made.number == model.current
            case "rollback" | "index":
                asked = {"version": value} if kind == "rollback" else {"index": value}
                before = model.current
                model.current = (await memory.rollback("p", **asked)).number  # type: ignore[arg-type]
                model.candidate = model.candidate if model.current == before else None
            case "propose":
                made_trial = await memory.propose("p", {"purpose": f"Text {value}."})
                assert model.candidate is None
                model.latest += 1
                model.candidate, model.texts[model.latest] = model.latest, value
                assert made_trial.candidate == model.latest
            case "promote" | "withdraw":
                decision = await (memory.promote("p") if kind == "promote" else memory.withdraw("p"))
                assert decision.candidate == model.candidate
                model.current = decision.candidate if kind == "promote" else model.current
                model.candidate = None
            case "tag":
                await memory.tag("p", f"l{value % 2}", value)
                model.labels[f"l{value % 2}"] = value
            case "undo":
                decisions = await memory.decisions("p")
                if value < len(decisions):
                    undone = await memory.undo(decisions[value].id)
                    model.current = undone.base
                    model.candidate = undone.candidate if undone.action in ("rejected", "withdrawn") else None


@CALM
@given(operations=st.lists(OPERATION, min_size=3, max_size=14))
def test_version_chains(host: Host, operations: list[tuple[str, int]]) -> None:
    async def work() -> None:
        memory = ProceduralMemory(host.scoped(), ToolRegistry(), versions_kept=KEPT)
        model = Model()
        await _apply(memory, model, ("store", 0))
        for operation in operations:
            await _apply(memory, model, operation)
            kept = await memory.versions("p")
            numbers = [version.number for version in kept]
            assert numbers == sorted(set(numbers), reverse=True)
            assert [v.number for v in kept if v.current] == [model.current]
            pinned = {model.current, *model.labels.values()} | ({model.candidate} if model.candidate else set())
            assert pinned <= set(numbers)
            assert len(numbers) <= max(KEPT, len(pinned) + 1)
            for version in kept:
                assert version.procedure.purpose == f"Text {model.texts[version.number]}."
            assert (await memory.retrieve("p")).procedure.purpose == f"Text {model.texts[model.current]}."
            trial = (await memory.statistics("p")).trial
            assert (trial.candidate if trial else None) == model.candidate

    host.runner.run(work())


# -- runs that are cut off -------------------------------------------------------------------------------------------


class PowerCut(BaseException):
    """Everything stops here; nobody catches it."""


STEP = st.fixed_dictionaries(
    {
        "items": st.none() | st.integers(0, 3),
        "fails": st.booleans(),
        "on_error": st.sampled_from(["stop", "skip", "compensate"]),
    }
)


def _shape(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    made = []
    for n, step in enumerate(steps):
        told: dict[str, Any] = {
            "name": f"s{n}",
            "use": "fail" if step["fails"] else "act",
            "args": {"n": n},
            "on_error": step["on_error"],
            "compensate": {"use": "act", "args": {"n": -n}},
        }
        if step["items"] is not None:
            told["for_each"] = list(range(step["items"]))
        made.append(told)
    return {"name": "p", "purpose": "P.", "steps": made}


@CALM
@given(steps=st.lists(STEP, min_size=1, max_size=4), cuts=st.lists(st.integers(1, 12), max_size=4))
def test_a_run_cut_off_anywhere_ends_as_one_that_was_not(
    host: Host, steps: list[dict[str, Any]], cuts: list[int]
) -> None:
    async def work(cuts: list[int]) -> tuple[Any, Counter[str]]:
        effects: Counter[str] = Counter()
        calls = itertools.count(1)
        cut: list[int | None] = [None]
        tools = ToolRegistry()

        def reached() -> None:
            if next(calls) == cut[0]:
                raise PowerCut

        @tools.tool
        async def act(n: int, idempotency_key: str) -> int:
            reached()
            effects[idempotency_key.partition("/")[2]] = 1
            reached()
            return n

        @tools.tool
        async def fail(n: int) -> int:
            reached()
            raise RuntimeError("no")

        scoped = host.scoped()
        for at in [*cuts, None]:
            calls, cut[0] = itertools.count(1), at
            memory = ProceduralMemory(scoped, tools, poll_seconds=60)
            await memory.store(_shape(steps))
            try:
                run = await memory.execute("p", key="job")
                if not run.finished:
                    run = await memory.resume(run.id, take_over=True)
            except PowerCut:
                continue
            told = [(s.path, s.outcome, s.result) for s in run.steps]
            return (run.status, run.result, run.error, told), effects
        raise AssertionError("the last round has no cut")

    assert host.runner.run(work(cuts)) == host.runner.run(work([]))
