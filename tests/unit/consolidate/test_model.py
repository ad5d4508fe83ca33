"""The cycle with a language model: what it may add, what is refused, and what waits when it cannot answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from longmind import Longmind
from longmind.consolidate import cycle as cycle_module
from longmind.consolidate import model_claims
from longmind.consolidate.bookmarks import Bookmarks, ModelBookmark
from longmind.consolidate.cycle import STAGES, Cycle
from longmind.consolidate.model import ChatExtractor, ChatSummaryWriter
from longmind.consolidate.model_claims import passages
from longmind.consolidate.runs import consolidate
from longmind.errors import ModelUnavailable
from longmind.memory import AgentMemory
from longmind.models.budget import Budget
from longmind.models.chat import Answer, Request
from longmind.models.chat_model import ChatModel
from longmind.spending import StoreLedger
from longmind.testing import FakeClock, ScriptedModel, memory
from longmind.types import ConsolidationReport, Filter, Memory

RENT = "Since May the harbour office pays my rent."
PAID = {
    "subject": "I",
    "predicate": "is paid by",
    "object": "the harbour office",
    "quote": "the harbour office pays",
    "text": 0,
}
TURNS = [f"The harbour museum opens room {n} in spring, and the tide clock moves there." for n in range(5)]


def found(*facts: dict[str, Any]) -> dict[str, Any]:
    return {"facts": list(facts)}


def points(*told: tuple[str, str, int]) -> dict[str, Any]:
    return {"points": [{"statement": s, "quote": q, "text": n} for s, q, n in told]}


def model(*script: Any) -> tuple[ScriptedModel, ChatModel]:
    made = ScriptedModel(*script)
    return made, made.chat()


async def run(longmind: Longmind, mem: AgentMemory, chat: ChatModel | None, **options: Any) -> ConsolidationReport:
    settings = await mem.configuration()
    return await consolidate(longmind.store, mem.scope, settings, longmind.embedding.embed, chat=chat, **options)


async def facts(mem: AgentMemory) -> dict[str, Memory]:
    return {m.content: m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("fact",)))}


async def summaries(mem: AgentMemory) -> list[Memory]:
    return [m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("summary",))) if "turns" in m.body]


def asked(made: ScriptedModel, prompt: str = "extract@1") -> list[list[str]]:
    """The texts of each request that was made with a prompt."""
    chosen = [request for request in made.requests if prompt in request.prompts]
    return [[text["content"] for text in json.loads(request.messages[1].content)] for request in chosen]


async def test_a_fact_of_the_model_is_kept_with_its_words_its_model_and_its_prompt(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    said = await mem.remember(RENT)
    _, chat = model(found(PAID))
    report = await run(longmind, mem, chat)
    fact = (await facts(mem))["alice is paid by the harbour office"]
    (evidence,) = fact.body["evidence"]
    assert said.content[slice(*evidence["span"])] == "the harbour office pays"
    assert (fact.metadata["model"], fact.metadata["prompts"]) == ("scripted/model", "extract@1")
    assert (report.of("extract").calls, report.of("extract").rejected, report.stopped) == (1, {}, None)
    assert "scripted/model" in next(p.why for p in report.proposed if p.memory_id == fact.id)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (PAID | {"quote": "my landlord pays my rent"}, "quote"),
        (PAID | {"quote": "harbour", "text": 0, "object": "sea"}, "unsupported"),
        (PAID | {"quote": ""}, "quote"),
        (PAID | {"object": "Lisbon"}, "unsupported"),
        (PAID | {"subject": "Tom"}, "unsupported"),
    ],
)
async def test_what_the_text_does_not_say_stays_out_and_is_counted(told: Any, reason: str, longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember(RENT)
    _, chat = model(found(told))
    report = await run(longmind, mem, chat)
    assert await facts(mem) == {}
    assert report.of("extract").rejected == {reason: 1}


async def test_a_quote_is_found_where_it_is_though_another_text_was_named(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    said = await mem.remember(["The harbour is cold.", RENT, "The harbour is cold."])
    twice = {"subject": "harbour", "predicate": "is", "object": "cold", "quote": "harbour is cold", "text": 9}
    _, chat = model(found(PAID | {"text": 7}, twice))
    report = await run(longmind, mem, chat)
    fact = (await facts(mem))["alice is paid by the harbour office"]
    assert fact.body["evidence"][0]["memory"] == said[1].id
    assert report.of("extract").rejected == {"quote": 1}


async def test_what_was_recalled_and_what_an_unnamed_assistant_said_is_not_shown(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember("I live in Lisbon.", metadata={"recalled": True})
    talk = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "You live in Rome."}]
    await mem.remember(talk, session="s")
    made, chat = model(found())
    await run(longmind, mem, chat)
    assert asked(made) == [["Hello."]]


def test_of_a_page_only_the_turns_that_are_evidence_are_shown() -> None:
    turns = [
        {"role": "user", "text": "I sail."},
        {"role": "assistant", "text": "You sail!"},
        {"role": "assistant", "text": "So do I.", "name": "Ines"},
    ]
    page = memory("I sail.\nYou sail!\nSo do I.", kind="page", body={"turns": turns}, user="alice")
    shown = passages(page)
    assert [(p.speaker, p.text, page.content[p.start :][: len(p.text)]) for p in shown] == [
        ("alice", "I sail.", "I sail."),
        ("Ines", "So do I.", "So do I."),
    ]


def test_a_long_text_is_shown_whole_in_pieces() -> None:
    told = memory("word " * 3_000)
    pieces = passages(told)
    assert "".join(piece.text for piece in pieces) == told.content
    assert all(len(piece.text) <= 4_000 for piece in pieces)
    assert len(pieces) == 4


async def test_a_text_is_read_once_also_while_it_waits_for_its_answer(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember([{"role": "user", "content": RENT}], session="s")
    made, chat = model(found(), found())
    await run(longmind, mem, chat)
    await mem.remember("Something else entirely.")
    await run(longmind, mem, chat)
    assert asked(made) == [[RENT], ["Something else entirely."]]
    assert (await run(longmind, mem, chat)).stages == ()


async def test_what_was_there_before_there_was_a_model_is_not_read_to_it(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember("An old story.")
    await run(longmind, mem, None)
    await mem.remember("A new story.")
    made, chat = model(found())
    await run(longmind, mem, chat)
    assert asked(made) == [["A new story."]]


async def test_a_spent_budget_lets_the_rest_wait_and_loses_nothing(
    longmind: Longmind, face_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_claims, "_PASSAGES_PER_REQUEST", 1)
    mem = longmind.agent("a", user="alice")
    await mem.remember([RENT, "I live in Lisbon.", "The harbour is cold."])
    made, chat = model(found(PAID), found(), found(), found())
    limit = 900  # one request of about 800 tokens, its answer included, and not two
    report = await run(longmind, mem, chat.with_budget(Budget(limit, StoreLedger(mem.scoped), longmind.clock)))
    assert len(made.requests) == 1
    assert "tokens a day" in (report.stopped or "")
    assert report.of("extract").failed == report.stopped
    assert set(await facts(mem)) == {"alice is paid by the harbour office", "alice lives in Lisbon"}
    waits = await Bookmarks(longmind.store, mem.scope, longmind.clock).model.read()
    assert waits.until is not None
    assert (waits.until - face_clock.now()) < timedelta(days=1)
    again = await run(longmind, mem, chat.with_budget(Budget(limit, StoreLedger(mem.scoped), longmind.clock)))
    assert (again.stages, len(made.requests)) == ((), 1)
    face_clock.advance(timedelta(days=1))
    await run(longmind, mem, chat)
    assert asked(made) == [[RENT], ["I live in Lisbon."], ["The harbour is cold."]]
    done = await Bookmarks(longmind.store, mem.scope, longmind.clock).model.read()
    assert (done.until, done.why) == (None, "")
    assert (await run(longmind, mem, chat)).stages == ()


async def test_a_budget_that_was_raised_is_used_at_once(longmind: Longmind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_claims, "_PASSAGES_PER_REQUEST", 1)
    mem = longmind.agent("a")
    await mem.configure(consolidate_calls_per_day=1)
    await mem.remember(["One.", "Two.", "Three."])
    made, chat = model(found(), found(), found())
    assert "calls" in ((await run(longmind, mem, chat)).stopped or "")
    await mem.configure(consolidate_calls_per_day=10)
    assert (await run(longmind, mem, chat)).stopped is None
    assert asked(made) == [["One."], ["Two."], ["Three."]]


async def test_a_question_that_no_budget_allows_is_asked_in_smaller_parts_and_then_passed_over(
    longmind: Longmind,
) -> None:
    mem = longmind.agent("a")
    await mem.remember(["Short.", "Also short.", "word " * 500])
    made, chat = model(found(), found())
    report = await run(longmind, mem, chat.with_budget(Budget(1_300, StoreLedger(mem.scoped), longmind.clock)))
    assert report.of("extract").rejected == {"answer": 1}
    assert asked(made) == [["Short."], ["Also short."]]


async def test_a_model_that_does_not_answer_gets_a_rest_and_reads_later(
    longmind: Longmind, face_clock: FakeClock
) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember(RENT)
    made, chat = model(ModelUnavailable("It is asleep."), found(PAID), found())
    report = await run(longmind, mem, chat)
    assert report.stopped == "ModelUnavailable: It is asleep."
    await mem.remember("I live in Lisbon.")
    await run(longmind, mem, chat)  # by rules: it is too early to ask again
    assert (len(made.requests), set(await facts(mem))) == (1, {"alice lives in Lisbon"})
    face_clock.advance(timedelta(minutes=15))
    assert (await run(longmind, mem, chat)).stopped is None
    assert set(await facts(mem)) == {"alice lives in Lisbon", "alice is paid by the harbour office"}
    assert asked(made)[1:] == [[RENT, "I live in Lisbon."]]


async def test_an_answer_that_cannot_be_used_concerns_only_its_own_texts(
    longmind: Longmind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_claims, "_PASSAGES_PER_REQUEST", 1)
    mem = longmind.agent("a", user="alice")
    await mem.remember(["Nothing here.", RENT])
    made, chat = model("no JSON", "still none", found(PAID))
    report = await run(longmind, mem, chat)
    assert report.of("extract").rejected == {"answer": 1}
    assert report.stopped is None
    assert set(await facts(mem)) == {"alice is paid by the harbour office"}
    assert len(made.requests) == 3


async def test_an_answer_that_is_too_long_is_asked_for_again_in_halves(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember([RENT, "One.", "Two.", "Three."])

    def answer(request: Request) -> Any:
        texts = json.loads(request.messages[1].content)
        if len(texts) > 2:
            return Answer(text='{"facts": [', finish="length")
        return found(PAID) if texts[0]["content"] == RENT else found()

    made, chat = model(*[answer] * 6)
    report = await run(longmind, mem, chat)
    assert set(await facts(mem)) == {"alice is paid by the harbour office"}
    assert report.of("extract").rejected == {}
    assert asked(made)[-2:] == [[RENT, "One."], ["Two.", "Three."]]


class Interrupting:
    """A stage that lets something happen once, after it has proposed."""

    def __init__(self, stage: Any, happens: Callable[[], Any]) -> None:
        self.name = stage.name
        self._stage = stage
        self._happens = [happens]

    async def propose(self, work: Any) -> None:
        await self._stage.propose(work)
        if self._happens:
            await self._happens.pop()()


def with_stage(name: str, happens: Callable[[], Any]) -> tuple[Any, ...]:
    return tuple(Interrupting(stage, happens) if stage.name == name else stage for stage in STAGES)


async def test_a_stage_that_is_tried_again_does_not_ask_again(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember("I live in Lisbon.")
    await run(longmind, mem, None)
    await mem.remember(["I moved to Porto.", RENT])

    async def meddle() -> None:
        (fact,) = (await facts(mem)).values()
        await mem.update(fact.id, tags=("home",))

    made, chat = model(found(PAID | {"text": 1}), found())
    settings = await mem.configuration()
    cycle = Cycle(longmind.store, mem.scope, settings, longmind.clock, longmind.embedding.embed, ChatExtractor(chat))
    cycle.stages = with_stage("extract", meddle)
    report = await cycle.run()
    assert len(made.requests) == report.of("extract").calls == 1
    assert "alice is paid by the harbour office" in await facts(mem)


async def test_what_was_read_before_a_crash_is_not_read_again_and_undo_reads_anew(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember(RENT)
    made, chat = model(found(PAID), found(PAID))

    class Crash(Exception):
        pass

    def stop(point: str) -> None:
        if point == "profile: begin":
            raise Crash

    settings = await mem.configuration()
    cycle = Cycle(
        longmind.store, mem.scope, settings, longmind.clock, longmind.embedding.embed, ChatExtractor(chat), watch=stop
    )
    with pytest.raises(Crash):
        await cycle.run()
    report = await run(longmind, mem, chat)
    assert len(made.requests) == 1
    await mem.undo(report.id)
    assert await facts(mem) == {}
    await run(longmind, mem, chat)
    assert (len(made.requests), len(await facts(mem))) == (2, 1)


async def test_what_waits_is_not_forgotten_by_a_run_that_is_broken_off(
    longmind: Longmind, face_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cycle_module, "SLICE", 2)
    mem = longmind.agent("a")
    await mem.remember([f"Sentence number {n} is here." for n in range(6)])
    made, chat = model(ModelUnavailable("It is asleep."), *[found()] * 3)
    await run(longmind, mem, chat)
    face_clock.advance(timedelta(hours=1))

    class Crash(Exception):
        pass

    points_passed: list[str] = []

    def stop(point: str) -> None:
        points_passed.append(point)
        if points_passed.count("extract: begin") == 2:
            raise Crash

    settings = await mem.configuration()
    cycle = Cycle(
        longmind.store, mem.scope, settings, longmind.clock, longmind.embedding.embed, ChatExtractor(chat), watch=stop
    )
    with pytest.raises(Crash):
        await cycle.run()
    await run(longmind, mem, chat)
    assert [len(texts) for texts in asked(made)[1:]] == [2, 2, 2]
    assert len({text for texts in asked(made)[1:] for text in texts}) == 6


async def test_a_summary_is_told_by_the_model_where_it_quotes(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    said = await mem.remember([{"role": "user", "content": text} for text in TURNS], session="s")
    told = points(
        ("The harbour museum opens new rooms in spring.", "opens room 2 in spring", 2),
        ("The museum closes for ever.", "it closes for ever", 1),
        ("Bananas are yellow.", "opens room 1 in spring", 1),
    )
    made, chat = model(found(), told)
    report = await run(longmind, mem, chat)
    (summary,) = await summaries(mem)
    assert summary.content == "The harbour museum opens new rooms in spring."
    assert summary.body["retold"] == {"model": "scripted/model", "prompts": ["summarise@1"], "turns": 5}
    assert report.of("summarise").rejected == {"quote": 1, "unsupported": 1}
    links = await mem.store.links(mem.scope, [summary.id], relation="derived_from", direction="out")
    assert said[2].id in {link.target for link in links}
    assert len(made.requests) == 2
    mark = await mem.store.by_key(mem.scope, "configuration:consolidation")
    assert mark is not None
    await mem.store.update(mem.scope, mark.id, {"body": {}})  # all is gone over again, and the summary stays
    made.requests.clear()
    made._script[:] = [found()]
    await run(longmind, mem, chat)
    assert [m.content for m in await summaries(mem)] == [summary.content]
    assert asked(made, "summarise@1") == []


async def test_a_summary_that_no_sentence_of_the_model_supports_stays_what_rules_made_it(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember([{"role": "user", "content": text} for text in TURNS], session="s")
    _, chat = model(found(), points(("The museum closes.", "it closes for ever", 1)))
    report = await run(longmind, mem, chat)
    (summary,) = await summaries(mem)
    assert summary.content.startswith("The harbour museum opens room")
    assert "retold" not in summary.body
    assert report.of("summarise").rejected == {"quote": 1}


async def test_a_summary_whose_turn_did_not_come_is_told_later(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember([{"role": "user", "content": text} for text in TURNS], session="s")
    told = points(("The harbour museum opens new rooms.", "opens room 0 in spring", 0))
    made, chat = model(found(), ModelUnavailable("It is asleep."), told)
    assert (await run(longmind, mem, chat)).stopped is not None
    (summary,) = await summaries(mem)
    assert "retold" not in summary.body
    face_clock.advance(timedelta(hours=1))
    assert (await run(longmind, mem, chat)).stopped is None
    assert [m.content for m in await summaries(mem)] == ["The harbour museum opens new rooms."]
    assert len(asked(made)) == 1
    assert (await Bookmarks(longmind.store, mem.scope, longmind.clock).model.read()).unsummarised == ()


async def test_a_long_talk_is_shown_by_its_most_telling_sentences(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    said = [f"{TURNS[n % 5]} The keeper of hall {n} tells of ships. " * 4 for n in range(60)]
    talk = [{"role": "user", "content": text} for text in said]
    await mem.remember(talk, session="s")
    made, chat = model(points())
    settings = await mem.configuration()
    cycle = Cycle(
        longmind.store,
        mem.scope,
        settings,
        longmind.clock,
        longmind.embedding.embed,
        summary_writer=ChatSummaryWriter(chat),
    )
    await cycle.run()
    (texts,) = asked(made, "summarise@1")
    assert 1 < len(texts) <= 40
    assert sum(map(len, texts)) < 8_000


async def test_a_dry_run_asks_and_keeps_nothing(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember(RENT)
    before = await mem.store.content_hash(mem.scope)
    _, chat = model(found(PAID), found(PAID))
    dry = await run(longmind, mem, chat, dry_run=True)
    assert "alice is paid by the harbour office" in {p.content for p in dry.proposed}
    assert await mem.store.content_hash(mem.scope) == before
    assert await Bookmarks(longmind.store, mem.scope, longmind.clock).model.read() == ModelBookmark()
    done = await run(longmind, mem, chat)
    assert [p.content for p in done.proposed] == [p.content for p in dry.proposed]


async def test_what_was_edited_while_it_waited_for_the_model_is_withdrawn(
    longmind: Longmind, face_clock: FakeClock
) -> None:
    mem = longmind.agent("a", user="alice")
    said = await mem.remember("I live in Lisbon.")
    made, chat = model(ModelUnavailable("It is asleep."), found())
    await run(longmind, mem, chat)
    await mem.update(said.id, content="I have never lived anywhere near there.")
    face_clock.advance(timedelta(minutes=15))
    assert (await run(longmind, mem, chat)).stopped is None
    assert (await facts(mem))["alice lives in Lisbon"].state == "stale"
    assert asked(made)[1:] == [["I have never lived anywhere near there."]]
