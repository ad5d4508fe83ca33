"""Memories over REST and through the remote face."""

from __future__ import annotations

import httpx2
import pytest

from longmind import Document, Longmind, Message
from longmind.errors import InvalidInput, NotFound, OperationMismatch, Unsupported, VersionConflict

MEMORIES = "/v1/agents/assistant/memories"


async def test_what_is_remembered_is_recalled(http: httpx2.AsyncClient) -> None:
    stored = await http.post(MEMORIES, params={"user": "alice"}, json={"content": "I moved to Lisbon in May."})
    assert stored.status_code == 201
    assert stored.headers["etag"] == '"1"'
    asked = {"query": "who moved to Lisbon?"}
    found = await http.post("/v1/agents/assistant/recall", params={"user": "alice"}, json=asked)
    assert [hit["memory"]["id"] for hit in found.json()["hits"]] == [stored.json()["id"]]
    other = await http.post("/v1/agents/assistant/recall", params={"user": "bob"}, json=asked)
    assert other.json() == {"hits": []}


async def test_several_are_stored_in_one_request(http: httpx2.AsyncClient) -> None:
    contents = ["One.", {"role": "assistant", "content": "Two."}, {"document": {"content": "Three.", "title": "T"}}]
    stored = (await http.post(MEMORIES, json={"content": contents})).json()["items"]
    assert [memory["content"] for memory in stored] == ["One.", "Two.", "Three."]
    assert stored[2]["kind"] == "document"


async def test_a_blank_one_among_several_does_not_refuse_the_others(http: httpx2.AsyncClient) -> None:
    content = ["I have a cat.", " ", {"role": "assistant", "content": ""}, "I live in Oslo."]
    answer = await http.post("/v1/agents/assistant/memories", json={"content": content})
    assert answer.status_code == 201
    assert [memory["content"] for memory in answer.json()["items"]] == ["I have a cat.", "I live in Oslo."]


async def test_pages_follow_a_cursor(http: httpx2.AsyncClient) -> None:
    await http.post(MEMORIES, json={"content": [f"Number {n}." for n in range(5)]})
    seen: list[str] = []
    cursor = None
    while True:
        page = (await http.get(MEMORIES, params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        seen += [memory["content"] for memory in page["items"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert sorted(seen) == [f"Number {n}." for n in range(5)]


async def test_a_filter_in_a_query_is_json(http: httpx2.AsyncClient) -> None:
    await http.post(MEMORIES, json={"content": "Tea.", "tags": ["drink"]})
    await http.post(MEMORIES, json={"content": "Bread.", "tags": ["food"]})
    page = await http.get(MEMORIES, params={"where": '{"tags_any": ["food"]}'})
    assert [memory["content"] for memory in page.json()["items"]] == ["Bread."]
    wrong = await http.get(MEMORIES, params={"where": '{"tag": 1}'})
    assert wrong.status_code == 422


async def test_an_update_needs_the_etag_that_was_read(http: httpx2.AsyncClient) -> None:
    stored = await http.post(MEMORIES, json={"content": "Tea."})
    path = f"{MEMORIES}/{stored.json()['id']}"
    first = await http.patch(path, json={"importance": 0.9}, headers={"If-Match": stored.headers["etag"]})
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    late = await http.patch(path, json={"importance": 0.1}, headers={"If-Match": stored.headers["etag"]})
    assert (late.status_code, late.json()["code"]) == (412, "version_conflict")
    assert (await http.get(path, headers={"If-None-Match": '"2"'})).status_code == 304
    assert (await http.get(path, headers={"If-None-Match": '"1"'})).json()["importance"] == 0.9


async def test_an_idempotency_key_makes_a_repeated_request_one(http: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "order-1"}
    body = {"content": "Tea.", "session": "s"}
    first = await http.post(MEMORIES, json=body, headers=key)
    again = await http.post(MEMORIES, json=body, headers=key)
    assert first.json()["id"] == again.json()["id"]
    other = await http.post(MEMORIES, json={"content": "Coffee.", "session": "s"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "operation_mismatch")


async def test_what_is_forgotten_is_gone_and_can_be_undone(http: httpx2.AsyncClient) -> None:
    stored = (await http.post(MEMORIES, json={"content": "Tea."})).json()
    gone = await http.delete(f"{MEMORIES}/{stored['id']}")
    assert gone.json()["count"] == 1
    assert (await http.get(f"{MEMORIES}/{stored['id']}")).status_code == 404
    undone = await http.post(f"/v1/agents/assistant/operations/{gone.json()['operation']}/undo")
    assert undone.status_code == 200
    assert (await http.get(f"{MEMORIES}/{stored['id']}")).json()["content"] == "Tea."


async def test_names_with_slashes_and_spaces_are_names(http: httpx2.AsyncClient, remote: Longmind) -> None:
    mem = remote.agent("team/support desk", user="a/b?c#d%2F")
    stored = await mem.remember("Tea.", key="drinks/tea 50%")
    assert stored.agent == "team/support desk"
    assert stored.user == "a/b?c#d%2F"
    assert await mem.get(key="drinks/tea 50%") == stored
    assert await mem.get(stored.id) == stored


async def test_the_remote_face_has_the_verbs(remote: Longmind) -> None:
    mem = remote.agent("assistant", user="alice")
    stored = await mem.remember("I moved to Lisbon in May.", tags=["home"], metadata={"n": 1}, importance=0.9)
    several = await mem.remember([Message(content="My dog Rex hates rain."), Document(content="Rex.", title="dogs")])
    assert [memory.kind for memory in several] == ["message", "document"]
    assert (await mem.recall("who moved to Lisbon?"))[0].memory.id == stored.id
    assert "Lisbon" in await mem.context("where does she live, Lisbon?")
    changed = await mem.update(stored.id, expected_version=1, content="I moved to Porto in May.")
    assert changed.version == 2
    with pytest.raises(VersionConflict):
        await mem.update(stored.id, expected_version=1, content="I moved to Faro.")
    assert await mem.get(stored.id) == changed
    assert [change.action for change in await mem.history(stored.id)] == ["put", "update"]
    assert (await mem.list(kinds=["message"], limit=1)).cursor
    forgotten = await mem.forget(where={"tags_any": ["home"]})
    assert forgotten.ids == (stored.id,)
    assert await mem.get(stored.id) is None
    assert (await mem.undo(forgotten.operation or "")).ids("restored") == (stored.id,)
    assert (await mem.stats()).memories == 3
    assert (await mem.configure(recall_k=3, facts_from=["people"])) == await mem.configuration()
    assert (await mem.configuration()).facts_from == ("people",)
    assert (await mem.consolidate(dry_run=True)).dry_run
    assert [scope.agent for scope in await remote.agents()] == ["assistant"]


async def test_the_remote_face_raises_the_same_errors(remote: Longmind) -> None:
    mem = remote.agent("assistant")
    with pytest.raises(NotFound, match="There never was a memory"):
        await mem.history("00000000-0000-7000-8000-000000000000")
    with pytest.raises(InvalidInput, match="query must be text"):
        await mem.recall(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="Say what to forget"):
        await mem.forget()
    await mem.remember("Tea.", operation="one")
    with pytest.raises(OperationMismatch):
        await mem.remember("Coffee.", operation="one")
    with pytest.raises(Unsupported, match="promote"):
        await mem.dialogue.promote(print)  # type: ignore[arg-type]
    with pytest.raises(Unsupported):
        _ = remote.store
