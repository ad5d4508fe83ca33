"""The stage ``distill`` on every backend: procedures of what went well, lessons of what did not."""

from __future__ import annotations

from typing import Any

import pytest

from longmind import Longmind
from longmind.consolidate.runs import consolidate
from longmind.consolidate.stages import distill
from longmind.memory import AgentMemory
from longmind.testing import ScriptedModel
from longmind.types import ConsolidationReport, Filter, Memory


async def episode(
    mem: AgentMemory,
    title: str,
    calls: list[tuple[str, dict[str, Any], Any]],
    outcome: Any = "succeeded",
    note: str = "",
) -> str:
    begun = await mem.episodic.start(title)
    for tool, args, result in calls:
        data = {"tool": tool, "args": args, "result": result}
        await mem.episodic.record(begun.id, f"called {tool}", type="call", data=data)
    await mem.episodic.finish(begun.id, outcome, note=note)
    return begun.id


async def booked(mem: AgentMemory, city: str, outcome: Any = "succeeded", note: str = "") -> str:
    return await episode(
        mem,
        f"Book a train ticket to {city}",
        [("find_train", {"to": city}, {"id": f"train-{city}"}), ("book_seat", {"train": f"train-{city}"}, "booked")],
        outcome,
        note,
    )


async def lessons(mem: AgentMemory, **where: Any) -> list[Memory]:
    chosen = Filter(kinds=("reflection",), tags_any=("lesson",), **where)
    return [m async for m in mem.store.scan_all(mem.scope, chosen)]


def distilled(report: ConsolidationReport, kind: str) -> list[tuple[str, str]]:
    return [(p.action, p.memory_id) for p in report.proposed if (p.stage, p.kind) == ("distill", kind)]


async def test_what_went_well_three_times_in_the_same_way_becomes_a_procedure(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    ids = [await booked(mem, city) for city in ("Porto", "Braga", "Faro")]
    dry = await mem.consolidate(dry_run=True)
    assert len(distilled(dry, "procedure")) == 1
    report = await mem.consolidate()
    ((action, id),) = distilled(report, "procedure")
    (version,) = (await mem.procedural.list()).items
    assert (action, id) == ("add", version.id)
    assert [(step.use, dict(step.args)) for step in version.procedure.steps] == [
        ("find_train", {"to": "{{ params.to }}"}),
        ("book_seat", {"train": "{{ steps.find_train.id }}"}),
    ]
    assert version.procedure.category == "distilled"
    assert "3 of 3 successful episodes" in version.why
    links = await mem.store.links(mem.scope, [version.id], relation="derived_from", direction="out")
    assert {link.target for link in links} == set(ids)
    assert (await mem.procedural.check(version.name)).passed


async def test_it_is_made_once_grows_by_versions_and_can_be_taken_back(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    for city in ("Porto", "Braga", "Faro"):
        await booked(mem, city)
    first = await mem.consolidate()
    await mem.remember("Nothing to do with it.")
    assert distilled(await mem.consolidate(), "procedure") == []
    pay = ("pay", {"by": "card"}, "paid")
    for city in ("Evora", "Beja", "Sines", "Tomar"):
        calls = [
            ("find_train", {"to": city}, {"id": f"t-{city}"}),
            ("book_seat", {"train": f"t-{city}"}, "booked"),
            pay,
        ]
        await episode(mem, f"Book a train ticket to {city}", calls)
    report = await mem.consolidate()
    assert [action for action, _ in distilled(report, "procedure")] == ["change"]
    (version,) = (await mem.procedural.list()).items
    assert (version.number, [step.use for step in version.procedure.steps]) == (2, ["find_train", "book_seat", "pay"])
    await mem.undo(report.id)
    (version,) = (await mem.procedural.list()).items
    assert version.number == 1
    assert len(await mem.procedural.versions(version.name)) == 1
    assert first.id != report.id


async def test_what_somebody_changed_or_deleted_is_left_as_it_is(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    for city in ("Porto", "Braga", "Faro"):
        await booked(mem, city)
    await mem.consolidate()
    (version,) = (await mem.procedural.list()).items
    changed = version.procedure.model_copy(update={"purpose": "My own way."})
    await mem.procedural.store(changed)
    await booked(mem, "Evora")
    assert distilled(await mem.consolidate(), "procedure") == []
    assert (await mem.procedural.retrieve(version.name)).procedure.purpose == "My own way."
    await mem.procedural.delete(version.name)
    await booked(mem, "Beja")
    await mem.consolidate()
    assert (await mem.procedural.list()).items == ()


async def test_too_little_too_different_too_short_or_failed_makes_none(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await booked(mem, "Porto")
    await booked(mem, "Braga")
    await booked(mem, "Faro", "failed")
    for n in range(3):
        await episode(mem, f"Water the garden bed {n}", [("water", {"bed": n}, "wet")])
    report = await mem.consolidate()
    assert distilled(report, "procedure") == []
    assert (await mem.procedural.list()).items == ()


async def test_calls_that_no_step_can_make_are_counted_and_nothing_fails(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    for city in ("Porto", "Braga", "Faro"):
        await episode(mem, f"Book a ticket to {city}", [("find train!", {}, 1), ("book seat!", {}, 2)])
    report = await mem.consolidate()
    assert report.of("distill").rejected == {"invalid": 1}


async def test_failures_teach_what_they_have_in_common(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    for n in range(4):
        begun = await mem.episodic.start(f"Deploy the web service number {n}", attributes={"tested": True})
        await mem.episodic.record(begun.id, "ran the tests", type="test")
        await mem.episodic.finish(begun.id, "succeeded")
    failed = []
    for n in range(4):
        begun = await mem.episodic.start(f"Deploy the web service on day {n}", attributes={"tested": False})
        await mem.episodic.finish(begun.id, "failed", note="The tests had not run.")
        failed.append(begun.id)
    report = await mem.consolidate()
    found = await lessons(mem)
    assert {"do", "avoid"} >= {memory.body["advice"] for memory in found}
    assert any("succeeded" in memory.content for memory in found)
    noted = next(memory for memory in found if memory.content.startswith("Noted when it failed"))
    assert "The tests had not run." in noted.content
    links = await mem.store.links(mem.scope, [noted.id], relation="derived_from", direction="out")
    assert {link.target for link in links} == set(failed)
    assert {memory.id for memory in found} <= {id for _, id in distilled(report, "reflection")}
    await mem.remember("Something else.")
    assert distilled(await mem.consolidate(dry_run=True), "reflection") == []
    await mem.undo(report.id)
    assert await lessons(mem) == []


async def test_a_lesson_that_no_longer_holds_goes_to_the_archive_and_may_come_back(longmind: Longmind) -> None:
    mem = longmind.agent("a")

    async def deploy(tested: bool, outcome: Any, n: int) -> None:
        begun = await mem.episodic.start(f"Deploy the web service {n}", attributes={"tested": tested})
        await mem.episodic.finish(begun.id, outcome)

    for n in range(4):
        await deploy(True, "succeeded", n)
        await deploy(False, "failed", n)
    await mem.consolidate()
    (lesson,) = await lessons(mem)
    for n in range(4, 8):
        await deploy(True, "failed", n)
        await deploy(False, "succeeded", n)
    report = await mem.consolidate()
    assert await lessons(mem) == []
    assert ("archive", lesson.id) in distilled(report, "reflection")
    for n in range(8, 20):
        await deploy(True, "succeeded", n)
        await deploy(False, "failed", n)
    await mem.consolidate()
    assert [memory.id for memory in await lessons(mem)] == [lesson.id]


async def test_a_kind_of_task_stays_one_when_its_first_episodes_are_gone_over_no_more(
    longmind: Longmind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distill, "_MOST", 4)
    mem = longmind.agent("a", user="alice")
    for city in ("Porto", "Braga", "Faro", "Lagos", "Evora", "Sines", "Tomar", "Beja", "Elvas"):
        await booked(mem, city)
        await mem.consolidate()
    reflections = [m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("reflection",)))]
    assert (len(reflections), len((await mem.procedural.list()).items)) == (1, 1)
    assert len(reflections[0].body["episodes"]) == 4


async def test_a_lesson_that_somebody_put_aside_stays_so_and_stops_nothing(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    for city in ("Porto", "Braga", "Faro"):
        await booked(mem, city, "failed", note="no seats")
    await mem.consolidate()
    (lesson,) = await lessons(mem)
    aside = await mem.update(lesson.id, state="quarantined")
    await booked(mem, "Lagos", "failed", note="no seats")
    await mem.consolidate()
    assert await mem.get(lesson.id) == aside


async def test_a_procedure_is_named_by_what_its_episodes_are_called(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    for city in ("Oslo", "Lyon", "Graz", "Bern"):
        await booked(mem, city)
    await mem.consolidate()
    assert [version.name for version in (await mem.procedural.list()).items] == ["book-a-train-ticket"]


async def test_a_procedure_whose_episodes_share_no_words_is_named_by_its_steps(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    for title in ("No picture in the morning", "Scanner vanished", "Blank pages again", "Mailbox says full"):
        await episode(mem, title, [("diagnose", {"area": "device"}, "found"), ("apply_fix", {"fix": "reset"}, "done")])
    await mem.consolidate()
    assert [version.name for version in (await mem.procedural.list()).items] == ["diagnose-then-apply-fix"]


async def test_a_taken_name_gets_a_number(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    step = {"name": "go", "use": "go"}
    await mem.procedural.store({"name": "book-a-train-ticket", "purpose": "Mine", "steps": [step]})
    for city in ("Oslo", "Lyon", "Graz", "Bern"):
        await booked(mem, city)
    await mem.consolidate()
    names = {version.name for version in (await mem.procedural.list()).items}
    assert names == {"book-a-train-ticket", "book-a-train-ticket-2"}


async def test_free_text_teaches_in_the_cycle() -> None:
    wordings = ("Made a backup of the database first.", "Took a database backup before we began.")
    async with Longmind.open("memory:", embedder="static") as longmind:
        mem = longmind.agent("a")
        for day in range(6):
            with_backup = {"title": f"Deploying the shop, night {day}", "description": wordings[day % 2]}
            wrong = ("Went straight ahead.", "Skipped the backup of the database.", "Was tired.")[day % 3]
            without = {"title": f"Deploying the shop, night {day}, second try", "description": wrong}
            await mem.manager.store_experience(with_backup | {"outcome": "succeeded"})
            await mem.manager.store_experience(without | {"outcome": "failed"})
        await mem.consolidate()
        statements = [memory.content for memory in await lessons(mem)]
    assert any("backup" in statement and "6 of 6 succeeded" in statement for statement in statements), statements


async def test_a_model_teaches_only_what_an_episode_shows(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    for n in range(3):
        await episode(mem, f"Repair the pump, visit {n}", [], "failed" if n else "succeeded", note="The seal was dry.")
    script = ScriptedModel(
        {"points": []},
        {
            "lessons": [
                {"statement": "Grease the seal of the pump.", "advice": "do", "quote": "The seal was dry.", "text": 0},
                {"statement": "Call the maker of the pump.", "advice": "do", "quote": "nobody said this", "text": 0},
                {"statement": "Bring an umbrella.", "advice": "do", "quote": "The seal was dry.", "text": 1},
            ]
        },
    )
    settings = await mem.configuration()
    await consolidate(longmind.store, mem.scope, settings, longmind.embedding.embed, chat=script.chat())
    taught = [memory for memory in await lessons(mem) if memory.body.get("model")]
    assert [memory.content for memory in taught] == ["Grease the seal of the pump."]
    assert taught[0].body["quote"] == "The seal was dry."
    await mem.episodic.start("Something else")
    await consolidate(longmind.store, mem.scope, settings, longmind.embedding.embed, chat=script.chat())
    assert len(script.requests) == 2, "episodes that did not grow are not read again"
    assert len([memory for memory in await lessons(mem) if memory.body.get("model")]) == 1


async def reflections(mem: AgentMemory) -> list[Memory]:
    """Return the reflections that summarise episodes which are alike."""
    found = (await mem.list(kinds=["reflection"], limit=100)).items
    return [memory for memory in found if "lesson" not in memory.tags]


async def test_a_model_summarises_episodes_only_in_sentences_that_quote_one(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    for n in range(3):
        await episode(mem, f"Repair the pump, visit {n}", [], "failed" if n else "succeeded", note="The seal was dry.")
    points = [
        {"statement": "The seal of the pump is often dry.", "quote": "The seal was dry.", "text": 0},
        {"statement": "The pump has a leak.", "quote": "it leaked", "text": 0},
    ]
    script = ScriptedModel({"points": points}, {"lessons": []}, {"points": []}, {"lessons": []})
    settings, embed = await mem.configuration(), longmind.embedding.embed
    report = await consolidate(longmind.store, mem.scope, settings, embed, chat=script.chat())
    (told,) = await reflections(mem)
    assert told.content == "The seal of the pump is often dry."
    assert told.body["retold"]["model"] == "scripted/model"
    assert told.body["retold"]["episodes"] == 3
    assert set(told.body["retold"]["quoted"]) <= set(told.body["episodes"])
    stage = next(stage for stage in report.stages if stage.stage == "distill")
    assert dict(stage.rejected) == {"quote": 1}
    await mem.episodic.start("Something else")
    await consolidate(longmind.store, mem.scope, settings, embed, chat=script.chat())
    assert (await reflections(mem))[0].content == told.content
    assert len(script.requests) == 2, "episodes that did not grow are not read again"
    await episode(mem, "Repair the pump, visit 3", [], "failed", note="The seal was dry.")
    await consolidate(longmind.store, mem.scope, settings, embed, chat=script.chat())
    (by_rules,) = await reflections(mem)
    assert by_rules.body["retold"]["quoted"] == []
    assert "4" in by_rules.content, "nothing the model said holds, so what rules made stays"


async def test_a_model_that_cannot_be_asked_leaves_the_summary_of_the_rules(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    for n in range(3):
        await episode(mem, f"Repair the pump, visit {n}", [], "failed" if n else "succeeded", note="The seal was dry.")
    await mem.consolidate()
    (by_rules,) = await reflections(mem)
    await mem.configure(consolidate_calls_per_day=0)
    settings, embed = await mem.configuration(), longmind.embedding.embed
    point = {"statement": "The seal of the pump is often dry.", "quote": "The seal was dry.", "text": 0}
    script = ScriptedModel({"points": [point]}, {"lessons": []})
    await mem.episodic.start("Something else")
    await consolidate(longmind.store, mem.scope, settings, embed, chat=script.chat())
    assert (await reflections(mem))[0].content == by_rules.content
    settings = settings.model_copy(update={"consolidate_calls_per_day": None})
    await mem.episodic.start("Something more")
    await consolidate(longmind.store, mem.scope, settings, embed, chat=script.chat())
    (told,) = await reflections(mem)
    assert (told.id, told.content) == (by_rules.id, "The seal of the pump is often dry.")
