"""What an import stores, that it can be repeated, and what it says of what it cannot map."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.unit.importing import samples

from longmind import Longmind
from longmind.errors import InvalidInput, NotFound
from longmind.importing import FORMATS, import_memories, preview
from longmind.types import Filter, Memory, Scope

SAMPLES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "chatgpt": ("chatgpt", samples.chatgpt),
    "claude": ("claude", samples.claude),
    "mem0": ("mem0", samples.mem0_json),
    "mem0 history": ("mem0", samples.mem0_history),
    "letta": ("letta", samples.letta),
    "zep": ("zep", samples.zep),
    "langgraph": ("langgraph", samples.langgraph),
    "markdown": ("markdown", samples.markdown),
    "jsonl": ("jsonl", samples.jsonl),
}
EVERYTHING = Filter(states=None, expired=None)


async def held(longmind: Longmind) -> list[Memory]:
    return [memory async for memory in longmind.store.scan_all(Scope(agent="a", all_users=True), EVERYTHING)]


def test_every_format_has_a_sample() -> None:
    assert {format for format, _ in SAMPLES.values()} == set(FORMATS)


@pytest.mark.parametrize("sample", SAMPLES)
async def test_the_same_import_twice_changes_nothing(sample: str, tmp_path: Path) -> None:
    format, make = SAMPLES[sample]
    path = make(tmp_path)
    async with Longmind.open("memory:") as longmind:
        first = await import_memories(longmind, format, path, agent="a")
        scope = Scope(agent="a", all_users=True)
        before, memories = await longmind.store.backend.head(scope), await held(longmind)
        second = await import_memories(longmind, format, path, agent="a")
        assert await longmind.store.backend.head(scope) == before
        assert await held(longmind) == memories
    assert first.already_there == 0
    assert sum(first.counts.values()) > 0
    assert second.counts == first.counts
    assert second.already_there == sum(first.counts.values())
    assert second.unmapped == first.unmapped
    read = preview(format, path)
    assert (read.counts, read.unmapped) == (first.counts, first.unmapped)


async def test_messages_of_chatgpt_keep_time_author_id_and_conversation(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "chatgpt", samples.chatgpt(tmp_path), agent="a", user="alice")
        memories = sorted(await held(longmind), key=lambda memory: memory.occurred_at)
        assert (await longmind.agent("a", "alice").recall("Where did she move?", 1))[0].memory.id == memories[0].id
    assert [memory.content for memory in memories] == [
        "I moved to Lisbon in May.",
        "How do you like it?",
        "Very much. Look:",
        "What a view!",
    ], "the branch that the conversation shows"
    first, second = memories[:2]
    assert first.occurred_at == datetime(2024, 5, 1, 8, 0, 1, tzinfo=UTC)
    assert (first.user, first.session, first.source.role, first.source.uri) == ("alice", "c1", "user", "chatgpt:c1")
    assert first.metadata == {"id": "c1-a", "imported_from": "chatgpt", "title": "Moving to Lisbon"}
    assert (second.source.role, second.metadata["model"]) == ("assistant", "gpt-4o")
    assert [item.reason for item in report.unmapped] == [
        "a part that is no text: image_asset_pointer",
        "of a branch that the conversation does not show",
    ]
    assert report.unmapped[1].place == "chatgpt.zip:conversations.json, conversation 1, message c1-c"


async def test_claude_with_files_projects_and_memory(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "claude", samples.claude(tmp_path), agent="a")
        memories = {memory.content: memory for memory in await held(longmind)}
    assert report.counts == {"messages": 2, "documents": 2, "notes": 2}
    answer = memories["Hojicha, by your list."]
    assert (answer.source.role, answer.session, answer.metadata["id"]) == ("assistant", "k1", "k1-2")
    assert answer.occurred_at == datetime(2024, 5, 1, 8, 0, 9, tzinfo=UTC)
    assert memories["Hojicha: 7 mg."].source.uri == "claude:k1-1/teas.txt"
    assert memories["The user runs a tea shop."].key == "claude:acc/memory"
    assert {item.reason for item in report.unmapped} == {
        "a call of the tool search",
        "a file without its text: cup.png",
    }


async def test_mem0_keeps_users_runs_and_relations(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "mem0", samples.mem0_json(tmp_path), agent="a")
        memories = {memory.content: memory for memory in await held(longmind)}
        facts = await longmind.agent("a").semantic.know("alice", "lives in")
    home = memories["Lives in Lisbon"]
    assert (home.user, home.session, home.metadata["category"]) == ("alice", "trip", "home")
    assert home.occurred_at == datetime(2024, 5, 1, 8, tzinfo=UTC)
    assert home.source.uri == "mem0:11111111-0000-4000-8000-000000000001"
    assert (memories["Likes green tea"].user, memories["Likes green tea"].metadata["agent_id"]) == ("bob", "waiter")
    assert [fact.object for fact in facts] == ["lisbon"]
    assert [(item.place, item.reason) for item in report.unmapped] == [("mem0.json, memory 3", "content: is empty")]


async def test_mem0_history_is_what_the_memories_became(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "mem0", samples.mem0_history(tmp_path), agent="a")
        memories = {memory.content: memory for memory in await held(longmind)}
    assert set(memories) == {"Lives in Lisbon", "I moved to Lisbon."}
    assert memories["Lives in Lisbon"].source.name == "alice"
    assert memories["Lives in Lisbon"].occurred_at == datetime(2024, 5, 1, 8, 0, 1, tzinfo=UTC), "when it was added"
    assert memories["I moved to Lisbon."].user == "alice&co"
    assert [item.reason for item in report.unmapped] == [
        "it was deleted in mem0",
        "it does not say whose memories these are: name the user, or import the JSON of get_all()",
    ]


async def test_a_later_text_of_the_same_memory_replaces_it(tmp_path: Path) -> None:
    path = samples.mem0_json(tmp_path)
    async with Longmind.open("memory:") as longmind:
        await import_memories(longmind, "mem0", path, agent="a")
        path.write_text(path.read_text().replace("Lives in Lisbon", "Lives in Porto"), encoding="utf-8")
        await import_memories(longmind, "mem0", path, agent="a")
        contents = [memory.content for memory in await held(longmind)]
    assert "Lives in Porto" in contents
    assert "Lives in Lisbon" not in contents


async def test_markdown_with_front_matter(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "markdown", samples.markdown(tmp_path), agent="a")
        memories = {memory.content.strip(): memory for memory in await held(longmind)}
    tea = memories["Hojicha is roasted."]
    assert (tea.body["title"], tea.source.uri, tea.tags) == ("On tea", "markdown:notes/tea.md", ("tea", "shop"))
    assert tea.occurred_at == datetime(2024, 5, 1, tzinfo=UTC)
    assert (tea.metadata["author"], tea.metadata["aliases"]) == ("Ada", ["Cha"])
    places = [item.place for item in report.unmapped]
    assert places == ["broken.md", "nested.md, line 3"]


async def test_json_lines(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "jsonl", samples.jsonl(tmp_path), agent="a")
        memories = {memory.content: memory for memory in await held(longmind)}
        facts = await longmind.agent("a").semantic.know("Ada", "lives in")
    assert report.counts == {"messages": 3, "facts": 1, "notes": 1}
    assert (memories["Hello."].session, memories["Hello."].source.name) == ("s1", "Ada")
    assert memories["Hello."].metadata["id"] == "7"
    assert memories["A note by itself."].user == "ada"
    assert facts[0].valid_from == datetime(2024, 5, 1, tzinfo=UTC)
    assert [item.place for item in report.unmapped] == ["own.jsonl, line 5", "own.jsonl, line 6"]


async def test_a_letta_agent_file(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "letta", samples.letta(tmp_path), agent="a", user="ada")
        memories = {memory.content: memory for memory in await held(longmind)}
    assert set(memories) == {"Name: Ada.", "I am Sam.", "I am Ada.", "Hello, Ada!", "I looked.", "Hojicha."}
    reply = memories["Hello, Ada!"]
    assert (reply.source.name, reply.session, reply.metadata["id"]) == ("sam", "sam", "message-3")
    assert memories["Name: Ada."].metadata["label"] == "human"
    assert [item.reason for item in report.unmapped] == [
        "the instructions of the agent",
        "an event of Letta's own",
        "what the agent thought",
        "the result of a tool",
        "a call of the tool archival_memory_search",
        "1 tools: Longmind stores no code or connections",
    ]


async def test_an_earlier_letta_agent_file(tmp_path: Path) -> None:
    path = tmp_path / "old.af"
    message = {"role": "user", "text": "Hello.", "created_at": samples.AT}
    block = {"label": "human", "value": "Ada."}
    path.write_text(json.dumps({"name": "sam", "core_memory": [block], "messages": [message]}))
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "letta", path, agent="a")
    assert report.counts == {"messages": 1, "notes": 1}


async def test_edges_of_zep_are_facts_that_hold_in_their_time(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "zep", samples.zep(tmp_path), agent="a")
        semantic = longmind.agent("a").semantic
        now = await semantic.know("Ada", "works at")
        then = await semantic.know("Ada", "works at", as_of=datetime(2022, 1, 1, tzinfo=UTC))
        memories = {memory.content: memory for memory in await held(longmind)}
    assert ([fact.object for fact in now], [fact.object for fact in then]) == (["Globex"], ["Acme"])
    assert then[0].valid_to == datetime(2024, 5, 1, tzinfo=UTC)
    said = memories["I left Acme for Globex."]
    assert (said.source.name, said.session, said.metadata["id"]) == ("Ada", "g", "e1")
    assert said.id in {evidence.memory for evidence in now[0].evidence}, "the episode it was taken from"
    assert memories["Ada works at Globex."].source.uri == "zep:f2"
    assert [item.place for item in report.unmapped] == ["graph.json, edges 3", "graph.json, communities"]


async def test_a_store_of_langgraph(tmp_path: Path) -> None:
    async with Longmind.open("memory:") as longmind:
        report = await import_memories(longmind, "langgraph", samples.langgraph(tmp_path), agent="a", user="ada")
        mem = longmind.agent("a", "ada")
        value = await mem.values.get(("users", "ada"), "home")
        assert (await mem.recall("Lisbon", 1))[0].memory.user == "ada"
    assert value is not None
    assert (value.value, value.updated_at) == ({"city": "Lisbon"}, datetime(2024, 5, 2, 8, tzinfo=UTC))
    assert [item.reason.split(":")[0] for item in report.unmapped] == ["it has expired", "value", "1 checkpoints"]


async def test_what_was_forgotten_since_does_not_come_back(tmp_path: Path) -> None:
    chats, notes = samples.chatgpt(tmp_path), samples.mem0_json(tmp_path)
    async with Longmind.open("memory:") as longmind:
        await import_memories(longmind, "chatgpt", chats, agent="a", user="u")
        await import_memories(longmind, "mem0", notes, agent="a", user="u")
        mem = longmind.agent("a", "u")
        await mem.forget([m.id for m in await held(longmind) if m.content in ("What a view!", "Likes green tea")])
        before = len(await held(longmind))
        await import_memories(longmind, "chatgpt", chats, agent="a", user="u")
        await import_memories(longmind, "mem0", notes, agent="a", user="u")
        assert len(await held(longmind)) == before


async def test_an_operation_repeated_after_its_memory_was_forgotten_says_so() -> None:
    async with Longmind.open("memory:") as longmind:
        mem = longmind.agent("a")
        for words in ({"key": "k"}, {"session": "s"}, {}):
            operation = f"op {words}"
            stored = await mem.remember("Hello.", operation=operation, **words)  # type: ignore[arg-type]
            await mem.forget(stored.id)
            with pytest.raises(NotFound, match="forgotten since"):
                await mem.remember("Hello.", operation=operation, **words)  # type: ignore[arg-type]


async def test_a_damaged_source_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"role": "user", "content": "Hello."}\n{"role": "user", "con', encoding="utf-8")
    async with Longmind.open("memory:") as longmind:
        with pytest.raises(InvalidInput, match=r"own\.jsonl, line 2: this is not JSON"):
            await import_memories(longmind, "jsonl", path, agent="a")
        assert await held(longmind) == []


async def test_progress_is_told_with_the_total(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    async with Longmind.open("memory:") as longmind:
        conversations = [samples.chatgpt_conversation(f"c{n}") for n in range(3)]
        path = samples.chatgpt(tmp_path, *conversations)
        await import_memories(longmind, "chatgpt", path, progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 12), (8, 12), (12, 12)]


async def test_an_unknown_format_is_named_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="chatgpt"):
        preview("gpt5", tmp_path)
