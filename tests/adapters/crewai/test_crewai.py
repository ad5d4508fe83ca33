"""The storage compared with CrewAI's own by random operations, and used by its ``Memory``."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord

from longmind import Longmind
from longmind.adapters.crewai import LongmindStorage
from longmind.sync import Longmind as BlockingLongmind

START = datetime(2026, 5, 1, 12)  # noqa: DTZ001
SCOPES = ["/", "/company", "/company/team", "/company/team/x", "/people", "/people/alice"]
QUERIES = [None, "/", "/company", "/company/team/", "/people", "/none"]


@pytest.fixture
def store() -> Iterator[BlockingLongmind]:
    with BlockingLongmind.open("memory:") as opened:
        yield opened


@pytest.fixture
def storage(store: BlockingLongmind) -> LongmindStorage:
    return LongmindStorage(store, agent="crew")


def record(number: int, choice: random.Random) -> MemoryRecord:
    return MemoryRecord(
        id=f"r{number}",
        content=f"Text number {number}.",
        scope=choice.choice(SCOPES),
        categories=choice.sample(["home", "work", "tea"], choice.randint(0, 2)),
        metadata={"rank": choice.randint(0, 2)},
        importance=choice.random(),
        created_at=START + timedelta(minutes=number),
        last_accessed=START,
        embedding=[choice.uniform(-1, 1) for _ in range(8)],
        source=choice.choice([None, "alice"]),
        private=choice.random() < 0.2,
    )


def plain(value: Any) -> Any:
    """A result without what floating point makes of a vector."""
    if isinstance(value, MemoryRecord):
        vector = [round(number, 4) for number in value.embedding or ()]
        return value.model_dump(exclude={"embedding"}), vector
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    if isinstance(value, list):
        return [plain(part) for part in value]
    return (
        round(value, 4) if isinstance(value, float) else value.model_dump() if hasattr(value, "model_dump") else value
    )


def random_query(choice: random.Random) -> tuple[str, dict[str, Any]]:
    scope = choice.choice(QUERIES)
    name = choice.choice(
        ["search", "list_records", "get_scope_info", "list_scopes", "list_categories", "count", "get_record"]
    )
    if name == "search":
        vector = [choice.uniform(-1, 1) for _ in range(8)]
        return name, {
            "query_embedding": vector,
            "scope_prefix": scope,
            "limit": choice.choice([1, 3, 50]),
            "min_score": choice.choice([0.0, 0.3]),
        }
    if name == "list_records":
        return name, {"scope_prefix": scope, "limit": choice.choice([0, 2, 50]), "offset": choice.choice([0, 1])}
    if name in ("list_categories", "count"):
        return name, {"scope_prefix": scope}
    if name == "get_record":
        return name, {"record_id": f"r{choice.randint(0, 30)}"}
    return name, {"scope" if name == "get_scope_info" else "parent": scope or "/"}


def change(choice: random.Random, both: tuple[Any, Any], number: int) -> None:
    """Change both in the same way."""
    kind = choice.choice(["save", "save", "save", "update", "delete_ids", "delete_categories", "reset"])
    if kind == "save":
        new = record(number, choice)
        for side in both:
            side.save([new])
    elif kind == "update" and (old := both[1].get_record(f"r{choice.randint(0, number)}")) is not None:
        new = old.model_copy(update={"content": "Changed.", "importance": 0.25})
        for side in both:
            side.update(new)
    elif kind == "delete_ids":
        ids = [f"r{choice.randint(0, number)}" for _ in range(2)]
        assert both[0].delete(record_ids=ids) == both[1].delete(record_ids=ids)
    elif kind == "delete_categories" and choice.random() < 0.3:
        conditions = {"categories": ["tea"], "scope_prefix": choice.choice(QUERIES)}
        assert both[0].delete(**conditions) == both[1].delete(**conditions)
    elif kind == "reset" and choice.random() < 0.2:
        for side in both:
            side.reset("/company/team")


@pytest.mark.parametrize("seed", range(5))
def test_random_operations_have_the_same_results(storage: LongmindStorage, tmp_path: Path, seed: int) -> None:
    reference = LanceDBStorage(path=str(tmp_path / "lance"), compact_every=0)
    choice = random.Random(seed)
    both = (storage, reference)
    first = record(1000, choice)
    for side in both:
        side.save([first])
    for number in range(30):
        change(choice, both, number)
        for _ in range(3):
            name, arguments = random_query(choice)
            mine, wanted = (plain(getattr(side, name)(**arguments)) for side in both)
            if name == "get_record" and mine and wanted:
                mine[0].pop("last_accessed"), wanted[0].pop("last_accessed")
            if name in ("search", "list_records"):
                for found in (mine, wanted):
                    for item in found:
                        (item[0][0] if name == "search" else item[0]).pop("last_accessed")
            assert mine == wanted, (name, arguments)


def test_it_is_a_storage_backend(storage: LongmindStorage) -> None:
    assert isinstance(storage, StorageBackend)


def test_conditions_of_a_deletion_are_all_met(storage: LongmindStorage) -> None:
    choice = random.Random(1)
    records = [record(number, choice) for number in range(20)]
    storage.save(records)
    cutoff = START + timedelta(minutes=10)
    met = [r for r in records if r.created_at < cutoff and r.metadata["rank"] == 1]
    assert storage.delete(older_than=cutoff, metadata_filter={"rank": 1}) == len(met) > 0
    assert storage.count() == 20 - len(met)
    storage.reset()
    assert storage.count() == 0


def test_vectors_of_another_length_are_refused(storage: LongmindStorage) -> None:
    choice = random.Random(1)
    storage.save([record(1, choice)])
    with pytest.raises(EmbeddingDimensionMismatchError):
        storage.save([record(2, choice).model_copy(update={"embedding": [1.0, 2.0]})])
    with pytest.raises(EmbeddingDimensionMismatchError):
        storage.search([1.0, 2.0])
    assert storage.count() == 1


async def test_the_asynchronous_methods_do_the_same(longmind: Longmind) -> None:
    storage = LongmindStorage(longmind, agent="crew", user="alice")
    choice = random.Random(1)
    records = [record(number, choice) for number in range(5)]
    await storage.asave(records)
    ((found, score),) = await storage.asearch(records[2].embedding, limit=1)
    assert (found.id, round(score, 3)) == ("r2", 1.0)
    assert await storage.adelete(record_ids=["r2"]) == 1
    assert await LongmindStorage(longmind, agent="crew", user="bob").asearch(records[1].embedding) == []


def test_crewais_memory_stores_and_recalls_with_longminds_vectors(
    store: BlockingLongmind, storage: LongmindStorage
) -> None:
    from crewai import LLM
    from crewai.memory.unified_memory import Memory

    memory = Memory(storage=storage, embedder=storage.embed, llm=LLM(model="gpt-5.4-mini", api_key="never-used"))
    for text, scope in (("Nora lives in Lisbon.", "/people"), ("The kettle is broken.", "/kitchen")):
        memory.remember(text, scope=scope, categories=["fact"], importance=0.5)
    memory.drain_writes()
    found = memory.recall("Where does Nora live?", limit=1, depth="shallow")
    assert [match.record.content for match in found] == ["Nora lives in Lisbon."]
    assert memory.list_scopes() == ["/kitchen", "/people"]
    hits = store.agent("crew").recall("Where does Nora live?")
    assert hits[0].memory.content == "Nora lives in Lisbon."
    memory.close()


async def test_the_cost_of_a_call(longmind: Longmind, measure_cost: Callable[..., Awaitable[None]]) -> None:
    storage, mem = LongmindStorage(longmind, agent="adapter"), longmind.agent("direct")
    choice = random.Random(1)
    await measure_cost(
        "save",
        lambda n: storage.asave([record(n + 10, choice)]),
        lambda n: mem.values.put(("records",), f"r{n}", record(n + 10, choice).model_dump(mode="json")),
    )
    vector = [1.0] * 8
    await measure_cost(
        "search among 210", lambda n: storage.asearch(vector), lambda n: mem.values.search(f"Text number {n}.", 10)
    )
