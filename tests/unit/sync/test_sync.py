"""The blocking face: the same methods with the same signatures, and safe from any thread."""

import gc
import inspect
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from longmind import AgentMemory, Hit, Longmind, Memory, conversation, jobs, manager, model_tools, sync
from longmind.errors import InvalidInput, NotFound, StoreUnavailable
from longmind.sync import conversation as blocking_conversation
from longmind.sync import dialogue as blocking_dialogue
from longmind.sync import episodic as blocking_episodic
from longmind.sync import goals as blocking_goals
from longmind.sync import jobs as blocking_jobs
from longmind.sync import manager as blocking_manager
from longmind.sync import persona as blocking_persona
from longmind.sync import procedural as blocking_procedural
from longmind.sync import semantic as blocking_semantic
from longmind.sync import shared as blocking_shared
from longmind.sync import values as blocking_values
from longmind.sync import working as blocking_working
from longmind.systems import dialogue, episodic, goals, persona, procedural, semantic, shared, values, working
from longmind.testing import ScriptedModel

PAIRS: list[tuple[type, type]] = [
    (Longmind, sync.Longmind),
    (AgentMemory, sync.AgentMemory),
    (working.WorkingMemory, blocking_working.WorkingMemory),
    (episodic.EpisodicMemory, blocking_episodic.EpisodicMemory),
    (episodic.RunningEpisode, blocking_episodic.RunningEpisode),
    (semantic.SemanticMemory, blocking_semantic.SemanticMemory),
    (procedural.ProceduralMemory, blocking_procedural.ProceduralMemory),
    (goals.GoalMemory, blocking_goals.GoalMemory),
    (dialogue.DialogueMemory, blocking_dialogue.DialogueMemory),
    (persona.PersonaMemory, blocking_persona.PersonaMemory),
    (shared.SharedMemory, blocking_shared.SharedMemory),
    (shared.SharedAdministration, blocking_shared.SharedAdministration),
    (values.ValueMemory, blocking_values.ValueMemory),
    (values.StateMemory, blocking_values.StateMemory),
    (jobs.JobAdministration, blocking_jobs.JobAdministration),
    (manager.MemoryManager, blocking_manager.MemoryManager),
    (conversation.Conversation, blocking_conversation.Conversation),
    (model_tools.MemoryTools, model_tools.BlockingMemoryTools),
]
NOT_MIRRORED = {
    *("Longmind.chat", "Longmind.embedding", "Longmind.recaller", "Longmind.span_reader", "Longmind.store"),
    *("AgentMemory.chat", "AgentMemory.scoped", "AgentMemory.store"),
    "GoalMemory.with_resources",
}
"""They take or return what asynchronous code is built on, so a blocking version would be of no use."""
OWN_SIGNATURE = {"open", "agent", "register", "export", "close", "conversation", "tools"}
"""Written by hand for the blocking class, since they open or return something that blocks."""


def public_members(cls: type) -> list[str]:
    public = [name for name in dir(cls) if not name.startswith("_")]
    return [name for name in public if f"{cls.__name__}.{name}" not in NOT_MIRRORED]


MEMBERS = [(one, other, name) for one, other in PAIRS for name in public_members(one)]
METHODS = [
    (one, other, name)
    for one, other, name in MEMBERS
    if inspect.isfunction(inspect.unwrap(inspect.getattr_static(one, name)))
    if not (one in (Longmind, AgentMemory) and name in OWN_SIGNATURE)
]


@pytest.mark.parametrize(("one", "other", "name"), MEMBERS, ids=[f"{o.__name__}.{n}" for o, _, n in MEMBERS])
def test_every_public_member_has_a_blocking_twin(one: type, other: type, name: str) -> None:
    assert hasattr(other, name)
    assert inspect.getdoc(getattr(other, name))


@pytest.mark.parametrize(("one", "other", "name"), METHODS, ids=[f"{o.__name__}.{n}" for o, _, n in METHODS])
def test_a_blocking_method_has_the_same_signature_and_documentation(one: type, other: type, name: str) -> None:
    wanted, found = getattr(one, name), getattr(other, name)
    assert inspect.signature(found).parameters == inspect.signature(wanted).parameters
    assert found.__doc__ == wanted.__doc__
    assert not inspect.iscoroutinefunction(found)
    assert not inspect.isasyncgenfunction(found)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[one.__name__ for one, _ in PAIRS])
def test_a_blocking_class_has_nothing_of_its_own(one: type, other: type) -> None:
    instance = {"id", "tools", "started", "outcome", "note", "scope"}  # set in the asynchronous constructor
    assert set(public_members(other)) <= set(dir(one)) | instance


def test_the_five_verbs_and_every_memory_system_are_among_them() -> None:
    names = {name for one, _, name in MEMBERS if one is AgentMemory}
    assert {"remember", "recall", "context", "forget", "consolidate"} <= names
    assert {"working", "episodic", "semantic", "procedural", "goals", "dialogue", "persona", "shared"} <= names


SYSTEMS = [name for name, member in vars(sync.AgentMemory).items() if isinstance(member, cached_property)]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_memory_system_is_made_once(longmind: sync.Longmind, name: str) -> None:
    mem = longmind.agent("assistant")
    system = getattr(mem, name)
    assert system is getattr(mem, name)
    assert type(system).__name__ == type(getattr(mem._target, name)).__name__
    assert repr(system).startswith("<blocking <longmind.")


@pytest.mark.parametrize("name", ["agent", "register", "export"])
def test_what_does_not_wait_has_the_same_signature(name: str) -> None:
    wanted, found = getattr(Longmind, name), getattr(sync.Longmind, name)
    assert list(inspect.signature(found).parameters) == list(inspect.signature(wanted).parameters)


@pytest.fixture
def longmind(tmp_path: Path) -> Iterator[sync.Longmind]:
    with sync.Longmind.open(str(tmp_path / "memory.db")) as opened:
        yield opened


def test_the_verbs_block_and_work(longmind: sync.Longmind) -> None:
    mem = longmind.agent("assistant", user="alice")
    stored = mem.remember("I moved to Lisbon in May.")
    assert mem.scope.user == "alice"
    assert [hit.memory.id for hit in mem.recall("moved to Lisbon", k=1)] == [stored.id]
    assert "Lisbon" in mem.context("where to send a parcel to Lisbon")
    changed = mem.update(stored.id, content="I moved to Porto in May.")
    assert changed.version == 2
    got = mem.get(stored.id)
    assert got is not None
    assert got.content == changed.content
    assert [change.action for change in mem.history(stored.id)] == ["put", "update"]
    assert mem.configure(recall_k=3) == mem.configuration()
    assert mem.consolidate(dry_run=True).dry_run
    assert [memory.id for memory in mem.list(kinds=["message"]).items] == [stored.id]
    assert mem.forget(stored.id).count == 1
    with pytest.raises(NotFound):
        mem.forget(stored.id)
    assert [scope.agent for scope in longmind.agents()] == ["assistant"]
    assert longmind.check() == []


def test_an_export_is_read_line_by_line(longmind: sync.Longmind) -> None:
    longmind.agent("a").remember("One.")
    lines = list(longmind.export())
    assert len(lines) == 3
    with sync.Longmind.open("memory:") as other:
        assert other.load(lines).memories == 1


def test_many_threads_share_one_store(longmind: sync.Longmind) -> None:
    mem = longmind.agent("assistant")
    together = threading.Barrier(8)

    def work(number: int) -> int:
        together.wait()
        found = 0
        for step in range(10):
            said = mem.remember(f"Thread {number} counts step {step}.")
            hits = mem.recall(f"thread {number} step {step}", k=80)
            found += said.id in [hit.memory.id for hit in hits]
        return found

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [10] * 8
    assert mem.stats().memories == 80


def event_loop_threads() -> set[threading.Thread]:
    """Return the threads of blocking faces; a fixture of the whole session may hold one open."""
    return {thread for thread in threading.enumerate() if thread.name == "longmind"}


def test_after_closing_it_says_so_and_closing_again_is_harmless(tmp_path: Path) -> None:
    before = event_loop_threads()
    longmind = sync.Longmind.open(str(tmp_path / "memory.db"))
    mem = longmind.agent("assistant")
    mem.remember("One.")
    longmind.close()
    longmind.close()
    with pytest.raises(StoreUnavailable):
        mem.recall("One")
    assert not event_loop_threads() - before


def test_a_store_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    before = event_loop_threads()
    with pytest.raises(StoreUnavailable):
        sync.Longmind.open(str(tmp_path))
    assert not event_loop_threads() - before


async def test_it_may_be_used_where_an_event_loop_runs(tmp_path: Path) -> None:
    """A notebook has a loop of its own; the work is done in another."""
    with sync.Longmind.open(str(tmp_path / "memory.db")) as longmind:
        longmind.agent("a").remember("One.")
        assert longmind.agent("a").stats().memories == 1


# -- the memory systems ------------------------------------------------------------------------------------------


def test_a_memory_system_is_used_without_a_single_await(longmind: sync.Longmind) -> None:
    mem = longmind.agent("assistant", user="alice")
    mem.working.put("plan", "Call the hotel", importance=0.9)
    assert [item.key for item in mem.working.items()] == ["plan"]
    mem.semantic.learn("Alice", "lives in", "Lisbon")
    assert [fact.object for fact in mem.semantic.know("Alice", "lives in")] == ["Lisbon"]
    told = mem.manager.store_experience({"title": "A walk", "events": ["left", "came back"]})
    assert [one.event.what for one in mem.episodic.replay(told.episode.id)] == ["left", "came back"]
    assert {hit.system for hit in mem.manager.search("Lisbon").hits} >= {"semantic"}
    assert mem.manager.names[:2] == ("working", "episodic")
    with pytest.raises(NotFound, match="no episode"):
        mem.episodic.get(told.events[0].id)
    with pytest.raises(AttributeError):
        mem.episodic.no_such_method()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        mem.episodic._scoped  # type: ignore[attr-defined]  # noqa: B018  # what is private stays so


def test_an_episode_lasts_as_long_as_its_block(longmind: sync.Longmind) -> None:
    mem = longmind.agent("assistant")
    with mem.episodic.episode("A walk", tags=["out"]) as walk:
        walk.record("left", type="start")
        assert mem.episodic.get(walk.id).open
        walk.conclude("succeeded", "The sun shone.")
    ended = mem.episodic.get(walk.id)
    assert (ended.outcome, ended.note, ended.events, ended.open) == ("succeeded", "The sun shone.", 1, False)
    with pytest.raises(ZeroDivisionError), mem.episodic.episode("A sum") as failed:
        1 / 0  # noqa: B018
    assert mem.episodic.get(failed.id).outcome == "failed"
    assert "ZeroDivisionError" in mem.episodic.get(failed.id).note


def test_an_iterator_can_be_left_early(longmind: sync.Longmind) -> None:
    mem = longmind.agent("assistant")
    told = mem.manager.store_experience({"title": "Counting", "events": [str(n) for n in range(5)]})
    for one in mem.episodic.replay(told.episode.id):
        assert one.number == 1
        break
    left = mem.episodic.replay(told.episode.id)
    assert next(left).number == 1
    longmind.close()
    del left
    gc.collect()


def test_procedures_call_registered_functions(longmind: sync.Longmind) -> None:
    @longmind.tool
    def double(n: int) -> int:
        """Twice as much."""
        return 2 * n

    mem = longmind.agent("assistant")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    step = {"name": "double", "use": "double", "args": {"n": "{{ params.n }}"}}
    mem.procedural.store({"name": "twice", "purpose": "Double it", "parameters": schema, "steps": [step]})
    assert mem.procedural.execute("twice", {"n": 21}).result == 42
    assert "double" in mem.procedural.tools
    assert mem.manager.execute_procedure("twice", {"n": 4}).status == "succeeded"


class Shelf:
    """A memory system written for the blocking face, which it calls itself."""

    name = "shelf"

    def __init__(self, mem: sync.AgentMemory) -> None:
        self._mem = mem

    def store(self, data: Any) -> Any:
        return self._mem.remember(data, session="shelf")

    def retrieve(self, key: str) -> Any:
        return self._mem.get(key)

    def search(self, query: str, k: int) -> list[Hit]:
        return self._mem.recall(query, k, session="shelf")


def test_a_plain_memory_system_may_call_back(longmind: sync.Longmind) -> None:
    mem = longmind.agent("assistant")
    mem.manager.register(Shelf(mem))
    made = mem.manager.store("A book about bees", into="shelf").stored["shelf"]
    assert [hit.system for hit in mem.manager.search("bees").hits] == ["shelf"]
    assert mem.manager.retrieve(made.id).by_system["shelf"] == made


def test_a_call_that_would_wait_for_itself_is_refused(longmind: sync.Longmind) -> None:
    mem = longmind.agent("assistant")

    def extract(memory: Memory) -> list[Any]:
        mem.recall(memory.content)
        return []

    with pytest.raises(InvalidInput, match="from within"):
        mem.manager.store_experience("Something happened.", extract=extract)
    assert mem.stats().by_kind["episode"] == 1


def test_systems_of_a_closed_store_say_so(tmp_path: Path) -> None:
    longmind = sync.Longmind.open(str(tmp_path / "memory.db"))
    mem = longmind.agent("assistant")
    working = mem.working
    longmind.close()
    with pytest.raises(StoreUnavailable):
        working.items()
    with pytest.raises(StoreUnavailable):
        mem.episodic.recent()


def test_a_store_that_is_gone_when_it_is_closed_says_so_and_leaves_no_thread(tmp_path: Path) -> None:
    before = event_loop_threads()

    class Gone(ScriptedModel):
        async def close(self) -> None:
            raise StoreUnavailable("The server is gone.")

    behind = Longmind.open(str(tmp_path / "memory.db"))
    longmind = sync.Longmind(behind)
    vars(behind)["chat"] = Gone().chat()
    with pytest.raises(StoreUnavailable, match="server is gone"):
        longmind.close()
    longmind.close()
    assert not event_loop_threads() - before
