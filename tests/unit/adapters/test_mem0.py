"""The face of mem0: what needs a language model there, what is Longmind's own, and the asynchronous class.

What both have in common is in ``tests/adapters/mem0``, which runs the same tests on mem0 itself.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from longmind import Forbidden, InvalidInput, Longmind
from longmind.adapters.mem0 import AsyncMemory, InvalidRequest, Memory
from longmind.sync import Longmind as BlockingLongmind

ALICE = {"user_id": "alice"}


async def test_the_asynchronous_class_does_the_same() -> None:
    async with Longmind.open("memory:", embedder="none") as longmind, AsyncMemory(longmind) as m:
        (added,) = (await m.add("I like green tea.", user_id="alice", metadata={"topic": "tea"}))["results"]
        assert added == {"id": added["id"], "memory": "I like green tea.", "event": "ADD"}
        assert (await m.get(added["id"]))["metadata"] == {"topic": "tea"}  # type: ignore[index]
        assert len((await m.search("tea", filters=ALICE))["results"]) == 1
        await m.update(added["id"], "I like black tea.")
        assert (await m.get_all(filters=ALICE))["results"][0]["memory"] == "I like black tea."
        assert [row["event"] for row in await m.history(added["id"])] == ["ADD", "UPDATE"]
        await m.delete(added["id"])
        await m.delete_all(user_id="alice")
        await m.reset()
        with pytest.raises(InvalidRequest):
            await m.search("tea")


def test_the_same_text_is_stored_once_in_one_scope() -> None:
    with BlockingLongmind.open("memory:", embedder="none") as longmind:
        m = Memory(longmind)
        assert len(m.add("I like tea.", user_id="alice")["results"]) == 1
        assert m.add("I like tea.", user_id="alice")["results"] == []
        assert len(m.add("I like tea.", user_id="alice", agent_id="cook")["results"]) == 1
        assert len(m.add("I like tea.", user_id="bob")["results"]) == 1
        (first,) = m.get_all(filters={"user_id": "bob"})["results"]
        m.update(first["id"], "I like coffee.")
        assert len(m.add("I like tea.", user_id="bob")["results"]) == 1, "what was changed may be said again"
        assert len(m.get_all(filters={"user_id": "bob"})["results"]) == 2


def test_memories_are_those_of_longmind() -> None:
    with BlockingLongmind.open("memory:", embedder="none") as longmind:
        m = Memory(longmind, agent="helper")
        m.add([{"role": "user", "content": "I live in Lisbon."}], user_id="alice", run_id="chat-1")
        mem = longmind.agent("helper", user="alice")
        (memory,) = mem.list().items
        assert (memory.content, memory.session, memory.user) == ("I live in Lisbon.", "chat-1", "alice")
        mem.remember("My sister is Nora.")
        assert len(m.get_all(filters=ALICE)["results"]) == 2
        assert mem.context("Where do I live?")


def test_a_memory_for_one_user_reaches_no_other() -> None:
    with BlockingLongmind.open("memory:", embedder="none") as longmind:
        everyone, alice = Memory(longmind), Memory(longmind, user="alice")
        (bobs,) = everyone.add("I live in Porto.", user_id="bob", agent_id="guide")["results"]
        alice.add("I live in Lisbon.", user_id="alice", agent_id="guide")
        with pytest.raises(Forbidden):
            alice.add("x", user_id="bob")
        with pytest.raises(Forbidden):
            alice.search("Porto", filters={"user_id": "bob"})
        assert alice.get(bobs["id"]) is None
        assert [item["user_id"] for item in alice.get_all(filters={"agent_id": "guide"})["results"]] == ["alice"]
        with pytest.raises(InvalidRequest, match="not found"):
            alice.delete(bobs["id"])
        alice.delete_all(agent_id="guide")
        alice.reset()
        assert everyone.get(bobs["id"]) is not None


def test_it_opens_the_users_own_store_or_the_one_of_a_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("LONGMIND_URL", str(tmp_path / "memory.db"))
    monkeypatch.setenv("LONGMIND_EMBEDDER", "none")
    with Memory() as m:
        m.add("I like tea.", user_id="alice")
    config = {
        "longmind": {"url": str(tmp_path / "memory.db")},
        "vector_store": {"provider": "qdrant", "config": {}},
        "llm": {"provider": "openai", "config": {}},
    }
    with Memory.from_config(config) as m:
        assert len(m.get_all(filters=ALICE)["results"]) == 1
    assert "llm, vector_store" in caplog.text
    with pytest.raises(InvalidInput, match="no setting path"):
        Memory.from_config({"longmind": {"path": "x"}})


def test_a_configuration_with_a_name_that_cannot_be_used_leaves_no_store_open() -> None:
    before = set(threading.enumerate())
    with pytest.raises(InvalidInput):
        Memory.from_config({"longmind": {"url": "memory:", "agent": "a\x00b"}})
    assert not {thread.name for thread in threading.enumerate() if thread not in before} & {"longmind"}


def test_a_conversation_for_a_procedure_is_one_memory() -> None:
    with BlockingLongmind.open("memory:", embedder="none") as longmind:
        m = Memory(longmind)
        steps = [{"role": "user", "content": "Deploy it."}, {"role": "assistant", "content": "Built, then pushed."}]
        (added,) = m.add(steps, agent_id="ops", memory_type="procedural_memory")["results"]
        item = m.get(added["id"])
        assert item is not None
        assert item["memory"] == "user: Deploy it.\nassistant: Built, then pushed."
        assert item["metadata"] == {"memory_type": "procedural_memory"}
