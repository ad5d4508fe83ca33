"""The same question to the same model is asked once, if one wants that."""

from __future__ import annotations

from longmind.models.budget import Budget
from longmind.models.chat import Answer
from longmind.models.chat_model import MemoryCache
from longmind.testing import ScriptedModel


async def test_nothing_is_remembered_unless_asked_for() -> None:
    chat = ScriptedModel("one", "two").chat()
    assert [(await chat.complete("Hi")).text for _ in range(2)] == ["one", "two"]


async def test_the_same_question_is_answered_from_memory_at_no_cost() -> None:
    budget, cache = Budget(1000), MemoryCache()
    chat = ScriptedModel("one", "two", "three").chat(cache=cache, budget=budget)
    first = await chat.complete("Hi", max_tokens=5)
    left = await budget.remaining()
    again = await chat.complete("Hi", max_tokens=5)
    assert (again.text, again.cached, again.usage.tokens, again.usage.cost) == ("one", True, 0, 0.0)
    assert (first.cached, await budget.remaining(), chat.counts.from_cache) == (False, left, 1)
    assert (await chat.complete("Hi", max_tokens=6)).text == "two"
    other = ScriptedModel("other", name="scripted/other").chat(cache=cache)
    assert (await other.complete("Hi", max_tokens=5)).text == "other"


async def test_a_stream_is_answered_from_memory_too() -> None:
    chat = ScriptedModel("one two").chat(cache=MemoryCache())
    told = [[piece.text async for piece in chat.stream("Hi")] for _ in range(2)]
    assert told == [["one ", "two", ""], ["one two", ""]]


async def test_an_answer_that_broke_off_is_not_remembered() -> None:
    chat = ScriptedModel(Answer(text="on", finish="length"), "one").chat(cache=MemoryCache())
    assert [(await chat.complete("Hi")).text for _ in range(2)] == ["on", "one"]


async def test_the_answer_not_asked_for_longest_leaves_first() -> None:
    cache = MemoryCache(2)
    for name in ("a", "b"):
        await cache.put(name, Answer(text=name))
    await cache.get("a")
    await cache.put("c", Answer(text="c"))
    assert [await cache.get(name) is None for name in ("a", "b", "c")] == [False, True, False]
