"""Lessons: what those that succeeded had and those that failed had not, on every backend."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from longmind import Longmind
from longmind.errors import InvalidInput
from longmind.systems.episodic import Account, EpisodicMemory, LessonDraft
from longmind.systems.episodic.lessons import Case, cases_of, lessons_of


async def deploy(episodic: EpisodicMemory, number: int, *, tested: bool, succeeded: bool) -> str:
    async with episodic.episode(f"Deploy the shop, try {number}", attributes={"size": number * 5 % 7}) as running:
        await running.record("Built the image", type="build", data={"tool": "docker"})
        if tested:
            await running.record("Ran the tests on staging", type="test", actor="Ann")
        await running.record("Switched the traffic", type="switch", data={"region": "eu" if number % 2 else "us"})
        running.conclude("succeeded" if succeeded else "failed", "" if succeeded else f"Rolled back {number}")
    return running.id


async def test_lessons_contrast_what_succeeded_with_what_failed(episodic: EpisodicMemory) -> None:
    good = [await deploy(episodic, n, tested=True, succeeded=True) for n in range(6)]
    odd = await deploy(episodic, 6, tested=True, succeeded=False)
    bad = [await deploy(episodic, n, tested=False, succeeded=False) for n in range(7, 12)]
    async with episodic.episode("Water the plants") as other:
        await other.record("Ran the tap", type="test")
        other.conclude("failed")
    open_one = await episodic.start("Deploy the shop, unfinished")

    found = await episodic.lessons("deploy the shop")
    assert set(found.considered) == {*good, *bad, odd}
    assert open_one.id not in found.considered
    assert (found.succeeded, found.failed) == (6, 6)
    best = found.lessons[0]
    assert (best.subject, best.advice) == ("event:test", "do")
    counts = (best.succeeded_with, best.failed_with, best.succeeded_without, best.failed_without)
    assert counts == (6, 1, 0, 5)
    assert set(best.episodes) == {*good, *bad}
    assert best.against == (odd,)
    assert best.lift == pytest.approx(6 / 7 / 0.5, abs=1e-4)
    assert best.odds_ratio == pytest.approx(6.5 * 5.5 / (1.5 * 0.5), abs=1e-4)
    assert 0.95 < best.confidence < 1
    assert "6 of 7 succeeded; without, 0 of 5" in best.statement
    assert "Ann acting" in best.statement, "what always occurs together is told together"
    assert not any(lesson.subject in ("event:build", "data:tool=docker") for lesson in found.lessons), "all had it"
    assert not any(lesson.subject.startswith("data:region") for lesson in found.lessons), "it made no difference"
    assert {remark.episode for remark in found.remarks} <= {*bad, odd}
    assert all(remark.note.startswith("Rolled back") for remark in found.remarks)


async def test_the_same_episodes_teach_the_same(episodic: EpisodicMemory) -> None:
    for n in range(4):
        await deploy(episodic, n, tested=n % 2 == 0, succeeded=n % 2 == 0)
    assert await episodic.lessons("deploy shop", confidence=0.5) == await episodic.lessons(
        "deploy shop", confidence=0.5
    )


async def test_where_all_came_out_alike_there_is_no_lesson(episodic: EpisodicMemory) -> None:
    for n in range(4):
        await deploy(episodic, n, tested=n % 2 == 0, succeeded=True)
    found = await episodic.lessons("deploy the shop")
    assert (found.succeeded, found.failed, found.lessons) == (4, 0, ())
    nothing = await episodic.lessons("something nobody ever did xyzzy")
    assert (nothing.considered, nothing.lessons) == ((), ())
    with pytest.raises(InvalidInput, match="task"):
        await episodic.lessons("  ")
    with pytest.raises(InvalidInput, match="0 to 1"):
        await episodic.lessons("deploy", confidence=2)


class Scripted:
    """A teacher that proposes what a test gives it."""

    def __init__(self, *quotes: str) -> None:
        self.quotes = quotes
        self.read: Sequence[Account] = ()

    async def lessons(self, task: str, accounts: Sequence[Account]) -> Sequence[LessonDraft]:
        self.read = accounts
        ids = (accounts[0].episode.id,)
        foreign = LessonDraft(statement="From nowhere", episodes=("elsewhere",), quote="Built")
        return [*(LessonDraft(statement=f"About {q}", episodes=ids, quote=q) for q in self.quotes), foreign]


async def test_a_lesson_of_a_model_counts_only_if_what_it_quotes_is_there(episodic: EpisodicMemory) -> None:
    await deploy(episodic, 1, tested=True, succeeded=True)
    teacher = Scripted("Ran the tests on staging", "The moon was full")
    found = await episodic.lessons("deploy the shop", teacher=teacher)
    assert [(lesson.statement, lesson.by_model) for lesson in found.lessons] == [
        ("About Ran the tests on staging", True)
    ]
    assert found.rejected == 2
    assert len(teacher.read) == 1


def case(id: str, succeeded: bool, *traits: str) -> Case:
    return Case(id, succeeded, frozenset(f"tag:{trait}" for trait in traits))


def test_certainty_grows_with_the_number_of_episodes() -> None:
    def surest(n: int) -> float:
        cases = [case(f"s{i}", True, "a") for i in range(n)] + [case(f"f{i}", False) for i in range(n)]
        return lessons_of(cases, confidence=0)[0].confidence

    sure = [surest(n) for n in (2, 4, 8, 16, 64)]
    assert sure == sorted(sure)
    assert sure[0] < 0.95 < sure[-1] < 1.0001


def test_what_goes_with_failure_is_to_be_avoided_and_no_difference_is_no_lesson() -> None:
    cases = [case(f"s{i}", True, "x") for i in range(5)] + [case(f"f{i}", False, "x", "late") for i in range(5)]
    found = lessons_of(cases)
    assert [(lesson.subject, lesson.advice, lesson.lift) for lesson in found] == [("tag:late", "avoid", 0.0)]
    mixed = [case(f"{i}", i % 2 == 0, *(["x"] if i % 4 < 2 else [])) for i in range(40)]
    assert lessons_of(mixed, confidence=0.8) == []
    assert lessons_of([], confidence=0) == []


async def test_numbers_are_compared_by_halves(episodic: EpisodicMemory) -> None:
    told = []
    for n in range(8):
        begun = await episodic.start(f"Try {n}", attributes={"size": n, "urgent": True})
        done = await episodic.finish(begun.id, "succeeded" if n < 4 else "failed")
        told.append((done, ()))
    found = lessons_of(cases_of(told))
    assert [(lesson.subject, lesson.advice) for lesson in found] == [("attribute:size<3.5", "do")]


WENT_WELL = (
    "Checked the oven temperature with a thermometer. The loaf rose well.",
    "We measured how hot the oven really was using a thermometer. Baked for fifty minutes.",
    "Used an oven thermometer first to check the heat. Nice crust. Rain outside.",
    "The thermometer showed the oven was too cold, so I waited. Came out golden.",
    "Measured the heat of the oven with the thermometer, then baked. The kitchen was tidy.",
    "Put a thermometer in the oven and checked the temperature. Sold out by noon.",
)
WENT_WRONG = (
    "Put the dough straight into the oven. The crumb was wet inside.",
    "Did not check the oven temperature with a thermometer. Burnt at the bottom.",
    "Opened the oven door twice while baking. It collapsed.",
    "Baked at once without a thermometer. Pale and flat.",
    "In a hurry, trusted the dial. Nobody ate it.",
    "Used old flour. The loaf stayed flat. Rain outside.",
)


async def _bake(episodic: EpisodicMemory) -> None:
    for day, (well, wrong) in enumerate(zip(WENT_WELL, WENT_WRONG, strict=True)):
        async with episodic.episode(f"Baking the bread, day {day}", description=well) as baked:
            baked.conclude("succeeded")
        async with episodic.episode(f"Baking the bread again, day {day}", description=wrong) as baked:
            baked.conclude("failed")


async def test_free_text_teaches_what_was_done_in_other_words() -> None:
    async with Longmind.open("memory:", embedder="static") as longmind:
        episodic = longmind.agent("baker").episodic
        await _bake(episodic)
        (lesson,) = (await episodic.lessons("bake bread")).lessons
    assert "thermometer" in lesson.statement
    assert lesson.advice == "do"
    assert lesson.succeeded_with >= 4
    assert lesson.failed_with == 0, "a negation is not the same deed"


async def test_chance_in_free_text_teaches_nothing(episodic: EpisodicMemory) -> None:
    for day in range(12):
        weather = "It rained outside all day." if day in (1, 2, 4) else f"Visitor number {day} came by."
        async with episodic.episode(f"Baking the bread, day {day}", description=weather) as baked:
            baked.conclude("succeeded" if day % 2 else "failed")
    assert (await episodic.lessons("bake bread")).lessons == ()


async def test_calls_are_compared_by_what_was_called_and_not_by_what_came_of_it(episodic: EpisodicMemory) -> None:
    for number in range(8):
        solved = number % 2 == 0
        async with episodic.episode(f"The printer prints blank pages, ticket {number}") as running:
            args = {"fix": "renew_certificate" if solved else "change_port"}
            outcome = {"ok": True, "result": "Solved."} if solved else {"ok": False, "error": "It changed nothing."}
            data = {"tool": "apply_fix", "args": args, **outcome}
            await running.record(f"apply_fix({args}) -> {outcome}", type="call", actor="apply_fix", data=data)
            await running.record("Solved." if solved else "It could not be solved.", type="answer")
            running.conclude("succeeded" if solved else "failed")
    found = await episodic.lessons("the printer prints blank pages")
    assert [lesson.subject for lesson in found.lessons] == ["call:apply_fix(fix=change_port)"]
    assert found.lessons[0].advice == "avoid"
    assert "result" not in found.lessons[0].statement
