"""A program on the blocking classes, run and checked by mypy: ``assert_type`` fails where a type is Any."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, assert_type

from longmind import AgentSettings, Forgotten, Hit, Memory, Message, Page, Stats
from longmind.manager import SearchResult
from longmind.sync import AgentMemory, Longmind
from longmind.sync.conversation import Conversation
from longmind.sync.episodic import RunningEpisode
from longmind.systems.episodic import Episode, Event
from longmind.systems.goals import Goal, Plan
from longmind.systems.persona import Profile
from longmind.systems.procedural import Run, Version
from longmind.systems.semantic import Fact
from longmind.systems.shared import SharedKnowledge
from longmind.systems.working import Item


def use_the_verbs(mem: AgentMemory) -> None:
    assert_type(mem.remember("I moved to Lisbon in May."), Memory)
    assert_type(mem.remember(["One.", "Two."]), list[Memory])
    assert_type(mem.recall("Lisbon", 3, conversation=[Message(content="Hello.")]), list[Hit])
    assert_type(mem.context("plan her trip", tokens=200), str)
    assert_type(mem.list(), Page[Memory])
    assert_type(mem.stats(), Stats)
    assert_type(mem.configuration(), AgentSettings)
    assert_type(mem.consolidate(dry_run=True).id, str)
    assert_type(mem.forget(where={"kinds": ["message"]}), Forgotten)


def use_the_memory_systems(mem: AgentMemory) -> None:
    assert_type(mem.working.put("plan", "Call the hotel").item, Item)
    assert_type(mem.working.items(), tuple[Item, ...])
    assert_type(mem.working.context(), str)
    assert_type(mem.working.context("dict"), dict[str, Any])
    assert_type(mem.episodic.episode("A walk"), AbstractContextManager[RunningEpisode])
    with mem.episodic.episode("A walk") as walk:
        assert_type(walk, RunningEpisode)
        assert_type(walk.record("left"), Event)
    assert_type(mem.episodic.get(walk.id), Episode)
    assert_type(next(mem.episodic.replay(walk.id)).event, Event)
    assert_type(mem.semantic.learn("Alice", "lives in", "Lisbon").fact, Fact)
    assert_type(mem.semantic.know("Alice", "lives in"), list[Fact])
    assert_type(mem.persona.profile(), Profile)
    assert_type(mem.persona.render(), str)
    assert_type(mem.shared.withdraw_many([]), tuple[SharedKnowledge, ...])
    assert_type(mem.dialogue.add("Hello.", "Hi.").pages[0].id, str)
    assert_type(mem.dialogue.context("hello"), str)


def use_goals(mem: AgentMemory) -> None:
    goal = mem.goals.create("Learn Portuguese")
    assert_type(goal, Goal)
    assert_type(mem.goals.list(), Page[Goal])
    assert_type(mem.goals.plan(goal.id), Plan | None)
    assert_type(mem.goals.render(goal.id), str)
    assert_type(mem.goals.render(goal.id, "dict"), dict[str, Any])


def use_procedures(longmind: Longmind, mem: AgentMemory) -> None:
    @longmind.tool
    def double(n: int) -> int:
        """Twice as much."""
        return 2 * n

    assert_type(double(2), int)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    step = {"name": "double", "use": "double", "args": {"n": "{{ params.n }}"}}
    procedure = {"name": "twice", "purpose": "Double it", "parameters": schema, "steps": [step]}
    assert_type(mem.procedural.store(procedure), Version)
    assert_type(mem.procedural.execute("twice", {"n": 21}), Run)
    assert_type(mem.manager.execute_procedure("twice", {"n": 4}), Run)
    assert_type(mem.manager.search("double"), SearchResult)
    assert_type(mem.manager.names, tuple[str, ...])


def use_conversations(mem: AgentMemory) -> None:
    talk = mem.conversation("monday")
    assert_type(talk, Conversation)
    assert_type(talk.add("Hello."), Memory)
    assert_type(talk.history(), tuple[Memory, ...])
    assert_type(talk.messages(), list[Message])
    assert_type(talk.context(), str)


def run(longmind: Longmind) -> None:
    mem = longmind.agent("assistant", user="alice")
    assert_type(mem, AgentMemory)
    assert_type(longmind.export(), Iterator[str])
    use_the_verbs(mem)
    use_the_memory_systems(mem)
    use_goals(mem)
    use_procedures(longmind, mem)
    use_conversations(mem)
