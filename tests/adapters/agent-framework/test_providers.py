"""The providers with the framework's real agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    InMemoryHistoryProvider,
    Message,
)
from tests.adapters.conftest import BOTH

from longmind import Longmind
from longmind.adapters.agent_framework import LongmindContextProvider, LongmindHistoryProvider


class Scripted(BaseChatClient):
    """A client that gives fixed answers, and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = list(answers)
        self.asked: list[list[Message]] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **kwargs: Any) -> Any:
        async def answer() -> ChatResponse:
            self.asked.append(list(messages))
            return ChatResponse(messages=[Message("assistant", [self.answers.pop(0)])])

        return answer()


_agents = iter(range(1_000))
MESSAGES = [
    Message("user", ["Is it cold in Oslo?"], author_name="Alice", message_id="m1"),
    Message("assistant", [Content.from_function_call("c1", "weather", arguments={"city": "Oslo"})]),
    Message("tool", [Content.from_function_result("c1", result="minus four")]),
    Message("assistant", ["Yes, ", "very."], additional_properties={"tone": "dry"}),
    Message("system", ["Be kind."]),
]


@BOTH
async def test_messages_come_back_exactly(longmind: Longmind) -> None:
    provider = LongmindHistoryProvider(longmind, agent=f"a {next(_agents)}", user="alice")
    await provider.save_messages("s1", MESSAGES[:2])
    await provider.save_messages("s1", MESSAGES[2:])
    stored = await provider.get_messages("s1")
    assert [message.to_dict() for message in stored] == [message.to_dict() for message in MESSAGES]
    assert await provider.get_messages("other") == []
    provider.limit = 2
    assert [message.text for message in await provider.get_messages("s1")] == [
        message.text for message in MESSAGES[-2:]
    ]


async def test_what_is_said_is_remembered_once_and_tools_are_not(longmind: Longmind) -> None:
    await LongmindHistoryProvider(longmind, agent="a").save_messages("s1", MESSAGES)
    mem = longmind.agent("a")
    assert (await mem.stats()).memories == len(MESSAGES)
    listed = [(memory.source.role, memory.content) for memory in (await mem.list(descending=False)).items]
    assert listed == [("user", "Is it cold in Oslo?"), ("assistant", "Yes, \nvery.")]


async def test_an_agent_goes_on_with_a_conversation(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    client = Scripted("Noted.", "You live in Porto.")
    async with Longmind.open(url) as longmind:
        agent = Agent(client, "Be brief.", context_providers=[LongmindHistoryProvider(longmind, user="alice")])
        await agent.run("I live in Porto.", session=AgentSession(session_id="s1"))
    async with Longmind.open(url) as longmind:
        agent = Agent(client, "Be brief.", context_providers=[LongmindHistoryProvider(longmind, user="alice")])
        response = await agent.run("Where do I live?", session=AgentSession(session_id="s1"))
        assert response.text == "You live in Porto."
        assert [message.text for message in client.asked[-1] if str(message.role) != "system"] == [
            "I live in Porto.",
            "Noted.",
            "Where do I live?",
        ]


async def test_another_conversation_has_what_matters_and_it_is_never_stored_as_said(longmind: Longmind) -> None:
    client = Scripted("Noted.", "In Porto.", "In Porto, as I said.")
    history = LongmindHistoryProvider(longmind, user="alice", store_context_messages=True)
    context = LongmindContextProvider(longmind, user="alice")
    agent = Agent(client, "Be brief.", context_providers=[history, context])
    await agent.run("I live in Porto, by the river.", session=AgentSession(session_id="s1"))
    for question in ("Where do I live?", "Where again?"):
        await agent.run(question, session=AgentSession(session_id="s2"))
    assert any("I live in Porto, by the river." in message.text for message in client.asked[1])
    mem = longmind.agent("assistant", user="alice")
    said = [memory.content for memory in await mem.conversation("s2").history()]
    assert said == ["Where do I live?", "In Porto.", "Where again?", "In Porto, as I said."]
    assert (await mem.stats()).memories == 6


async def test_the_context_provider_alone_remembers_each_turn_once(longmind: Longmind) -> None:
    client = Scripted("Noted.", "Yes.", "Yes.")
    context = LongmindContextProvider(longmind, agent="a", user="alice")
    agent = Agent(client, "Be brief.", context_providers=[InMemoryHistoryProvider(), context])
    session = AgentSession(session_id="s1")
    for said in ("I live in Porto.", "Really?", "Really?"):
        await agent.run(said, session=session)
    history = await longmind.agent("a", user="alice").conversation("s1").history()
    assert [memory.content for memory in history] == [
        "I live in Porto.",
        "Noted.",
        "Really?",
        "Yes.",
        "Really?",
        "Yes.",
    ]


async def test_it_can_only_read(longmind: Longmind) -> None:
    await longmind.agent("a", user="alice").remember("Alice lives in Porto.")
    client = Scripted("In Porto.")
    context = LongmindContextProvider(longmind, agent="a", user="alice", remember=False)
    agent = Agent(client, "Be brief.", context_providers=[context])
    await agent.run("Where does Alice live?", session=AgentSession(session_id="s1"))
    assert any("Alice lives in Porto." in message.text for message in client.asked[0])
    assert (await longmind.agent("a", user="alice").stats()).memories == 1


async def test_another_user_gets_nothing(longmind: Longmind) -> None:
    await longmind.agent("a", user="alice").remember("Alice lives in Porto.")
    client = Scripted("I do not know.")
    context = LongmindContextProvider(longmind, agent="a", user="bob")
    await Agent(client, "Be brief.", context_providers=[context]).run("Where does Alice live?")
    assert not any("Porto" in message.text for message in client.asked[0])


async def test_what_the_adapter_costs(measure_cost: Callable[..., Any], tmp_path: Path) -> None:
    async with Longmind.open(str(tmp_path / "memory.db")) as opened:
        provider, conversation = LongmindHistoryProvider(opened, agent="a"), opened.agent("b").conversation("s")
        await measure_cost(
            "save a message",
            lambda n: provider.save_messages("s", [Message("user", [f"The number {n}."])]),
            lambda n: conversation.add(f"The number {n}."),
        )
        provider.limit = 10
        await measure_cost(
            "load ten messages", lambda n: provider.get_messages("s"), lambda n: conversation.history(10)
        )
