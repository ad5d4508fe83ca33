"""A valid object in three steps, or an error with the text attached."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from longmind.errors import InvalidAnswer, ModelError
from longmind.models.budget import Budget
from longmind.models.chat import Answer
from longmind.models.chat_model import ChatModel
from longmind.testing import ScriptedModel

Open = Callable[..., ChatModel]


class Trip(BaseModel):
    city: str
    days: Annotated[int, Field(ge=1)]
    notes: list[str] = []


GOOD = '{"city": "Lisbon", "days": 3, "notes": []}'


async def test_the_server_is_asked_to_hold_to_the_schema(opened: Open, server: Any, protocol: str) -> None:
    server.plan(GOOD)
    made = await opened().structured("A trip.", Trip, max_tokens=50, prompts=["trip@3"])
    assert made.value == Trip(city="Lisbon", days=3)
    assert (made.form, made.mended, made.retried, made.prompts) == ("schema", False, False, ("trip@3",))
    assert (made.usage.tokens, made.usage.requests) == (18, 1)
    body = server.bodies[0]
    form = body["response_format"]["json_schema"] if protocol == "openai" else body["output_config"]["format"]
    assert form["schema"]["additionalProperties"] is False
    assert set(form["schema"]["required"]) == {"city", "days", "notes"}
    assert "schema" not in str(body["messages"])


async def test_a_server_that_has_no_schemas_is_asked_for_json_then_in_words(
    opened: Open, server: Any, protocol: str
) -> None:
    server.plan(server.status(400), *([server.status(400)] if protocol == "openai" else []), GOOD, GOOD)
    chat = opened()
    made = await chat.structured([{"role": "system", "content": "Plan."}, {"role": "user", "content": "A trip."}], Trip)
    assert (made.value.city, made.form, made.prompts) == ("Lisbon", None, ("structured@1",))
    asked = len(server.seen)
    again = await chat.structured("Another trip.", Trip)
    assert (again.form, len(server.seen)) == (None, asked + 1)  # what was refused is not asked for again
    if protocol == "openai":
        assert server.bodies[1]["response_format"] == {"type": "json_object"}
        assert [m["role"] for m in server.bodies[2]["messages"]] == ["system", "user"]
        assert server.bodies[2]["messages"][0]["content"].startswith("Plan.\n\nAnswer with one JSON object")
    assert "Lisbon" not in str(server.bodies[-1])
    assert '\\"days\\"' in json.dumps(server.bodies[-1])


async def test_what_a_server_refused_is_known_under_every_budget(opened: Open, server: Any) -> None:
    server.plan(server.status(400), GOOD, GOOD)
    chat = opened()
    await chat.with_budget(Budget()).structured("A trip.", Trip)
    asked = len(server.seen)
    await chat.with_budget(Budget()).structured("A trip.", Trip)
    assert len(server.seen) == asked + 1


async def test_a_refusal_of_all_forms_is_not_put_down_to_the_form(opened: Open, server: Any) -> None:
    server.plan(*[server.status(400)] * 3)
    chat = opened()
    with pytest.raises(ModelError, match="400"):
        await chat.structured("A trip.", Trip)
    server.planned.clear()
    server.plan(GOOD)
    assert (await chat.structured("A trip.", Trip)).form == "schema"


async def test_a_wrong_key_is_not_put_down_to_the_form(opened: Open, server: Any) -> None:
    server.plan(server.status(401))
    with pytest.raises(ModelError, match="401"):
        await opened().structured("A trip.", Trip)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"Here it is:\n```json\n{GOOD}\n```\nAnything else?",
        f"<think>{{hm}}</think>\n{GOOD}",
        f"The trip: {GOOD} Enjoy!",
    ],
)
async def test_words_around_the_json_are_passed_over(text: str) -> None:
    made = await ScriptedModel(text).chat().structured("A trip.", Trip)
    assert (made.value.days, made.mended, made.retried) == (3, False, False)


@pytest.mark.parametrize(
    "text",
    ["{'city': 'Lisbon', days: 3,}", '```json\n{"city": "Lisbon", "days": 3', '{"city": "Lisbon" "days": 3}'],
)
async def test_small_faults_are_mended(text: str) -> None:
    chat = ScriptedModel(text).chat()
    made = await chat.structured("A trip.", Trip)
    assert (made.value, made.mended, made.retried) == (Trip(city="Lisbon", days=3), True, False)
    assert (chat.tally.valid, chat.tally.mended) == (1, 1)


async def test_a_wrong_shape_is_told_to_the_model_once(opened: Open, server: Any) -> None:
    server.plan('{"city": "Lisbon", "days": 0}', GOOD)
    chat = opened()
    made = await chat.structured("A trip.", Trip)
    assert (made.value.days, made.retried, made.usage.requests) == (3, True, 2)
    assert made.prompts == ("correction@1",)
    told = json.dumps(server.bodies[1]["messages"][-1])
    assert "days: Input should be greater than or equal to 1" in told
    assert chat.tally.retried == 1


async def test_what_stays_wrong_is_an_error_with_the_text_and_counted(opened: Open, server: Any) -> None:
    server.plan("Lisbon is nice.", "Really nice.")
    chat = opened()
    with pytest.raises(InvalidAnswer, match="Trip: there is no JSON") as caught:
        await chat.structured("A trip.", Trip)
    assert caught.value.details["text"] == "Really nice."
    assert caught.value.usage.requests == 2
    assert (chat.tally.invalid, chat.tally.valid, len(server.seen)) == (1, 0, 2)


async def test_an_answer_that_broke_off_is_never_taken_for_whole() -> None:
    """It could be mended into a valid object, and the rest of its list would be lost without a word."""
    half = Answer(text='{"city": "Lisbon", "days": 3, "notes": ["one", "tw', finish="length")
    chat = ScriptedModel(half, GOOD, half, half).chat()
    made = await chat.structured("A trip.", Trip)
    assert (made.value.notes, made.retried) == ([], True)
    with pytest.raises(InvalidAnswer, match="broke off"):
        await chat.structured("A trip.", Trip)


async def test_a_model_that_will_not_answer_is_not_pressed(opened: Open, server: Any) -> None:
    server.plan(server.Say("I would rather not.", finish="content_filter"))
    chat = opened()
    with pytest.raises(InvalidAnswer) as caught:
        await chat.structured("A trip.", Trip)
    assert (caught.value.details["finish"], len(server.seen)) == ("filter", 1)


async def test_long_and_deep_nonsense_is_refused_in_reasonable_time() -> None:
    chat = ScriptedModel('{"city": "' + "x" * 300_000, "[" * 10_000).chat()
    with pytest.raises(InvalidAnswer, match=r"nested|broken|valid") as caught:
        await chat.structured("A trip.", Trip)
    assert len(caught.value.details["text"]) <= 10_000


async def test_a_long_valid_answer_is_taken() -> None:
    long = Trip(city="Lisbon", days=3, notes=["x" * 100] * 2_000)
    assert (await ScriptedModel(long).chat().structured("A trip.", Trip)).value == long


async def test_nan_is_not_json() -> None:
    class Measure(BaseModel):
        value: float

    chat = ScriptedModel('{"value": NaN}', '{"value": 2.5}').chat()
    assert (await chat.structured("How much?", Measure)).value.value == 2.5
