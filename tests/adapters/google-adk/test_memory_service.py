"""``LongmindMemoryService`` with ADK's real runner, sessions and tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools import load_memory
from google.genai.types import Content, FunctionCall, Part
from tests.adapters.conftest import BOTH

from longmind import Longmind
from longmind.adapters.google_adk import LongmindMemoryService
from longmind.errors import Forbidden, InvalidInput

ALICE: Any = {"app_name": "shop", "user_id": "alice"}


def said(text: str, author: str = "user", **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    return Event(author=author, content=Content(role=role, parts=[Part(text=text)]), **fields)


def called() -> Event:
    part = Part(function_call=FunctionCall(name="weather", args={"city": "Oslo"}))
    return Event(author="helper", content=Content(role="model", parts=[part]))


def session(*events: Event, id: str = "s1", user: str = "alice") -> Session:
    return Session(id=id, app_name="shop", user_id=user, events=list(events))


async def found(service: LongmindMemoryService, query: str, **scope: str) -> list[str]:
    response = await service.search_memory(query=query, **(ALICE | scope))
    return [entry.content.parts[0].text for entry in response.memories]


_applications = iter(range(1_000))


@BOTH
async def test_a_session_is_found_with_author_and_time(longmind: Longmind) -> None:
    service, app = LongmindMemoryService(longmind), f"shop {next(_applications)}"
    event = said("My dog Rex hates rain.", timestamp=1_700_000_000.0)
    reply = said("Then we stay inside.", author="helper")
    added = session(event, called(), reply)
    added.app_name = app
    await service.add_session_to_memory(added)
    response = await service.search_memory(app_name=app, user_id="alice", query="What does the dog hate?")
    entry = response.memories[0]
    assert entry.id == event.id
    assert entry.author == "user"
    assert entry.timestamp == "2023-11-14T22:13:20+00:00"
    assert entry.content.parts[0].text == "My dog Rex hates rain."
    assert {entry.author for entry in response.memories} == {"user", "helper"}


async def test_a_session_that_is_added_again_is_stored_once(longmind: Longmind) -> None:
    service = LongmindMemoryService(longmind)
    events = [said("Yes."), said("It is cold.", author="helper"), said("Yes.")]
    await service.add_session_to_memory(session(*events[:1]))
    await service.add_session_to_memory(session(*events))
    await service.add_session_to_memory(session(*events))
    mem = longmind.agent("shop", user="alice")
    assert [memory.content for memory in await mem.conversation("s1").history()] == ["Yes.", "It is cold.", "Yes."]


async def test_events_without_a_session_are_stored_once(longmind: Longmind) -> None:
    service = LongmindMemoryService(longmind)
    event = said("I live in Porto.")
    for _ in range(2):
        await service.add_events_to_memory(**ALICE, events=[event, called()], custom_metadata={"channel": "phone"})
    assert await found(service, "Porto") == ["I live in Porto."]
    response = await service.search_memory(**ALICE, query="Porto")
    assert response.memories[0].custom_metadata["channel"] == "phone"


async def test_events_of_a_session_follow_each_other(longmind: Longmind) -> None:
    service = LongmindMemoryService(longmind)
    for text in ("One.", "Two."):
        await service.add_events_to_memory(**ALICE, events=[said(text)], session_id="s1")
    history = await longmind.agent("shop", user="alice").conversation("s1").history()
    assert [memory.content for memory in history] == ["One.", "Two."]


@BOTH
async def test_another_user_and_application_find_nothing(longmind: Longmind) -> None:
    service = LongmindMemoryService(longmind)
    await service.add_session_to_memory(session(said("I live in Porto.")))
    assert await found(service, "Porto", user_id="bob") == []
    assert await found(service, "Porto", app_name="another") == []


async def test_memories_are_added_directly(longmind: Longmind) -> None:
    service = LongmindMemoryService(longmind)
    entry = MemoryEntry(
        id="m1",
        author="helper",
        timestamp="2026-05-01T10:00:00+00:00",
        content=Content(parts=[Part(text="Alice prefers tea.")]),
        custom_metadata={"topic": "drinks"},
    )
    for _ in range(2):
        await service.add_memory(**ALICE, memories=[entry])
    (stored,) = (await service.search_memory(**ALICE, query="tea")).memories
    assert (stored.id, stored.author, stored.timestamp) == ("m1", "helper", "2026-05-01T10:00:00+00:00")
    assert stored.custom_metadata["topic"] == "drinks"
    with pytest.raises(InvalidInput):
        await service.add_memory(**ALICE, memories=[MemoryEntry(content=Content(parts=[]))])


@BOTH
async def test_what_is_deleted_does_not_come_back_with_its_session(longmind: Longmind) -> None:
    service, app = LongmindMemoryService(longmind), f"shop {next(_applications)}"
    event = said("My secret is a zebra.")
    added = session(event, said("I live in Porto."))
    added.app_name = app
    await service.add_session_to_memory(added)
    (entry,) = [
        entry
        for entry in (await service.search_memory(app_name=app, user_id="alice", query="zebra secret")).memories
        if entry.id == event.id
    ]
    await service.delete_memory(app_name=app, user_id="bob", memory_id=entry.id)
    assert "My secret is a zebra." in await found(service, "zebra", app_name=app)
    await service.delete_memory(app_name=app, user_id="alice", memory_id=entry.id)
    await service.add_session_to_memory(added)
    assert "My secret is a zebra." not in await found(service, "zebra", app_name=app)
    await service.delete_memory(app_name=app, user_id="alice", memory_id="unknown")
    await service.delete_memory(app_name=app, user_id="alice")


async def test_what_was_remembered_otherwise_is_found_and_deleted_by_its_own_id(longmind: Longmind) -> None:
    service, mem = LongmindMemoryService(longmind, agent="assistant"), longmind.agent("assistant", user="alice")
    await mem.remember("I live in Porto.")
    (entry,) = (await service.search_memory(**ALICE, query="Porto")).memories
    await service.delete_memory(**ALICE, memory_id=entry.id)
    assert await mem.recall("Porto") == []


async def test_a_service_of_one_user_is_walled(longmind: Longmind) -> None:
    service = LongmindMemoryService(longmind, user="alice")
    with pytest.raises(Forbidden):
        await service.search_memory(app_name="shop", user_id="bob", query="Porto")


class Scripted(BaseLlm):
    """A model that first asks memory and then says what it was told."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = llm_request.contents[-1].parts[0]
        if last.function_response is None:
            part = Part(function_call=FunctionCall(name="load_memory", args={"query": last.text}))
        else:
            part = Part(text=f"I remember: {last.function_response.response}")
        yield LlmResponse(content=Content(role="model", parts=[part]))


async def run(runner: Runner, session_id: str, text: str) -> str:
    answers = []
    message = Content(role="user", parts=[Part(text=text)])
    async for event in runner.run_async(user_id="alice", session_id=session_id, new_message=message):
        answers += [part.text for part in event.content.parts if part.text] if event.content else []
    return answers[-1]


async def test_an_agent_remembers_another_session(longmind: Longmind) -> None:
    service, sessions = LongmindMemoryService(longmind), InMemorySessionService()
    agent = LlmAgent(name="helper", model=Scripted(model="scripted"), tools=[load_memory])
    runner = Runner(agent=agent, app_name="shop", session_service=sessions, memory_service=service)
    for id in ("first", "second"):
        await sessions.create_session(app_name="shop", user_id="alice", session_id=id)
    await run(runner, "first", "My dog Rex hates rain.")
    held = await sessions.get_session(app_name="shop", user_id="alice", session_id="first")
    await service.add_session_to_memory(held)
    assert "Rex hates rain" in await run(runner, "second", "What does my dog hate?")


async def test_what_the_adapter_costs(measure_cost: Callable[..., Any], tmp_path: Path) -> None:
    async with Longmind.open(str(tmp_path / "memory.db")) as opened:
        service, direct = LongmindMemoryService(opened), opened.agent("direct", user="alice")
        await measure_cost(
            "add an event",
            lambda n: service.add_events_to_memory(**ALICE, events=[said(f"The number {n}.")], session_id="s"),
            lambda n: direct.remember(
                [{"role": "user", "content": f"The number {n}.", "metadata": {"id": str(n)}}], session="s"
            ),
        )
        await measure_cost(
            "search",
            lambda n: service.search_memory(**ALICE, query=f"number {n}"),
            lambda n: direct.recall(f"number {n}", 10),
        )
