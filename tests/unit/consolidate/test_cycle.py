"""The cycle on every backend: what it makes of what was said, told, done, repeated, stopped and taken back."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from longmind import Longmind
from longmind.config import AgentSettings
from longmind.consolidate import cycle as cycle_module
from longmind.consolidate.cycle import STAGES, Cycle
from longmind.consolidate.model import ExtractionAnswer, PromptText, Triple
from longmind.consolidate.work import Work
from longmind.errors import ModelUnavailable
from longmind.memory import AgentMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory
from longmind.testing import FakeClock
from longmind.types import STAGES as NAMES
from longmind.types import Filter, Hit

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "I moved to Lisbon and I work as a nurse."},
    {"role": "assistant", "content": "How do you like it there?"},
    {"role": "user", "content": "I love the ocean. My sister Ines lives here too, she helped me to find a flat."},
    {"role": "assistant", "content": "I remember that you love the mountains."},
    {"role": "user", "content": "I adopted a puppy yesterday, and the flat is full of toys and noise."},
    {"role": "assistant", "content": "What is it called?"},
]


async def no_search(query: str, **how: Any) -> list[Hit]:
    raise AssertionError("nothing here searches")


def semantic(longmind: Longmind, mem: AgentMemory) -> SemanticMemory:
    return SemanticMemory(ScopedStore(longmind.store, mem.scope, longmind.clock, longmind.embedding.embed, no_search))


def cycle(longmind: Longmind, mem: AgentMemory, **options: Any) -> Cycle:
    settings = options.pop("settings", None) or AgentSettings()
    return Cycle(longmind.store, mem.scope, settings, longmind.clock, longmind.embedding.embed, **options)


async def facts(mem: AgentMemory, **where: Any) -> list[str]:
    found = [m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("fact",), **where))]
    return sorted(m.content for m in found)


def test_the_stages_are_those_that_are_told() -> None:
    assert tuple(stage.name for stage in STAGES) == (*NAMES, "share"), "sharing is reported as part of distill"


async def test_what_was_said_becomes_facts_pages_and_a_summary(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    stored = await mem.remember(TALK, session="s")
    report = await mem.consolidate()
    assert report.read == len(TALK)
    assert [stage.stage for stage in report.stages] == list(NAMES)
    assert {"alice lives in Lisbon", "alice works as nurse", "alice likes the ocean", "alice has sister Ines"} <= {
        p.content for p in report.proposed if p.stage == "extract"
    }
    assert report.of("extract").added == len(await facts(mem))
    assert report.of("segment").added == 3
    assert (await mem.stats()).by_kind["page"] == 3
    known = await semantic(longmind, mem).know("alice", "lives in")
    assert [f.object for f in known] == ["Lisbon"]
    (evidence,) = known[0].evidence
    assert evidence.memory == stored[0].id
    assert evidence.span is not None
    assert stored[0].content[slice(*evidence.span)] == "I moved to Lisbon"


async def test_nothing_is_extracted_from_the_assistant_or_from_what_was_recalled(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember([{"role": "assistant", "content": "I love the mountains. You live in Rome."}], session="s")
    await mem.remember("I live in Rome.", metadata={"recalled": True})
    assert (await mem.consolidate()).of("extract").added == 0


async def test_a_dry_run_tells_the_same_and_changes_nothing(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember(TALK, session="s")
    await mem.remember("tea please")
    await mem.remember("Tea, please!")
    before = await mem.store.content_hash(mem.scope)
    dry = await mem.consolidate(dry_run=True)
    assert dry.dry_run
    assert await mem.store.content_hash(mem.scope) == before
    done = await mem.consolidate()
    assert [(p.stage, p.action, p.kind) for p in dry.proposed] == [(p.stage, p.action, p.kind) for p in done.proposed]
    assert [(s.added, s.archived, s.rejected) for s in dry.stages] == [
        (s.added, s.archived, s.rejected) for s in done.stages
    ]


async def test_undo_takes_the_whole_run_back(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember(TALK, session="s")
    await mem.remember("tea please")
    await mem.remember("Tea, please!")
    before = await mem.store.content_hash(mem.scope)
    report = await mem.consolidate()
    assert await mem.store.content_hash(mem.scope) != before
    await mem.undo(report.id)
    assert await mem.store.content_hash(mem.scope) == before
    again = await mem.consolidate()
    assert len(again.proposed) == len(report.proposed)


async def test_an_unchanged_agent_is_left_alone(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember(TALK, session="s")
    await mem.consolidate()
    head = await mem.store.backend.head(mem.scope)
    for _ in range(3):
        report = await mem.consolidate()
        assert (report.read, report.proposed, report.stages) == (0, (), ())
    assert await mem.store.backend.head(mem.scope) == head
    await mem.remember("I live in Porto.")
    assert (await mem.consolidate()).read == 1


async def test_with_a_budget_and_for_one_user_an_unchanged_agent_is_left_alone_too(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.configure(consolidate_seconds_per_day=100.0)
    await mem.remember("I live in Lisbon.")
    await mem.consolidate()
    await longmind.agent("a", user="bob").remember("Not alice's business.")
    assert (await mem.consolidate()).stages == ()
    await mem.remember("I live in Porto.")
    assert (await mem.consolidate()).read == 1
    assert (await mem.consolidate()).stages == ()


async def test_a_run_over_what_is_done_already_changes_nothing(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember(TALK, session="s")
    await mem.remember("I live in Porto.")
    await mem.consolidate()
    before = await mem.store.content_hash(mem.scope)
    mark = await mem.store.by_key(mem.scope, "configuration:consolidation")
    assert mark is not None
    await mem.store.update(mem.scope, mark.id, {"body": {}})  # it has forgotten how far it was
    report = await mem.consolidate()
    assert report.read == len(TALK) + 1
    assert [p for p in report.proposed if p.stage != "profile"] == []
    restored = await mem.store.by_key(mem.scope, "configuration:consolidation")
    assert restored is not None
    assert restored.body["through"] > 0
    await mem.store.update(mem.scope, mark.id, {"body": mark.body})
    assert await mem.store.content_hash(mem.scope) == before


async def test_a_later_value_takes_the_place_of_an_earlier_one(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember("I live in Lisbon.")
    await mem.consolidate()
    await mem.remember("I moved to Porto.")
    report = await mem.consolidate()
    assert [(p.action, p.content) for p in report.proposed] == [
        ("supersede", "alice lives in Lisbon"),
        ("add", "alice lives in Porto"),
    ]
    assert [f.object for f in await semantic(longmind, mem).know("alice", "lives in")] == ["Porto"]
    assert await facts(mem, states=("superseded",)) == ["alice lives in Lisbon"]


async def test_each_users_facts_are_that_users(longmind: Longmind) -> None:
    await longmind.agent("a", user="alice").remember("I live in Lisbon.")
    await longmind.agent("a", user="bob").remember("I live in Rome.")
    await longmind.agent("a").remember("The capital of Ghana is Accra.")
    await longmind.agent("a", all_users=True).consolidate()
    assert await facts(longmind.agent("a", user="alice")) == ["Ghana capital Accra", "alice lives in Lisbon"]
    assert await facts(longmind.agent("a", user="bob")) == ["Ghana capital Accra", "bob lives in Rome"]
    assert (await longmind.agent("a", user="bob").consolidate()).proposed == ()


async def test_a_fact_that_was_retracted_does_not_come_back_from_the_same_words(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    stored = await mem.remember("I live in Lisbon.")
    await mem.consolidate()
    (fact,) = await semantic(longmind, mem).know("alice", "lives in")
    await semantic(longmind, mem).retract(fact, "a joke")
    await mem.update(stored.id, tags=("home",))  # the message is read again
    await mem.consolidate()
    assert await semantic(longmind, mem).know("alice", "lives in") == []


async def test_erasing_the_source_erases_what_was_made_of_it(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    stored = await mem.remember("I live in Lisbon.")
    await mem.consolidate()
    assert await facts(mem) != []
    await mem.forget(stored.id, erase=True)
    assert await facts(mem) == []


async def test_a_turn_that_waits_for_its_answer_becomes_a_page_with_it(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember([TALK[0]], session="s")
    assert (await mem.consolidate()).of("segment").added == 0
    await mem.remember([TALK[1]], session="s")
    assert (await mem.consolidate()).of("segment").added == 1
    page = next(m for m in [p async for p in mem.store.scan_all(mem.scope, Filter(kinds=("page",)))])
    assert len(page.body["turns"]) == 2


async def test_a_turn_without_an_answer_becomes_a_page_in_the_end(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    await mem.remember([TALK[0]], session="s")
    await mem.consolidate()
    face_clock.advance(timedelta(hours=2))
    await mem.remember("unrelated")
    assert (await mem.consolidate()).of("segment").added == 1


async def test_what_fades_goes_to_the_archive_when_its_time_comes(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    await mem.configure(archive_after_days=30)
    dull = await mem.remember("The bus was late.", importance=0.1)
    vital = await mem.remember("The code of the safe is with Ines.", importance=0.9)
    await mem.consolidate()
    assert (await mem.consolidate()).stages == ()
    face_clock.advance(timedelta(days=40))
    report = await mem.consolidate()
    assert [(p.stage, p.action, p.memory_id) for p in report.proposed] == [("forget", "archive", dull.id)]
    assert (await mem.get(vital.id) or dull).state == "active"
    hits = await mem.recall("bus", where={"states": ["archived"]})
    assert [hit.memory.id for hit in hits] == [dull.id]


async def test_only_a_policy_deletes(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    dull = await mem.remember("The bus was late.", importance=0.1)
    face_clock.advance(timedelta(days=4000))
    await mem.consolidate()
    assert (await mem.get(dull.id) or dull).state == "archived"
    await mem.configure(delete_archived_after_days=10)
    report = await mem.consolidate()
    assert [(p.action, p.memory_id) for p in report.proposed] == [("delete", dull.id)]
    assert await mem.get(dull.id) is None
    await mem.undo(report.id)
    assert (await mem.get(dull.id) or dull).state == "archived"


async def test_a_paused_agent_is_left_alone_until_it_is_resumed(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember("I live in Lisbon.")
    await mem.configure(consolidate_paused=True)
    report = await mem.consolidate()
    assert (report.stopped, report.proposed) == ("paused", ())
    await mem.configure(consolidate_paused=False)
    assert (await mem.consolidate()).of("extract").added == 1


async def test_a_budget_of_seconds_ends_the_day(
    longmind: Longmind, face_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cycle_module, "SLICE", 2)
    mem = longmind.agent("a")
    await mem.remember([f"The number of room {n} is {n}." for n in range(6)])
    await mem.configure(consolidate_seconds_per_day=1e-6)
    first = await mem.consolidate()
    assert (first.read, first.stopped is None) == (2, False)
    again = await mem.consolidate()
    assert (again.read, again.stopped is None) == (0, False)
    face_clock.advance(timedelta(days=1))
    assert (await mem.consolidate()).read == 2
    await mem.configure(consolidate_seconds_per_day=None)
    last = await mem.consolidate()
    assert (last.read, last.stopped) == (2, None)


async def test_slices_leave_nothing_out(longmind: Longmind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle_module, "SLICE", 3)
    mem = longmind.agent("a", user="alice")
    await mem.remember([{"role": "user", "content": f"I love apple number {n}."} for n in range(10)], session="s")
    report = await mem.consolidate()
    assert (report.read, len(await facts(mem))) == (10, 10)
    await mem.undo(report.id)
    assert await facts(mem) == []


async def test_what_another_writer_says_meanwhile_is_not_missed(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember("I live in Lisbon.")
    said: list[str] = []

    class Interrupted:
        name = "extract"

        async def propose(self, work: Any) -> None:
            if not said:
                said.append("once")
                await mem.remember("I live in Porto.", occurred_at=longmind.clock.now())
            await STAGES[1].propose(work)

    stages = tuple(Interrupted() if stage.name == "extract" else stage for stage in STAGES)
    await cycle(longmind, mem, stages=stages).run()
    assert await facts(mem) == ["alice lives in Lisbon"]
    await mem.consolidate()
    assert await facts(mem) == ["alice lives in Lisbon", "alice lives in Porto"]


async def test_of_two_runs_at_once_both_end_and_no_fact_is_twice(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember(TALK, session="s")
    other: list[Any] = []

    class Overtaken:
        name = "extract"

        async def propose(self, work: Any) -> None:
            await STAGES[1].propose(work)
            if not other:
                other.append(await mem.consolidate())

    stages = tuple(Overtaken() if stage.name == "extract" else stage for stage in STAGES)
    await cycle(longmind, mem, stages=stages).run()
    found = await facts(mem)
    assert len(found) == len(set(found)) > 0
    assert (await mem.consolidate()).proposed == ()


class Scripted:
    """An extractor that says what a test wrote for it."""

    def __init__(self, *said: Triple | Exception) -> None:
        self.said = said
        self.asked: list[Sequence[PromptText]] = []

    async def extract(self, texts: Sequence[PromptText]) -> ExtractionAnswer:
        self.asked.append(texts)
        for one in self.said:
            if isinstance(one, Exception):
                raise one
        return ExtractionAnswer(tuple(one for one in self.said if isinstance(one, Triple)), "scripted", ("extract@1",))


async def test_what_a_model_says_counts_only_if_it_quotes_the_text(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember("Since May the harbour office pays my rent.")
    script = Scripted(
        Triple(subject="I", predicate="is paid by", object="harbour office", quote="the harbour office pays", text=0),
        Triple(subject="I", predicate="lives in", object="Lisbon", quote="she lives in Lisbon", text=0),
        Triple(subject="I", predicate="likes", object="tea", quote="rent", text=7),
    )
    report = await cycle(longmind, mem, extractor=script).run()
    assert await facts(mem) == ["alice is paid by harbour office"]
    assert report.of("extract").rejected == {"quote": 1, "unsupported": 1}
    assert report.of("extract").calls == 1


async def test_without_its_model_the_cycle_goes_on_by_rules(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember("I live in Lisbon.")
    report = await cycle(longmind, mem, extractor=Scripted(ModelUnavailable("It is asleep."))).run()
    assert await facts(mem) == ["alice lives in Lisbon"]
    assert "asleep" in (report.of("extract").failed or "")


async def test_a_budget_of_calls_is_kept(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    settings = AgentSettings(consolidate_calls_per_day=1)
    for turn in range(3):
        await mem.remember(f"Nothing much, number {turn}.")
        script = Scripted()
        await cycle(longmind, mem, extractor=script, settings=settings).run()
        assert len(script.asked) == (1 if turn == 0 else 0)


async def test_recalled_text_is_never_given_to_a_model(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember("I live in Lisbon.", metadata={"recalled": True})
    await mem.remember("Hello.")
    script = Scripted()
    await cycle(longmind, mem, extractor=script).run()
    assert [[text.content for text in texts] for texts in script.asked] == [["Hello."]]


async def test_rules_of_semantic_memory_are_applied_to_what_is_new(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    scoped = semantic(longmind, mem)
    await scoped.declare("capital", relates=True)
    await scoped.declare("seat of", relates=True, many=True)
    await scoped.rule(
        "seat", "A capital is the seat of its country.", when=[("?x", "capital", "?y")], then=("?y", "seat of", "?x")
    )
    await mem.remember("The capital of Ghana is Accra.")
    report = await mem.consolidate()
    distilled = [p for p in report.proposed if p.stage == "distill" and p.kind == "fact"]
    assert [p.content for p in distilled] == ["Accra seat of Ghana"]
    assert (await mem.consolidate()).proposed == ()


async def test_the_summary_of_a_talk_grows_with_it(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember(
        [{"role": "user", "content": f"The harbour museum opens room {n} in spring."} for n in range(4)], session="s"
    )
    await mem.consolidate()
    (first,) = [m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("summary",))) if m.content]
    assert first.content.startswith("The harbour museum opens")
    await mem.remember(
        [{"role": "user", "content": "The tide clock exhibition of the harbour museum moves to Porto."}], session="s"
    )
    report = await mem.consolidate()
    assert [p.action for p in report.proposed if p.stage == "summarise"] == ["change"]
    (second,) = [m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("summary",))) if m.content]
    assert second.id == first.id
    assert second.body["turns"] == 5


async def test_hot_topics_tell_who_the_user_is(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    lines = []
    for n in range(16):
        lines.append({"role": "user", "content": f"I love pottery glaze number {n}, the pottery wheel and the kiln!"})
        lines.append({"role": "assistant", "content": "The pottery wheel and the kiln are wonderful, the glaze too."})
    await mem.remember(lines, session="s")
    report = await mem.consolidate()
    kinds = {p.kind for p in report.proposed if p.stage == "profile"}
    assert {"trait", "knowledge"} <= kinds
    knowledge = [p.content for p in report.proposed if p.kind == "knowledge"]
    assert any(text.startswith("alice likes pottery glaze") for text in knowledge)


async def test_a_rule_of_the_agent_is_applied_for_each_user_apart(longmind: Longmind) -> None:
    agent, ann, bob = longmind.agent("a"), longmind.agent("a", user="ann"), longmind.agent("a", user="bob")
    takes, ails = ("?x", "takes", "insulin"), ("?x", "suffers from", "diabetes")
    await agent.semantic.rule("care", "Who takes insulin has diabetes.", when=[takes], then=ails)
    await ann.semantic.learn("Ann", "takes", "insulin")
    await longmind.agent("a", all_users=True).consolidate()
    (known,) = await ann.semantic.know("Ann", "suffers from")
    assert (known.object, known.user) == ("diabetes", "ann")
    assert [m.content for m in (await bob.list(kinds=["fact"])).items] == []


async def test_a_turn_whose_answer_is_in_the_next_slice_is_in_a_page_with_it(
    longmind: Longmind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cycle_module, "SLICE", 1)
    mem = longmind.agent("a", user="alice")
    stored = await mem.remember(TALK[:2], session="s")
    report = await mem.consolidate()
    assert report.read == 2
    (page,) = [p async for p in mem.store.scan_all(mem.scope, Filter(kinds=("page",)))]
    assert [turn["memory"] for turn in page.body["turns"]] == [one.id for one in stored]


async def test_a_last_turn_becomes_a_page_though_nothing_else_is_written(
    longmind: Longmind, face_clock: FakeClock
) -> None:
    mem = longmind.agent("a")
    await mem.remember([TALK[0]], session="s")
    await mem.consolidate()
    assert (await mem.consolidate()).stages == (), "it is too early"
    face_clock.advance(timedelta(hours=2))
    assert (await mem.consolidate()).of("segment").added == 1
    assert (await mem.consolidate()).stages == ()


async def test_what_is_forgotten_while_it_is_read_is_left_out(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    gone = await mem.remember("I live in Lisbon.")
    await mem.remember("I like green tea.")

    class Forgetful:
        name = "segment"

        async def propose(self, work: Work) -> None:
            await mem.forget(gone.id)

    report = await cycle(longmind, mem, stages=(Forgetful(), *STAGES[1:])).run()
    assert [p.content for p in report.proposed if p.stage == "extract"] == ["alice likes green tea"]


async def test_a_policy_of_more_days_than_a_calendar_has_keeps_everything(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.configure(archive_after_days=1e9, delete_archived_after_days=1e9)
    await mem.remember("The bus was late.", importance=0.1)
    assert (await mem.consolidate()).of("forget").archived == 0
    assert (await mem.consolidate()).stages == ()
