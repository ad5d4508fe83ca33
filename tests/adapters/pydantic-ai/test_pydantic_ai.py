"""The store compared with the harness's own by random operations, and used by its ``Memory`` in a real agent."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    Memory,
    MemoryConflictError,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    MetadataMemoryStore,
    SearchableMemoryStore,
)

from longmind import Longmind
from longmind.adapters.pydantic_ai import LongmindMemoryStore

PATHS = ["a.md", "b.md", "d/a.md", "d/e/c.md", "d2/x", "d/ab.md"]
WRONG = ["", "/a", "../a", "a/../b", "a//b", "a/./b", "a\x00", "ä", "a b", "x" * 201]


@pytest.fixture
def store(longmind: Longmind) -> LongmindMemoryStore:
    return LongmindMemoryStore(longmind, agent="assistant", user="alice")


def test_it_is_a_store_with_metadata_and_search(store: LongmindMemoryStore) -> None:
    assert isinstance(store, MemoryStore)
    assert isinstance(store, MetadataMemoryStore)
    assert isinstance(store, SearchableMemoryStore)


class Side:
    """One of the two stores. Versions are opaque, so each side keeps its own, by number."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.versions: list[str | None] = [None]

    async def outcome(self, command: str, number: int | None = None, **arguments: Any) -> Any:
        if number is not None:
            arguments["expected_version"] = self.versions[number]
        try:
            result = await getattr(self.store, command)(**arguments)
        except (ValueError, TypeError, MemoryConflictError, MemoryOperationConflictError) as error:
            return type(error).__name__
        if command == "read":
            if result is None:
                return None
            return result.content, result.truncated, result.operation_id, result.metadata, self._number(result.version)
        if command in ("list_paths",):
            return result
        return None if result is None else (self._number(result.version), result.replayed, result.existed)

    def _number(self, version: str | None) -> int:
        if version not in self.versions:
            self.versions.append(version)
        return self.versions.index(version)


def random_command(choice: random.Random, versions: int) -> tuple[str, dict[str, Any]]:
    path = choice.choice([*PATHS, *PATHS, choice.choice(WRONG)])
    operation = MemoryOperation(f"op{choice.randint(0, 8)}", f"f{choice.randint(0, 1)}")
    command = choice.choice(["read", "write", "write", "write_with_metadata", "delete", "list_paths", "get_operation"])
    if command == "read":
        return command, {"path": path, "max_chars": choice.choice([0, 3, 100])}
    if command == "list_paths":
        return command, {
            "prefix": choice.choice(["", "d", "d/", "d/e/", "no", "a.md", "../"]),
            "limit": choice.choice([0, 1, 50]),
        }
    if command == "get_operation":
        return command, {"operation": operation}
    arguments: dict[str, Any] = {"path": path, "number": choice.randint(max(0, versions - 4), versions - 1)}
    if choice.random() < 0.3:
        arguments["number"] = 0
    if command != "delete":
        arguments["content"] = choice.choice(["", "one", "two lines\nof text", "x" * 50])
    if command == "write_with_metadata":
        arguments["metadata"] = choice.choice([None, {}, {"by": "alice"}, {"by": 7}, {"x": "y" * 5000}])
    if choice.random() < 0.4:
        arguments["operation"] = operation
    return command, arguments


@pytest.mark.parametrize("seed", range(10))
async def test_random_operations_have_the_same_results(store: LongmindMemoryStore, seed: int) -> None:
    ours, theirs = Side(store), Side(InMemoryStore())
    choice = random.Random(seed)
    done = 0
    for _ in range(120):
        command, arguments = random_command(choice, len(theirs.versions))
        mine, wanted = await ours.outcome(command, **arguments), await theirs.outcome(command, **arguments)
        assert mine == wanted, (command, arguments)
        done += isinstance(wanted, tuple)
    assert done > 15


async def test_a_version_is_never_used_again(store: LongmindMemoryStore) -> None:
    first = await store.write("a.md", "one", expected_version=None)
    await store.delete("a.md", expected_version=first.version)
    await store.write("a.md", "two", expected_version=None)
    with pytest.raises(MemoryConflictError):
        await store.write("a.md", "three", expected_version=first.version)


async def test_of_two_writers_at_once_one_wins(store: LongmindMemoryStore) -> None:
    writes = [store.write("a.md", f"text {n}", expected_version=None) for n in range(8)]
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert sum(not isinstance(result, BaseException) for result in results) == 1
    assert sum(isinstance(result, MemoryConflictError) for result in results) == 7


async def test_an_operation_is_done_once_by_however_many(store: LongmindMemoryStore) -> None:
    operation = MemoryOperation("op", "f")
    writes = [store.write("a.md", "text", expected_version=None, operation=operation) for _ in range(6)]
    results = await asyncio.gather(*writes)
    assert sorted(result.replayed for result in results) == [False, *[True] * 5]
    assert len({result.version for result in results}) == 1


async def test_an_operation_that_is_done_between_two_reads_is_replayed(
    store: LongmindMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation = MemoryOperation("op", "f")
    read = store._file

    async def late(path: str) -> object:
        monkeypatch.undo()
        await store.write("a.md", "text", expected_version=None, operation=operation)
        return await read(path)

    monkeypatch.setattr(store, "_file", late)
    assert (await store.write("a.md", "text", expected_version=None, operation=operation)).replayed


async def test_search_finds_direct_children_within_its_limits(store: LongmindMemoryStore) -> None:
    for path, text in {
        "u/home.md": "Nora lives in Lisbon. " * 20,
        "u/tea.md": "Alice likes green tea.",
        "u/deep/more.md": "Lisbon is far.",
        "v/home.md": "Lisbon again.",
    }.items():
        await store.write(path, text, expected_version=None)
    limits = {"limit": 5, "max_files": 50, "max_chars": 200, "max_file_chars": 1000}
    found = await store.search("u/", "Lisbon", **limits)
    assert [match.path for match in found.matches] == ["u/home.md"]
    assert "Lisbon" in found.matches[0].snippet
    assert len(found.matches[0].snippet) <= 200
    assert found.scanned == 2
    assert (await store.search("u/", "Lisbon", **{**limits, "max_files": 1})).truncated
    assert (await store.search("u/", "  ", **limits)).matches == []
    with pytest.raises(ValueError, match="invalid memory path"):
        await store.search("../", "Lisbon", **limits)


async def test_files_are_recalled_and_receipts_are_not(longmind: Longmind, store: LongmindMemoryStore) -> None:
    await store.write(
        "a.md", "Nora lives in Lisbon.", expected_version=None, operation=MemoryOperation("op-lisbon", "f")
    )
    hits = await longmind.agent("assistant", user="alice").recall("op-lisbon Nora Lisbon", 10)
    assert [hit.memory.content for hit in hits] == ["a.md\nNora lives in Lisbon."]
    other = LongmindMemoryStore(longmind, agent="assistant", user="bob")
    assert await other.read("a.md", max_chars=10) is None
    assert await other.list_paths(limit=10) == []


async def test_an_agent_writes_and_finds_its_memory(longmind: Longmind, store: LongmindMemoryStore) -> None:
    calls = iter(
        [
            [ToolCallPart("write_memory", {"content": "Nora lives in Lisbon."})],
            [TextPart("Noted.")],
            [TextPart("In Lisbon.")],
        ]
    )
    seen: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(f"{[tool.name for tool in info.function_tools]} {info.instructions} {messages}")
        return ModelResponse(parts=next(calls))

    agent = Agent(FunctionModel(model), capabilities=[Memory(store=store)])
    await agent.run("Remember where Nora lives: Lisbon.")
    (path,) = await store.list_paths(limit=10)
    file = await store.read(path, max_chars=1000)
    assert file is not None, seen[1]
    assert "Nora lives in Lisbon." in file.content
    await agent.run("Where does Nora live?")
    assert "Nora lives in Lisbon." in seen[2]


async def test_the_cost_of_a_call(longmind: Longmind, measure_cost: Callable[..., Awaitable[None]]) -> None:
    store, mem = LongmindMemoryStore(longmind, agent="adapter"), longmind.agent("direct")
    await measure_cost(
        "write",
        lambda n: store.write(f"f{n + 10}", f"Tea {n}.", expected_version=None),
        lambda n: mem.values.put(("files",), f"f{n + 10}", {"content": f"Tea {n}."}, expected_version=0),
    )
    await measure_cost(
        "read",
        lambda n: store.read(f"f{n + 10}", max_chars=100),
        lambda n: mem.values.get(("files",), f"f{n + 10}"),
    )
