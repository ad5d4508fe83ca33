"""The optional power to erase completely: clearing the journal, past links, and who a memory belonged to."""

from __future__ import annotations

import pytest

from longmind.errors import Forbidden
from longmind.store.base import Backend, ClearHistory, Delete, ErasureBackend, Put, RemoveLink, Update
from longmind.store.conformance.steps import AGENT, ALICE, BOB, OTHER_AGENT, apply, clock, get, journal, link, put
from longmind.testing import memory


def erasing(backend: Backend) -> ErasureBackend:
    """The backend, if it has this power."""
    if not isinstance(backend, ErasureBackend):
        pytest.skip("the backend cannot erase completely")
    return backend


class Erasure:
    """``ClearHistory`` takes content out of the journal and leaves its lines; the past is found by what it tells."""

    async def test_clearing_a_history_leaves_the_record_and_empty_lines(self, backend: Backend) -> None:
        erasing(backend)
        kept = await put(backend, "kept")
        await apply(backend, Update(kept.id, {"content": "still kept"}), reason="swordfish", operation="swordfish")
        gone = await put(backend, "swordfish")
        await apply(backend, Delete(gone.id), reason="swordfish")
        head = await backend.head(AGENT)
        await apply(backend, ClearHistory((kept.id, gone.id)))
        assert await backend.head(AGENT) == head
        changes = await journal(backend)
        assert [(c.action, c.before, c.link, c.reason) for c in changes] == [
            (action, None, None, "") for action in ("put", "update", "put", "delete")
        ]
        assert "swordfish" not in "".join(change.model_dump_json() for change in changes)
        stored = await get(backend, kept.id)
        assert stored is not None
        assert stored.content == "still kept"

    async def test_a_user_is_taken_out_of_the_journal(self, backend: Backend) -> None:
        erasing(backend)
        hers, his = await put(backend, "hers", scope=ALICE), await put(backend, "his", scope=BOB)
        for stored, scope in ((hers, ALICE), (his, BOB)):
            await apply(backend, Update(stored.id, {"tags": ("t",)}), scope=scope, reason="tags")
        await apply(backend, Delete(hers.id, erase=True), ClearHistory(users=(str(ALICE.user),)))
        assert [(c.memory_id, c.reason, c.before) for c in await journal(backend, scope=BOB)] == [
            (hers.id, "", None),
            (his.id, "", None),
            (hers.id, "", None),
            (his.id, "tags", {"tags": []}),
            (hers.id, "", None),
        ]
        assert await erasing(backend).past_ids(ALICE) == []

    async def test_everything_of_an_agent(self, backend: Backend) -> None:
        erasing(backend)
        hers, other = await put(backend, "hers", scope=ALICE), await put(backend, "other", scope=OTHER_AGENT)
        await apply(backend, Update(hers.id, {"content": "swordfish"}), operation="swordfish", reason="swordfish")
        await apply(backend, Update(other.id, {"content": "kept"}), scope=OTHER_AGENT, operation="kept", reason="kept")
        await apply(backend, ClearHistory(everything=True))
        assert all((c.before, c.reason) == (None, "") for c in await journal(backend))
        assert [c.reason for c in await journal(backend, scope=OTHER_AGENT, operation="kept")] == ["kept"]

    async def test_only_the_scope_of_a_whole_agent_clears(self, backend: Backend) -> None:
        erasing(backend)
        hers = await put(backend, "hers", scope=ALICE)
        with pytest.raises(Forbidden):
            await apply(backend, ClearHistory((hers.id,)), scope=ALICE)

    async def test_past_links_outlive_the_memories(self, backend: Backend) -> None:
        power = erasing(backend)
        a, b, c = await put(backend, "a"), await put(backend, "b"), await put(backend, "c", scope=ALICE)
        await link(backend, a, "of", b)
        await link(backend, a, "of", b, weight=0.5)
        await link(backend, c, "of", b)
        await apply(backend, RemoveLink(a.id, "of", b.id))
        await apply(backend, Delete(b.id))
        reached = await power.past_links(AGENT, [b.id], direction="in")
        assert sorted((e.source, e.relation, e.target) for e in reached) == sorted(
            [(a.id, "of", b.id), (c.id, "of", b.id)]
        )
        assert [e.target for e in await power.past_links(AGENT, [a.id], direction="out")] == [b.id]
        assert [e.source for e in await power.past_links(BOB, [b.id], direction="in")] == [a.id]
        assert await power.past_links(OTHER_AGENT, [b.id], direction="in") == []
        await apply(backend, Delete(c.id, erase=True), ClearHistory((b.id,)))
        assert await power.past_links(AGENT, [a.id, b.id, c.id], direction="in") == []

    async def test_what_belonged_to_a_user_is_known_after_deletion(self, backend: Backend) -> None:
        power = erasing(backend)
        hers, gone = await put(backend, "hers", scope=ALICE), await put(backend, "gone", scope=ALICE)
        his, agents = await put(backend, "his", scope=BOB), await put(backend, "the agent's")
        await link(backend, agents, "of", hers)
        await apply(backend, Delete(gone.id))
        assert await power.past_ids(ALICE) == sorted([hers.id, gone.id])
        assert await power.past_ids(AGENT) == sorted([hers.id, gone.id, his.id, agents.id])
        await apply(backend, ClearHistory((gone.id,)), Delete(his.id, erase=True))
        assert await power.past_ids(AGENT) == sorted([hers.id, agents.id])
        assert [s.agent for s in await power.past_scopes()] == [AGENT.agent]

    async def test_an_idempotent_batch_is_forgotten_with_what_it_wrote(self, backend: Backend) -> None:
        erasing(backend)
        gone, new = memory("swordfish", scope=AGENT, clock=clock), memory("new", scope=AGENT, clock=clock)
        await apply(backend, Put(gone), operation="swordfish", idempotent=True)
        await apply(backend, Delete(gone.id, erase=True))
        receipt = await apply(backend, Put(new), operation="swordfish", idempotent=True)
        assert receipt.created == (True,)

    async def test_scrubbing_changes_no_record(self, backend: Backend) -> None:
        power = erasing(backend)
        kept, gone = await put(backend, "kept"), await put(backend, "swordfish")
        await apply(backend, Delete(gone.id, erase=True))
        assert (await power.scrub()).done
        assert await power.uncleared() == []
        assert await get(backend, kept.id) == kept
        assert [change.action for change in await journal(backend)] == ["put", "put", "erase"]
