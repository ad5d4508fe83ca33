"""The tools of real MCP servers, over stdio and over HTTP, written with the same SDK."""

import asyncio
import socket
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longmind.agent import Action, Agent, Call, Limits, Say, Turn
from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput, LongmindError
from longmind.systems.procedural import ToolRegistry

SERVER = '''
import os, sys
from pydantic import BaseModel
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("test")

class Place(BaseModel):
    city: str
    inside: "Place | None" = None

@server.tool()
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b

@server.tool()
def weather(place: Place) -> dict[str, str]:
    """The weather of a place."""
    return {"sky": "sunny", "city": place.city}

@server.tool(name="say hello")
def say_hello() -> str:
    return "hello"

@server.tool()
def fail() -> str:
    raise ToolError("it broke")

@server.tool()
def die() -> str:
    os._exit(3)

if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run("stdio")
'''


@pytest.fixture
def url() -> str:
    """One backend is enough here: what differs is the server."""
    return "memory:"


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "server.py"
    path.write_text(textwrap.dedent(SERVER), encoding="utf-8")
    return str(path)


@pytest.fixture
async def address(script: str) -> AsyncIterator[str]:
    """A server on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    child = await asyncio.create_subprocess_exec(
        sys.executable, script, str(port), stderr=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    await writer.wait_closed()
                    break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


def agent_of(mem: AgentMemory, *wanted: Call) -> Agent:
    def policy(turn: Turn) -> Action:
        return wanted[len(turn.done)] if len(turn.done) < len(wanted) else Say(text="done")

    return Agent(mem, policy=policy, tools=ToolRegistry(), limits=Limits(tool_seconds=20))


WANTED = (
    Call(tool="add", args={"a": 2, "b": 3}),
    Call(tool="add", args={"a": 2}),
    Call(tool="weather", args={"place": {"city": "Lisbon"}}),
    Call(tool="say_hello"),
    Call(tool="fail"),
)


async def used(agent: Agent) -> None:
    outcome = await agent.run("use them")
    assert outcome.ending == "answered", outcome.text
    added, once, weather, hello, failed = outcome.done
    assert (added.result, once.result) == (5, 3)
    assert weather.result == {"sky": "sunny", "city": "Lisbon"}
    assert hello.result == "hello"
    assert not failed.ok
    assert "it broke" in failed.error


async def test_a_server_that_is_started(mem: AgentMemory, script: str) -> None:
    async with agent_of(mem, *WANTED) as agent:
        names = await agent.tools_from_mcp([sys.executable, script])
        assert sorted(names) == ["add", "die", "fail", "say_hello", "weather"]
        described = {tool.name: tool for tool in agent.tools.described()}
        assert described["add"].description == "Add two numbers."
        assert described["add"].parameters["required"] == ["a"]
        assert described["add"].parameters["properties"]["a"]["type"] == "integer"
        assert described["weather"].parameters["properties"]["place"]["properties"]["city"]["type"] == "string"
        await used(agent)
    closed = await agent.run("use them")
    assert "no longer connected" in closed.done[0].error


async def test_a_server_that_is_reached(mem: AgentMemory, address: str) -> None:
    async with agent_of(mem, *WANTED) as agent:
        await agent.tools_from_mcp(url=address)
        await used(agent)


async def test_two_servers_need_different_names(mem: AgentMemory, script: str) -> None:
    async with agent_of(mem, Call(tool="other_add", args={"a": 1})) as agent:
        await agent.tools_from_mcp([sys.executable, script])
        with pytest.raises(InvalidInput, match="Another function"):
            await agent.tools_from_mcp([sys.executable, script])
        await agent.tools_from_mcp([sys.executable, script], prefix="other_")
        assert (await agent.run("add")).done[0].result == 2


async def test_a_server_that_dies_is_an_observation(mem: AgentMemory, script: str) -> None:
    async with agent_of(mem, Call(tool="die"), Call(tool="add", args={"a": 1})) as agent:
        await agent.tools_from_mcp([sys.executable, script])
        outcome = await agent.run("die")
    assert [done.ok for done in outcome.done] == [False, False]
    assert outcome.ending == "answered"


async def test_what_is_no_server_is_a_clear_error(mem: AgentMemory, tmp_path: Path) -> None:
    agent = agent_of(mem)
    with pytest.raises(InvalidInput, match="one MCP server"):
        await agent.tools_from_mcp()
    with pytest.raises(InvalidInput, match="list of words"):
        await agent.tools_from_mcp("python server.py")
    with pytest.raises(LongmindError, match="cannot be used"):
        await agent.tools_from_mcp([str(tmp_path / "no-such-program")])
    with pytest.raises(LongmindError, match="cannot be used"):
        await agent.tools_from_mcp(url="http://127.0.0.1:9/mcp")
    with pytest.raises(LongmindError, match="did not answer within"):
        await agent.tools_from_mcp([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.5)
    assert len(agent.tools) == 0
