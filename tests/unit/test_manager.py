"""The manager over all memory systems, on every backend."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from longmind import AgentMemory, Filter, Hit, Longmind
from longmind.consolidate.rules.extraction import extract_memories
from longmind.errors import (
    Conflict,
    InvalidInput,
    LongmindError,
    NotFound,
    OperationMismatch,
    StoreUnavailable,
)
from longmind.manager import MemoryManager
from longmind.recall.policy import RecallPlan
from longmind.recall.query import Query
from longmind.systems.episodic import Episode, Event
from longmind.systems.persona import Trait
from longmind.systems.procedural import Run, Version
from longmind.systems.semantic import Concept, Fact, Learned, SemanticMemory
from longmind.systems.working import Item
from longmind.types import Memory, Source

BUILT_IN = (
    "working", "episodic", "semantic", "procedural", "goals", "persona", "dialogue", "shared", "remembered",
)  # fmt: skip
MAY = datetime(2025, 5, 1, 9, tzinfo=UTC)
TRIP = {
    "title": "Moving to Lisbon",
    "type": "move",
    "start": MAY,
    "end": MAY + timedelta(hours=8),
    "outcome": "succeeded",
    "note": "The van was large enough.",
    "events": [
        "Packed the boxes",
        {"what": "Unpacked the boxes", "type": "unpack", "at": MAY + timedelta(hours=7), "actor": "alice"},
        {"what": "Drove south", "at": MAY + timedelta(hours=2), "duration": timedelta(hours=4)},
    ],
    "messages": [{"role": "user", "content": "We arrived safely in Lisbon."}, "The flat has a balcony."],
    "facts": [["Alice", "lives in", "Lisbon"], {"subject": "Alice", "predicate": "rent", "object": 900}],
    "text": "Alice adopted a cat called Miro.",
}
GREET = {
    "name": "greet",
    "purpose": "Greet a person politely.",
    "parameters": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
    "steps": [{"name": "say", "use": "say", "args": {"who": "{{ params.who }}"}}],
}


@pytest.fixture
def mem(longmind: Longmind) -> AgentMemory:
    @longmind.tool
    def say(who: str) -> str:
        """Say hello."""
        if who == "nobody":
            raise RuntimeError("nobody is there")
        return f"hello {who}"

    return longmind.agent("assistant", user="alice")


class Notes:
    """A memory system of a user's: texts by key, outside the store."""

    name = "notes"

    def __init__(self, mem: AgentMemory, score: float = 0.5) -> None:
        self._mem = mem
        self._score = score
        self.kept: dict[str, Memory] = {}

    async def store(self, data: Any) -> Memory:
        self.kept[data["key"]] = made = self._mem.scoped.new("note", data["content"])
        return made

    async def retrieve(self, key: str) -> Memory | None:
        return self.kept.get(key)

    async def search(self, query: str, k: int) -> list[Hit]:
        found = [m for m in self.kept.values() if any(word in m.content for word in query.split())]
        return [Hit(memory=m, score=self._score, why="in the notes") for m in found][:k]


class Plain(Notes):
    """The same, written without a single await."""

    name = "plain"

    def store(self, data: Any) -> Memory:  # type: ignore[override]
        self.kept[data["key"]] = made = self._mem.scoped.new("note", data["content"])
        return made

    def retrieve(self, key: str) -> Memory | None:  # type: ignore[override]
        return self.kept.get(key)

    def search(self, query: str, k: int) -> list[Hit]:  # type: ignore[override]
        return [Hit(memory=m, score=self._score, why="in the notes") for m in self.kept.values()][:k]


class Broken:
    """A system of which nothing works."""

    name = "broken"

    def __init__(self, answer: Callable[[], Any]) -> None:
        self._answer = answer

    async def store(self, data: Any) -> Any:
        return self._answer()

    async def retrieve(self, key: str) -> Any:
        return self._answer()

    async def search(self, query: str, k: int) -> Any:
        return self._answer()


def fails() -> Any:
    raise ValueError("the shelf fell down")


# -- registration ------------------------------------------------------------------------------------------------


async def test_the_built_in_systems_are_registered(mem: AgentMemory) -> None:
    assert mem.manager.names == BUILT_IN
    assert mem.manager is mem.manager


async def test_a_name_is_registered_once_and_can_be_given_up(mem: AgentMemory) -> None:
    notes = Notes(mem)
    mem.manager.register(notes)
    assert mem.manager.names == (*BUILT_IN, "notes")
    with pytest.raises(Conflict, match="'notes' already"):
        mem.manager.register(Notes(mem))
    mem.manager.unregister("notes")
    assert mem.manager.names == BUILT_IN
    mem.manager.register(notes)


async def test_what_is_no_memory_system_is_refused(mem: AgentMemory) -> None:
    class Searches:
        name = "searches"

        async def search(self, query: str, k: int) -> list[Hit]:
            return []

    with pytest.raises(InvalidInput, match="lacks store, retrieve"):
        mem.manager.register(Searches())  # type: ignore[arg-type]
    bad = Notes(mem)
    bad.name = " "
    with pytest.raises(InvalidInput, match="name"):
        mem.manager.register(bad)
    bad.name = "semantic"
    with pytest.raises(Conflict, match="another name"):
        mem.manager.register(bad)
    with pytest.raises(InvalidInput, match="built in"):
        mem.manager.unregister("working")


async def test_an_unknown_name_says_which_there_are_and_nothing_is_stored(mem: AgentMemory) -> None:
    with pytest.raises(NotFound, match=r"'notez'.*working, episodic"):
        await mem.manager.store("A text", into=["remembered", "notez"])
    for ask in (mem.manager.retrieve, mem.manager.search):
        with pytest.raises(NotFound, match="notez"):
            await ask("x", systems="notez")
    with pytest.raises(NotFound):
        mem.manager.unregister("notez")
    with pytest.raises(InvalidInput, match="No memory system"):
        await mem.manager.store("A text", into=[])
    assert (await mem.stats()).memories == 0


async def test_a_system_may_keep_its_memories_in_the_store_and_recall_finds_them(mem: AgentMemory) -> None:
    class Recipes(Notes):
        name = "recipes"
        kinds = ("recipe",)

        async def store(self, data: Any) -> Memory:
            return await mem.store.put(mem.scope, mem.scoped.new("recipe", data["content"], key=data["key"]))

        async def retrieve(self, key: str) -> Memory | None:
            return await mem.store.by_key(mem.scope, key)

        async def search(self, query: str, k: int) -> list[Hit]:
            raise AssertionError("recall answers in its place")

    recipes = Recipes(mem)
    mem.manager.register(recipes)
    await mem.manager.store({"key": "soup", "content": "Tomato soup with basil"}, into="recipes")
    await mem.manager.store("Tomatoes grow in the garden", into="remembered")
    found = await mem.manager.search("tomato soup")
    assert [hit.system for hit in found.hits] == ["recipes", "remembered"]
    assert [hit.system for hit in (await mem.manager.search("tomato", systems="recipes")).hits] == ["recipes"]
    assert set((await mem.manager.retrieve("soup")).by_system) == {"recipes"}
    rival = Recipes(mem)
    rival.name = "cookbook"
    with pytest.raises(Conflict, match="belong to 'recipes'"):
        mem.manager.register(rival)


# -- store and retrieve ------------------------------------------------------------------------------------------


async def test_one_thing_goes_to_many_systems(mem: AgentMemory) -> None:
    told = {"subject": "Alice", "predicate": "lives in", "object": "Lisbon", "key": "home", "importance": 0.9}
    stored = await mem.manager.store(told, into=["semantic", "working", "remembered", "episodic"])
    assert stored.check() is stored
    assert stored.stored["semantic"].fact.object == "Lisbon"
    assert stored.stored["working"].item.key == "home"
    assert stored.stored["remembered"].content == "Alice lives in Lisbon"
    assert stored.stored["remembered"].importance == 0.9
    assert stored.stored["episodic"].title == "Alice lives in Lisbon"
    assert [fact.object for fact in await mem.semantic.know("Alice", "lives in")] == ["Lisbon"]
    assert [item.content for item in await mem.working.items()] == ["Alice lives in Lisbon"]


@pytest.mark.parametrize(
    ("into", "data", "key", "type_"),
    [
        ("working", {"key": "plan", "content": "Call the hotel"}, "plan", Item),
        ("semantic", {"name": "Lisbon", "category": "city"}, "Lisbon", Concept),
        ("procedural", GREET, "greet", Version),
        ("episodic", {"title": "A walk", "key": "walk"}, "walk", Episode),
        ("persona", {"dimension": "patience", "value": "high"}, "patience", Trait),
    ],
)
async def test_what_a_system_stores_is_retrieved_by_key(
    mem: AgentMemory, into: str, data: dict[str, Any], key: str, type_: type
) -> None:
    await mem.manager.store(data, into=into)
    found = (await mem.manager.retrieve(key)).by_system
    assert set(found) == {into}
    assert isinstance(found[into], type_)
    assert (await mem.manager.retrieve(key, systems=[n for n in BUILT_IN if n != into])).by_system == {}


@pytest.mark.parametrize(
    ("data", "systems"),
    [
        ("The boiler was serviced", {"working", "remembered"}),
        ([{"role": "user", "content": "Hello"}], {"remembered"}),
        ({"subject": "Alice", "predicate": "lives in", "object": "Lisbon"}, {"working", "semantic"}),
        ({"name": "Lisbon", "category": "city"}, {"semantic"}),
        ({"title": "A walk", "outcome": "succeeded"}, {"episodic"}),
        (GREET, {"procedural"}),
        ({"goal": "Run a marathon", "criteria": ["Finish in Porto"]}, {"goals"}),
        ({"dimension": "patience", "value": "high"}, {"persona"}),
        ({"user": "Hi", "reply": "Hello Alice"}, {"dialogue"}),
    ],
)
async def test_without_a_target_it_goes_to_every_system_that_takes_it(
    mem: AgentMemory, data: Any, systems: set[str]
) -> None:
    stored = (await mem.manager.store(data)).check()
    assert set(stored.stored) == systems


async def test_without_a_target_a_registered_system_takes_everything_unless_it_says_otherwise(mem: AgentMemory) -> None:
    class Picky(Notes):
        name = "picky"

        def takes(self, data: Any) -> bool:
            return isinstance(data, dict) and "recipe" in data

    mem.manager.register(Notes(mem))
    mem.manager.register(Picky(mem))
    assert set((await mem.manager.store({"key": "n", "content": "Buy basil"})).stored) == {
        "notes", "working", "remembered",
    }  # fmt: skip


async def test_what_no_system_takes_is_refused_with_the_names_of_all(mem: AgentMemory) -> None:
    with pytest.raises(InvalidInput, match="No memory system takes this") as refused:
        await mem.manager.store({"colour": "red"})
    assert "goals" in refused.value.hint


async def test_a_goal_with_steps_is_stored_with_its_plan(mem: AgentMemory) -> None:
    stored = await mem.manager.store({"goal": "Tidy the garage", "steps": ["Sort the boxes", "Sweep the floor"]})
    goal, plan = stored.stored["goals"]
    assert [step.description for step in plan.steps] == ["Sort the boxes", "Sweep the floor"]
    assert (await mem.manager.retrieve(goal.id)).by_system["goals"].description == "Tidy the garage"


async def test_a_question_for_goals_is_answered_by_goals_first(mem: AgentMemory) -> None:
    for text in ("My goal keeper gloves are in the car.", "What a goal that was last night!", "Goals, goals, goals."):
        await mem.remember(text)
    await mem.manager.store({"goal": "Run the Porto marathon under four hours"})
    found = await mem.manager.search("What is my goal?")
    assert found.hits[0].system == "goals"
    assert "marathon" in found.hits[0].memory.content


async def test_ids_are_keys_too(mem: AgentMemory) -> None:
    await mem.manager.store(GREET, into="procedural")
    told = await mem.manager.store_experience(TRIP)
    run = await mem.manager.execute_procedure("greet", {"who": "Bob"})
    wanted: list[tuple[str, str, type]] = [
        (told.episode.id, "episodic", Episode),
        (told.events[0].id, "episodic", Event),
        (told.facts[0].fact.id, "semantic", Fact),
        (told.facts[0].fact.subject_id, "semantic", Concept),
        (told.messages[0].id, "remembered", Memory),
        (run.id, "procedural", Run),
    ]
    for id, system, type_ in wanted:
        found = (await mem.manager.retrieve(id)).by_system
        assert {name: type(one) for name, one in found.items()} == {system: type_}


async def test_keys_of_the_books_are_not_retrieved_and_odd_keys_are_refused(mem: AgentMemory) -> None:
    await mem.configure(recall_k=3)
    await mem.semantic.declare("likes", many=True)
    assert (await mem.manager.retrieve("configuration")).by_system == {}
    assert (await mem.manager.retrieve("predicate:likes")).by_system == {}
    for odd in ("", " x", "a\x00b"):
        with pytest.raises(InvalidInput, match="key"):
            await mem.manager.retrieve(odd)


async def test_texts_without_a_key_are_kept_apart_in_working_memory(mem: AgentMemory) -> None:
    long = "The same long beginning of a text that goes on and on until at last it differs: "
    for text in (f"{long}one", f"{long}two", "short\ntext"):
        await mem.manager.store(text, into="working")
    assert {item.content for item in await mem.working.items()} == {f"{long}one", f"{long}two", "short\ntext"}
    assert await mem.working.item("short text") is not None


@pytest.mark.parametrize(
    ("into", "data", "message"),
    [
        ("working", {"content": "x", "importnace": 1}, "reads no importnace"),
        ("semantic", "Alice lives in Lisbon", "facts and concepts"),
        ("working", {"key": "x"}, "no text"),
        ("remembered", {"content": " "}, "no text"),
        ("working", 7, "A int cannot be stored"),
        ("procedural", {"name": "greet"}, "purpose"),
        ("episodic", {"title": "x", "end": MAY, "start": MAY + timedelta(1)}, "cannot end"),
    ],
)
async def test_what_a_system_cannot_store_is_refused(mem: AgentMemory, into: str, data: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        await mem.manager.store(data, into=into)
    assert (await mem.stats()).memories == 0


async def test_a_list_of_messages_can_be_remembered(mem: AgentMemory) -> None:
    stored = await mem.manager.store(["One.", {"role": "assistant", "content": "Two."}], into="remembered")
    assert [memory.content for memory in stored.stored["remembered"]] == ["One.", "Two."]
    told = {"content": "Three.", "role": "tool", "session": "s1", "tags": ["x"], "metadata": {"n": 1}}
    made = (await mem.manager.store(told, into="remembered")).stored["remembered"]
    assert (made.source.role, made.session, made.tags, made.metadata) == ("tool", "s1", ("x",), {"n": 1})


# -- systems of the user's ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Notes, Plain])
async def test_a_custom_system_takes_part_in_everything(mem: AgentMemory, kind: type[Notes]) -> None:
    notes = kind(mem)
    mem.manager.register(notes)
    stored = await mem.manager.store({"key": "n1", "content": "Buy basil"}, into=[notes.name, "working"])
    assert stored.failed == ()
    assert stored.stored[notes.name] == notes.kept["n1"]
    found = await mem.manager.retrieve("n1")
    assert set(found.by_system) == {notes.name, "working"}
    answer = await mem.manager.search("basil")
    assert {hit.system for hit in answer.hits} == {notes.name, "working"}
    assert next(hit.why for hit in answer.hits if hit.system == notes.name) == "in the notes"


async def test_hits_are_merged_by_score_and_cut_at_k(mem: AgentMemory) -> None:
    notes = Notes(mem, score=1.0)
    mem.manager.register(notes)
    for number in range(4):
        await notes.store({"key": f"n{number}", "content": f"basil {number}"})
        await mem.remember(f"basil was bought {number} times")
    answer = await mem.manager.search("basil", k=6)
    assert [hit.system for hit in answer.hits] == ["notes"] * 4 + ["remembered"] * 2
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert [hit.system for hit in (await mem.manager.search("basil", k=2, systems="notes")).hits] == ["notes"] * 2
    for k in (0, 1_001):
        with pytest.raises(InvalidInput, match="k must be"):
            await mem.manager.search("basil", k, systems="notes")


async def test_a_memory_that_two_systems_find_is_told_once(mem: AgentMemory) -> None:
    notes = Notes(mem, score=0.1)
    mem.manager.register(notes)
    said = await mem.remember("Buy basil")
    notes.kept["n1"] = said
    (hit,) = (await mem.manager.search("basil")).hits
    assert (hit.memory.id, hit.system) == (said.id, "notes")
    assert hit.score > 0.1


@pytest.mark.parametrize(
    ("answer", "error"),
    [(fails, "ValueError"), (lambda: ["no hit"], "InvalidInput"), (lambda: None, "InvalidInput")],
)
async def test_a_failing_system_is_reported_and_hides_nothing(
    mem: AgentMemory, answer: Callable[[], Any], error: str
) -> None:
    mem.manager.register(Broken(answer))
    said = await mem.remember("Buy basil")
    found = await mem.manager.search("basil")
    assert [hit.memory.id for hit in found.hits] == [said.id]
    assert [(one.system, one.error) for one in found.failed] == [("broken", error)]
    assert all(one.message for one in found.failed)
    knowledge = await mem.manager.search("basil", 20, explain=True)
    assert set(knowledge.by_system) == {"remembered"}
    assert [one.system for one in knowledge.failed] == ["broken"]


async def test_a_failing_system_does_not_undo_what_others_stored(mem: AgentMemory) -> None:
    mem.manager.register(Broken(fails))
    stored = await mem.manager.store({"key": "k", "content": "Buy basil"}, into=["broken", "working", "semantic"])
    assert set(stored.stored) == {"working"}
    assert [(one.system, one.error) for one in stored.failed] == [
        ("broken", "ValueError"),
        ("semantic", "InvalidInput"),
    ]
    with pytest.raises(LongmindError, match=r"broken: the shelf fell down.*stored in: working"):
        stored.check()
    with pytest.raises(ValueError, match="the shelf"):
        await mem.manager.store("x", into="broken")
    found = await mem.manager.retrieve("k")
    assert set(found.by_system) == {"working"}
    assert [one.system for one in found.failed] == ["broken"]


async def test_a_system_that_hangs_is_given_up(mem: AgentMemory) -> None:
    class Slow(Notes):
        async def search(self, query: str, k: int) -> list[Hit]:
            await asyncio.sleep(60)
            return []

    given_up = threading.Event()

    class Stuck(Plain):
        def search(self, query: str, k: int) -> list[Hit]:  # type: ignore[override]
            given_up.wait(60)
            return []

    systems = managed(mem, timeout=1.0)  # the others answer within it on a slow machine too
    systems.register(Slow(mem))
    systems.register(Stuck(mem))
    said = await mem.remember("Buy basil")
    found = await systems.search("basil")
    given_up.set()
    assert [hit.memory.id for hit in found.hits] == [said.id]
    assert [one.system for one in found.failed] == ["notes", "plain"]
    assert all("longer than 1 seconds" in one.message for one in found.failed)


async def test_a_timeout_of_the_systems_own_is_told_as_its_own(mem: AgentMemory) -> None:
    def late() -> Any:
        raise TimeoutError("the library did not answer")

    mem.manager.register(Broken(late))
    assert [one.message for one in (await mem.manager.search("x")).failed] == ["the library did not answer"]


async def test_a_store_that_is_gone_is_an_error_and_not_an_empty_answer(longmind: Longmind, mem: AgentMemory) -> None:
    systems = mem.manager
    await longmind.close()
    for ask in (systems.retrieve, systems.search):
        with pytest.raises(StoreUnavailable):
            await ask("x")


# -- search and policies -----------------------------------------------------------------------------------------


async def test_search_goes_across_all_kinds_and_names_their_system(mem: AgentMemory) -> None:
    await mem.manager.store_experience(TRIP)
    await mem.manager.store(GREET | {"name": "greet_lisbon", "purpose": "Greet Lisbon"}, into="procedural")
    await mem.working.put("city", "Lisbon is on my mind")
    found = await mem.manager.search("Lisbon", k=50)
    owner = {hit.memory.kind: hit.system for hit in found.hits}
    assert owner == {
        "working": "working",
        "episode": "episodic",
        "concept": "semantic",
        "fact": "semantic",
        "procedure": "procedural",
        "message": "remembered",
    }
    asked = await mem.manager.search("Lisbon", k=50, systems=["episodic"])
    assert {hit.memory.kind for hit in asked.hits} == {"episode", "event"}
    for name in set(owner.values()):
        only = await mem.manager.search("Lisbon", k=50, systems=name)
        assert {hit.system for hit in only.hits} == {name}
    both = await mem.manager.search("Lisbon", k=50, systems=("working", "procedural"))
    assert {hit.system for hit in both.hits} == {"working", "procedural"}
    some = await mem.manager.search("Lisbon", where=Filter(roles=("user",), kinds=("message",)))
    assert {hit.memory.source.role for hit in some.hits} == {"user"}


@dataclass
class OnlyFacts:
    name: str = "only facts"
    priority: int = 10

    def applies(self, query: Query) -> bool:
        return "fact" in query.text

    def choose(self, query: Query, plan: RecallPlan) -> RecallPlan:
        return RecallPlan(plan.weights, kinds=("fact",))


async def test_a_recall_policy_chooses_the_systems(longmind: Longmind, mem: AgentMemory) -> None:
    longmind.register(OnlyFacts())
    await mem.manager.store_experience(TRIP)
    everything = await mem.manager.search("Lisbon", 20, explain=True)
    assert {"episodic", "semantic", "remembered"} <= set(everything.by_system)
    chosen = await mem.manager.search("a fact about Lisbon", 20, explain=True)
    assert set(chosen.by_system) == {"semantic"}
    assert {hit.memory.kind for hit in chosen.hits} == {"fact"}


async def test_relevant_knowledge_is_grouped_and_says_why(mem: AgentMemory) -> None:
    await mem.manager.store_experience(TRIP)
    knowledge = await mem.manager.search("Where does Alice live?", k=6, explain=True)
    assert knowledge.hits[0].memory.content == "Alice lives in Lisbon"
    assert next(iter(knowledge.by_system)) == "semantic"
    assert len(knowledge.hits) == 6
    for system, hits in knowledge.by_system.items():
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all(hit.why and hit.parts and hit.system == system for hit in hits)
    only = await mem.manager.search("Where does Alice live?", 20, systems="episodic")
    assert set(only.by_system) == {"episodic"}


# -- experience --------------------------------------------------------------------------------------------------


async def test_an_experience_is_an_episode_and_what_it_taught(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience(TRIP)
    episode = await mem.episodic.get(told.episode.id)
    assert episode == told.episode
    assert (episode.title, episode.type, episode.outcome, episode.note) == (
        "Moving to Lisbon",
        "move",
        "succeeded",
        "The van was large enough.",
    )
    assert (episode.start, episode.end, episode.events) == (MAY, MAY + timedelta(hours=8), 3)
    events = [one.event.what async for one in mem.episodic.replay(episode.id)]
    assert events == ["Packed the boxes", "Drove south", "Unpacked the boxes"] == [e.what for e in told.events]
    assert [m.content for m in told.messages] == [
        "We arrived safely in Lisbon.",
        "The flat has a balcony.",
        "Alice adopted a cat called Miro.",
    ]
    (fact,) = await mem.semantic.know("Alice", "lives in")
    assert (fact.object, fact.valid_from) == ("Lisbon", MAY)
    assert [e.memory for e in fact.evidence] == [episode.id]
    assert [fact.object for fact in await mem.semantic.know("Alice", "rent")] == [900]
    assert told.refused == ()
    assert [hit.memory.id for hit in await mem.recall("cat Miro", k=1)] == [told.messages[2].id]


async def test_the_events_of_an_experience_are_chained_like_any_others(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience(TRIP)
    ids = [event.id for event in told.events]
    links = await mem.store.links(mem.scope, ids, relation="next", direction="out")
    assert {(link.source, link.target) for link in links} == set(pairwise(ids))
    parts = await mem.store.links(mem.scope, [told.episode.id], relation="part_of", direction="in")
    assert {link.source for link in parts} == {*ids, *(m.id for m in told.messages)}
    assert "Drove south" in await mem.episodic.narrate(told.episode.id, "full")


async def test_an_experience_is_one_operation_before_its_facts(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience({k: v for k, v in TRIP.items() if k != "facts"})
    operations = {(await mem.history(id))[0].operation for id in (told.episode.id, told.events[0].id)}
    operations |= {(await mem.history(m.id))[0].operation for m in told.messages}
    (operation,) = operations
    await mem.undo(operation)
    assert (await mem.stats()).memories == 0


async def test_a_text_is_an_experience(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience("The demo went well.\nEveryone clapped.")
    assert told.episode.title == "The demo went well."
    assert not told.episode.open
    assert [m.content for m in told.messages] == ["The demo went well.\nEveryone clapped."]
    long = await mem.manager.store_experience("word " * 100)
    assert len(long.episode.title) <= 100


async def test_times_that_are_not_given_follow_from_those_that_are(mem: AgentMemory) -> None:
    noon, later = MAY + timedelta(hours=3), MAY + timedelta(hours=5)
    told = await mem.manager.store_experience(
        {"title": "x", "events": [{"what": "a", "at": later}, "b", {"what": "c", "at": noon}]}
    )
    assert (told.episode.start, told.episode.end) == (noon, later)
    assert [(e.what, e.at) for e in told.events] == [("c", noon), ("a", later), ("b", later)]
    ended = await mem.manager.store_experience({"title": "y", "end": noon})
    assert (ended.episode.start, ended.episode.end) == (noon, noon)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": " "}, "title"),
        ({"end": MAY - timedelta(1)}, "cannot end|after its episode"),
        ({"events": [{"what": "x", "at": MAY - timedelta(1)}]}, "before its episode"),
        ({"events": [{"what": "x", "duration": timedelta(days=3_000_000)}]}, "9999"),
        ({"facts": [["Alice", "lives in"]]}, "three things"),
        ({"facts": [["Alice", "", "Lisbon"]]}, "predicate"),
        ({"messages": [{"role": "king", "content": "x"}]}, "role"),
        ({"outcome": "great"}, "outcome"),
        ({"mood": "good"}, "mood"),
        ({"messages": ["  "], "text": ""}, "empty"),
        ({"events": ["x"] * 1_001}, "events"),
    ],
)
async def test_an_experience_that_cannot_be_leaves_nothing_behind(
    mem: AgentMemory, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        await mem.manager.store_experience(TRIP | change)
    assert (await mem.stats()).memories == 0


async def test_what_is_no_experience_is_refused(mem: AgentMemory) -> None:
    with pytest.raises(InvalidInput, match="data must be"):
        await mem.manager.store_experience(7)  # type: ignore[arg-type]


async def test_an_experience_within_another(mem: AgentMemory) -> None:
    outer = (await mem.manager.store_experience(TRIP | {"facts": []})).episode
    inner = await mem.manager.store_experience(
        {"title": "Loading the van", "parent": outer.id, "start": MAY, "end": MAY + timedelta(hours=1)}
    )
    assert inner.episode.parent == outer.id
    assert [e.id for e in (await mem.episodic.list(parent=outer.id)).items] == [inner.episode.id]
    with pytest.raises(InvalidInput, match="parent ended"):
        await mem.manager.store_experience(
            {"title": "x", "parent": outer.id, "start": MAY, "end": MAY + timedelta(hours=9)}
        )
    with pytest.raises(NotFound):
        await mem.manager.store_experience({"title": "x", "parent": mem.scoped.clock.new_id()})


async def test_with_a_key_an_experience_is_stored_once(mem: AgentMemory) -> None:
    keyed = TRIP | {"key": "move-1"}
    first = await mem.manager.store_experience(keyed)
    count = (await mem.stats()).memories
    again = await mem.manager.store_experience(keyed)
    assert (again.episode, again.events) == (first.episode, first.events)
    assert [m.id for m in again.messages] == [m.id for m in first.messages]
    assert [learned.outcome for learned in again.facts] == ["confirmed", "confirmed"]
    assert [learned.fact for learned in again.facts] == [learned.fact for learned in first.facts]
    assert (await mem.stats()).memories == count
    with pytest.raises(OperationMismatch, match="Moving to Lisbon"):
        await mem.manager.store_experience(keyed | {"title": "Another move"})


async def test_with_a_key_many_at_once_store_one(mem: AgentMemory) -> None:
    keyed = TRIP | {"key": "move-1"}
    told = await asyncio.gather(*(mem.manager.store_experience(keyed) for _ in range(5)))
    assert len({one.episode.id for one in told}) == 1
    assert (await mem.stats()).by_kind["episode"] == 1
    assert (await mem.stats()).by_kind["message"] == 3


class Forgetful(SemanticMemory):
    """Semantic memory whose store is gone when the second fact is learnt."""

    learnt = 0

    async def learn(self, *args: Any, **kwargs: Any) -> Learned:
        self.learnt += 1
        if self.learnt == 2:
            raise StoreUnavailable
        return await super().learn(*args, **kwargs)


async def test_storing_again_completes_what_was_cut_off(mem: AgentMemory) -> None:
    keyed = TRIP | {"key": "move-1"}
    with pytest.raises(StoreUnavailable):
        await managed(mem, semantic=Forgetful(mem.scoped)).store_experience(keyed)
    assert await mem.semantic.know("Alice", "rent") == []
    told = await mem.manager.store_experience(keyed)
    assert [learned.outcome for learned in told.facts] == ["confirmed", "new"]
    assert (await mem.stats()).by_kind["episode"] == 1


async def test_storing_again_brings_nothing_old_back(mem: AgentMemory) -> None:
    keyed = TRIP | {"key": "move-1"}
    await mem.manager.store_experience(keyed)
    await mem.semantic.learn("Alice", "lives in", "Porto")
    await mem.manager.store_experience(keyed)
    assert [fact.object for fact in await mem.semantic.know("Alice", "lives in")] == ["Porto"]
    assert [f.object for f in await mem.semantic.know("Alice", "lives in", as_of=MAY + timedelta(1))] == ["Lisbon"]


async def test_what_was_retracted_does_not_come_back(mem: AgentMemory) -> None:
    told = {"title": "x", "key": "k", "text": "A cat.", "facts": [["Lisbon", "home of", "Alice"], ["Alice", "age", 33]]}
    first = await mem.manager.store_experience(told, extract=pets)
    for learned in first.facts:
        await mem.semantic.retract(learned.fact, "a joke")
    again = await mem.manager.store_experience(told, extract=pets)
    assert [learned.fact.id for learned in again.facts] == [learned.fact.id for learned in first.facts]
    assert all(learned.fact.retracted for learned in again.facts)
    assert [await mem.semantic.know("Alice", p) for p in ("lives in", "age", "has pet")] == [[], [], []]


async def test_the_keys_of_users_are_their_own(longmind: Longmind, mem: AgentMemory) -> None:
    keyed = TRIP | {"key": "move-1"}
    mine = await mem.manager.store_experience(keyed)
    theirs = await longmind.agent("assistant", user="bob").manager.store_experience(keyed)
    assert mine.episode.id != theirs.episode.id
    assert (await mem.manager.retrieve("move-1")).by_system["episodic"].id == mine.episode.id


async def test_messages_that_were_remembered_are_taken_up_and_woken(mem: AgentMemory) -> None:
    said = await mem.remember([{"role": "user", "content": "We are off."}, "And away."], session="s1")
    await mem.update(said[1].id, state="archived")
    told = await mem.manager.store_experience(
        {"title": "Off", "session": "s1", "messages": ["We are off.", "And away.", "At last."]}
    )
    assert [m.id for m in told.messages[:2]] == [m.id for m in said]
    assert [m.state for m in told.messages] == ["active"] * 3
    assert (await mem.stats()).by_kind["message"] == 3


async def test_a_fact_that_cannot_be_learnt_is_told_and_the_rest_is_learnt(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience(
        {"title": "x", "facts": [["Alice", "lives in", 7], ["Alice", "about", "x"], ["Alice", "age", 33]]}
    )
    assert [one.fact for one in told.refused] == ["Alice lives in 7", "Alice about x"]
    assert all(one.message for one in told.refused)
    assert [learned.fact.object for learned in told.facts] == [33]


async def test_who_says_so_decides_how_far_facts_are_trusted(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience(
        {"title": "x", "facts": [["Alice", "age", 33]], "text": "She is 33.", "source": Source(role="tool", name="crm")}
    )
    assert told.facts[0].fact.confidence == 0.5
    assert told.facts[0].fact.source.name == "crm"
    assert (told.messages[0].source.role, told.messages[0].source.name) == ("tool", "crm")


async def test_erasing_the_episode_erases_what_was_learnt_from_it(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience(TRIP)
    await mem.forget(told.episode.id, erase=True)
    assert await mem.semantic.know("Alice", "lives in") == []


@dataclass(frozen=True)
class Claim:
    subject: str
    predicate: str
    object: str
    span: tuple[int, int]
    confidence: float = 0.7
    many: bool = True
    relates: bool = False
    start: datetime | None = None


def pets(memory: Memory) -> list[Claim]:
    at = memory.content.find("cat")
    return [] if at < 0 else [Claim("Alice", "has pet", "cat", (at, at + 3))]


async def test_an_extractor_learns_from_the_texts_at_once(mem: AgentMemory) -> None:
    async def awaited(memory: Memory) -> list[Claim]:
        return pets(memory)

    told = await mem.manager.store_experience(TRIP | {"facts": []}, extract=pets)
    (fact,) = (learned.fact for learned in told.facts)
    assert (fact.subject, fact.predicate, fact.object, fact.confidence) == ("Alice", "has pet", "cat", 0.7)
    (evidence,) = fact.evidence
    assert evidence.memory == told.messages[2].id
    assert evidence.span is not None
    assert told.messages[2].content[slice(*evidence.span)] == "cat"
    other = managed(mem, extract=awaited)
    await other.store_experience({"title": "x", "text": "A cat again."})
    await mem.semantic.learn("Alice", "has pet", "dog")
    assert {f.object for f in await mem.semantic.know("Alice", "has pet")} == {"cat", "dog"}


async def test_without_an_extractor_free_text_is_left_to_consolidation(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience({"title": "News", "text": "I moved to Porto in May."})
    assert told.facts == ()
    assert "fact" not in (await mem.stats()).by_kind
    await mem.consolidate()
    (fact,) = await mem.semantic.know("alice", "lives in")
    assert fact.object == "Porto"
    assert [evidence.memory for evidence in fact.evidence] == [told.messages[0].id]


async def test_what_was_extracted_at_once_is_not_extracted_again(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience(
        {"title": "News", "text": "I moved to Porto in May."},
        extract=lambda memory: extract_memories([memory])[0].claims,
    )
    assert [str(learned.fact) for learned in told.facts] == ["alice lives in Porto"]
    await mem.consolidate()
    assert await mem.semantic.know("alice", "lives in") == [learned.fact for learned in told.facts]


# -- procedures and outcomes -------------------------------------------------------------------------------------


async def test_a_procedure_is_run_and_its_outcome_learnt(mem: AgentMemory) -> None:
    await mem.manager.store(GREET, into="procedural")
    run = await mem.manager.execute_procedure("greet", {"who": "Bob"}, key="r1")
    assert (run.status, run.result) == ("succeeded", "hello Bob")
    assert (await mem.manager.execute_procedure("greet", {"who": "Bob"}, key="r1")).id == run.id
    judged = await mem.manager.learn_from_outcome("greet", False, {"smiles": 0}, run=run.id)
    assert judged.learned is not None
    assert judged.learned.run is not None
    assert judged.learned.run.counted is False
    assert judged.episode is not None
    assert judged.episode.outcome == "failed"
    (version,) = (await mem.procedural.statistics("greet")).versions
    assert (version.successes, version.failures) == (0, 1)
    with pytest.raises(NotFound):
        await mem.manager.execute_procedure("no_such_thing")


async def test_an_outcome_may_be_about_an_episode_alone(mem: AgentMemory) -> None:
    told = await mem.manager.store_experience({"title": "A talk"})
    judged = await mem.manager.learn_from_outcome(outcome=True, episode=told.episode.id, note="They laughed.")
    assert judged.learned is None
    assert judged.episode is not None
    assert (judged.episode.outcome, judged.episode.note) == ("succeeded", "They laughed.")
    unknown = await mem.manager.learn_from_outcome(episode=told.episode.id)
    assert unknown.episode is not None
    assert (unknown.episode.outcome, unknown.episode.note) == ("unknown", "They laughed.")
    with pytest.raises(InvalidInput, match="of what"):
        await mem.manager.learn_from_outcome(outcome=True)


async def episode_of(mem: AgentMemory, run: str) -> Episode | None:
    """The episode that the manager wrote of a run."""
    found = (await mem.manager.retrieve(f"run:{run}", systems=["episodic"])).by_system.get("episodic")
    assert found is None or isinstance(found, Episode)
    return found


async def test_a_run_is_written_down(mem: AgentMemory) -> None:
    await mem.manager.store(GREET, into="procedural")
    run = await mem.manager.execute_procedure("greet", {"who": "Bob"}, task="Greet Bob at the door", key="a1")
    assert run.result == "hello Bob"
    episode = await episode_of(mem, run.id)
    assert episode is not None
    assert (episode.title, episode.type, episode.outcome) == ("Greet Bob at the door", "action", "succeeded")
    assert episode.attributes == {"procedure": "greet", "version": 1, "run": run.id}
    assert [e.type for e in (await mem.episodic.events(episode.id)).items] == ["say"]
    again = await mem.manager.execute_procedure("greet", {"who": "Bob"}, task="In other words", key="a1")
    assert again.id == run.id
    assert await episode_of(mem, run.id) == episode
    judged = await mem.manager.learn_from_outcome(run=run.id, outcome=False, note="He was asleep.")
    assert judged.episode is not None
    assert (judged.episode.id, judged.episode.outcome) == (episode.id, "failed")
    assert judged.learned is not None
    await mem.forget(run.id, erase=True)
    with pytest.raises(NotFound):
        await mem.episodic.get(episode.id)


async def test_a_run_that_failed_is_written_down_too(mem: AgentMemory) -> None:
    await mem.manager.store(GREET, into="procedural")
    run = await mem.manager.execute_procedure("greet", {"who": "nobody"})
    assert run.status == "failed"
    episode = await episode_of(mem, run.id)
    assert episode is not None
    assert (episode.title, episode.outcome) == ("Ran greet", "failed")
    assert "nobody is there" in episode.note
    (event,) = (await mem.episodic.events(episode.id)).items
    assert "nobody is there" in event.what
    assert event.valence < 0


async def test_a_run_that_waits_is_written_down_when_it_has_ended(mem: AgentMemory) -> None:
    step = {**GREET["steps"][0], "needs_approval": True}  # type: ignore[dict-item]
    await mem.manager.store(GREET | {"steps": [step]}, into="procedural")
    waiting = await mem.manager.execute_procedure("greet", {"who": "Bob"}, key="a1")
    assert (waiting.status, await episode_of(mem, waiting.id)) == ("waiting", None)
    await mem.procedural.approve(waiting.id)
    done = await mem.manager.execute_procedure("greet", {"who": "Bob"}, key="a1")
    assert done.id == waiting.id
    episode = await episode_of(mem, done.id)
    assert episode is not None
    assert episode.outcome == "succeeded"


def managed(mem: AgentMemory, **options: Any) -> MemoryManager:
    """A manager with options of its own."""
    parts: dict[str, Any] = {"working": mem.working, "episodic": mem.episodic, "semantic": mem.semantic}
    parts |= {"procedural": mem.procedural, "goals": mem.goals, "persona": mem.persona, "dialogue": mem.dialogue}
    parts |= {"shared": mem.shared, "recall": mem.recall, "remember": mem.remember}
    return MemoryManager(mem.scoped, **parts | options)
