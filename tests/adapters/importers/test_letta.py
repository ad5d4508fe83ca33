"""Agent files that Letta's own classes write are imported.

Letta 0.16.8 is the last distribution of that name with the server's classes; the later ones are another program.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from letta.schemas.agent_file import AgentFileSchema, AgentSchema, BlockSchema, FileSchema, MessageSchema, SkillSchema
from letta.schemas.enums import MessageRole
from letta.schemas.letta_message_content import ReasoningContent, TextContent
from openai.types.chat.chat_completion_message_tool_call import ChatCompletionMessageToolCall, Function

from longmind import Longmind
from longmind.importing import import_memories

AT = datetime(2026, 5, 1, 8, tzinfo=UTC)


def said(id: str, role: MessageRole, text: str | None, *others: Any, **fields: Any) -> MessageSchema:
    parts = [*others, *([TextContent(text=text)] if text is not None else [])]
    return MessageSchema(id=id, role=role, content=parts, created_at=AT, **fields)


def call(name: str, arguments: str) -> ChatCompletionMessageToolCall:
    return ChatCompletionMessageToolCall(id="t", type="function", function=Function(name=name, arguments=arguments))


def agent_file(path: Path) -> Path:
    """Write the file of two agents of one name, as the server does."""
    thought = ReasoningContent(is_native=True, reasoning="She greets me.")
    reply = call("send_message", '{"message": "Hi!"}')
    messages = [
        said("message-0", MessageRole.system, "You are Sam."),
        said("message-1", MessageRole.user, '{"type": "user_message", "message": "I am Ada.", "time": "now"}'),
        said("message-2", MessageRole.assistant, None, thought, tool_calls=[reply]),
        said("message-3", MessageRole.tool, '{"status": "OK"}', tool_call_id="t"),
        said("message-4", MessageRole.assistant, "I look.", tool_calls=[call("web_search", "{}")]),
        said("message-5", MessageRole.approval, None, approve=True),
        said("message-6", MessageRole.summary, "They met before, in Lisbon."),
    ]
    agents = [
        AgentSchema(id="agent-0", name="sam", messages=messages, block_ids=["block-0"]),
        AgentSchema(id="agent-1", name="sam", messages=[said("message-7", MessageRole.user, "Another talk.")]),
    ]
    content = AgentFileSchema(
        agents=agents,
        groups=[],
        blocks=[BlockSchema(id="block-0", label="human", value="Name: Ada."), BlockSchema(id="b", label="x", value="")],
        files=[FileSchema(id="file-0", source_id="source-0", file_name="tea.txt", content="Hojicha is roasted.")],
        sources=[],
        tools=[],
        mcp_servers=[],
        skills=[SkillSchema(name="slack", source_url="letta:slack")],
        metadata={"revision_id": "1"},
    )
    path.write_text(content.model_dump_json(), encoding="utf-8")
    return path


async def test_an_agent_file_is_imported_and_everything_else_is_listed(embedded: Longmind, tmp_path: Path) -> None:
    path = agent_file(tmp_path / "sam.af")
    report = await import_memories(embedded, "letta", path, agent="a")
    mem = embedded.agent("a")
    assert report.counts == {"notes": 2, "messages": 4, "documents": 1}
    first = await mem.conversation("sam").history()
    assert [(memory.source.role, memory.content) for memory in first if memory.kind == "message"][:3] == [
        ("user", "I am Ada."),
        ("assistant", "Hi!"),
        ("assistant", "I look."),
    ]
    assert {memory.occurred_at for memory in first} == {AT}
    assert [memory.content for memory in await mem.conversation("sam agent-1").history()] == ["Another talk."]
    contents = [memory.content async for memory in _all(mem)]
    assert {"Name: Ada.", "They met before, in Lisbon.", "Hojicha is roasted."} <= set(contents)
    assert [unmapped.reason for unmapped in report.unmapped] == [
        "the instructions of the agent",
        "a part that is no text: reasoning",
        "the result of a tool",
        "a call of the tool web_search",
        "a word on whether a tool may be called",
        "1 skills: Longmind stores no code or connections",
    ]
    again = await import_memories(embedded, "letta", path, agent="a")
    assert again.already_there == sum(report.counts.values())


async def _all(mem: Any) -> Any:
    for memory in (await mem.list(limit=100)).items:
        yield memory
