"""Tools of a memory on a server."""

from __future__ import annotations

from longmind import Longmind


async def test_a_memory_on_a_server_has_the_same_tools(store: Longmind, remote: Longmind) -> None:
    tools = remote.agent("assistant", user="alice").tools("verbs", "facts")
    assert tools.openai() == store.agent("assistant", user="alice").tools("verbs", "facts").openai()
    assert (await tools.call("remember", {"content": "Nora lives in Lisbon."})).text.startswith("Remembered")
    assert "Lisbon" in (await tools.call("recall", {"query": "Where does Nora live?"})).text
    learnt = await tools.call("learn_fact", {"subject": "Nora", "predicate": "lives in", "object": "Lisbon"})
    assert not learnt.is_error
    assert (await tools.call("forget", {"which": ["no-such-id"]})).is_error
