"""Claude's memory tool: compared with Anthropic's own on a file system, attacked with paths, and used by the client."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.adapters.model_server import Answer
from tests.unit.models.chat.conftest import Server

from longmind import Longmind
from longmind.adapters.claude_memory import AsyncLongmindMemoryTool, LongmindMemoryTool, path_parts
from longmind.sync import Longmind as BlockingLongmind

Call = Callable[..., str]


@pytest.fixture
def longmind() -> Iterator[BlockingLongmind]:
    with BlockingLongmind.open("memory:", embedder="none") as opened:
        yield opened


@pytest.fixture
def tool(longmind: BlockingLongmind) -> LongmindMemoryTool:
    return LongmindMemoryTool(longmind, agent="assistant", user="alice")


def call(tool: Any, command: str, **arguments: Any) -> str:
    return str(tool.call({"command": command, **arguments}))


# -- the same as Anthropic's own tool ----------------------------------------------------------------------------------

PATHS = ["", "/a.txt", "/d/b.txt", "/d/e/c.txt", "/d/e/f/g.txt", "/.hidden", "/d", "/d/e", "/n.txt", "/m/", "/ä.txt"]
TEXTS = ["", "one\n", "one\ntwo\nthree\n", "one two one", "two\r\nlines", "x" * 2000, "last line has no end"]


def random_command(choice: random.Random) -> dict[str, Any]:
    path = "/memories" + choice.choice(PATHS)
    command = choice.choice(["view", "view", "create", "create", "str_replace", "insert", "delete", "rename"])
    arguments: dict[str, Any] = {"path": path}
    if command == "view" and choice.random() < 0.4:
        arguments["view_range"] = [choice.randint(-1, 4), choice.choice([-1, 0, 2, 9])]
    elif command == "create":
        arguments["file_text"] = choice.choice(TEXTS)
    elif command == "str_replace":
        arguments |= {"old_str": choice.choice(["one", "two", "three\n", "missing"]), "new_str": choice.choice(TEXTS)}
    elif command == "insert":
        arguments |= {"insert_line": choice.randint(-1, 4), "insert_text": choice.choice(TEXTS)}
    elif command == "rename":
        arguments = {"old_path": path, "new_path": "/memories" + choice.choice(PATHS)}
    return {"command": command, **arguments}


def outcome(tool: Any, command: dict[str, Any]) -> tuple[str, str]:
    try:
        return "result", str(tool.call(command))
    except ToolError as error:
        return "refused", str(error)
    except OSError:
        return "refused", ""  # a file system has errors that Anthropic's tool does not put into words


def without_directory_sizes(text: str) -> str:
    """A directory of a file system has a size of its own; here it is that of its files."""
    head, _, listed = text.partition("\n")
    if not head.startswith("Here're the files"):
        return text
    first, *others = listed.split("\n")
    lines = [re.sub(r"^[^\t]+", "-", line) if line.endswith("/") else line for line in others]
    return "\n".join([head, first.partition("\t")[2], *lines])


def remove_empty_directories(root: Path) -> None:
    """Here a directory is where files are; without any it is gone."""
    for folder, _, _ in os.walk(root, topdown=False):
        if Path(folder) != root and not os.listdir(folder):
            os.rmdir(folder)


@pytest.mark.parametrize("seed", range(12))
def test_random_commands_have_the_same_results(tool: LongmindMemoryTool, tmp_path: Path, seed: int) -> None:
    reference = BetaLocalFilesystemMemoryTool(str(tmp_path))
    choice = random.Random(seed)
    results = 0
    for _ in range(60):
        command = random_command(choice)
        ours, theirs = outcome(tool, command), outcome(reference, command)
        remove_empty_directories(reference.memory_root)
        assert ours[0] == theirs[0], (command, ours, theirs)
        if theirs[1]:
            assert without_directory_sizes(ours[1]) == without_directory_sizes(theirs[1]), command
        results += ours[0] == "result"
    assert results > 10


# -- paths -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/etc/passwd", "memories/a", "/memoriesx", "/memories_other/a", "//memories/a", "/Memories/a"),
        *("/memories/..", "/memories/../etc/passwd", "/memories/a/../../etc", "/memories/./../x", "/memories//.."),
        *("/memories/%2e%2e/x", "/memories/%2E%2E%2Fetc", "/memories/..%2fetc", "/memories/%252e%252e/x"),
        *("/memories/.%2e/x", "/memories/a%2f..%2fb", "/memories/a%00b", "/memories/\uff0e\uff0e/x"),
        *("/memories/a\uff0f..\uff0fb", "/memories/a\x00b", "/memories/a\nb", "/memories/..\\etc"),
        *("/memories/a\u202eb", "/memories/\ud800", "/memories/\u2025/x"),
        *("/memories/" + "a" * 1000, "/memories" + "/a" * 40),
    ],
)  # fmt: skip
def test_a_path_that_leads_out_or_cannot_be_is_refused(tool: LongmindMemoryTool, path: str) -> None:
    commands: list[dict[str, Any]] = [
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "x", "new_str": "y"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/b"},
        {"command": "rename", "old_path": "/memories/a", "new_path": path},
    ]
    call(tool, "create", path="/memories/a", file_text="x")
    for command in commands:
        with pytest.raises(ToolError):
            tool.call(command)
    assert call(tool, "view", path="/memories").endswith("1B\t/memories/a")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from([*"/.%2eEfF\\a", "\x00", "\uff0e", "\uff0f", "\u2024", "é", " "]), max_size=24))
def test_no_path_has_a_part_that_leads_up(end: str) -> None:
    try:
        parts = path_parts(f"/memories/{end}")
    except ToolError:
        return
    for part in parts:
        assert part not in ("", ".", "..")
        assert not {"/", "\\", "\x00"} & set(part)


def test_paths_are_resolved_and_one_name_has_one_form(tool: LongmindMemoryTool) -> None:
    call(tool, "create", path="/memories/d/./x/../caf\u00e9.txt", file_text="here")
    assert "here" in call(tool, "view", path="/memories//d/cafe\u0301.txt")


def test_each_user_and_agent_has_files_of_their_own(longmind: BlockingLongmind, tool: LongmindMemoryTool) -> None:
    call(tool, "create", path="/memories/a.txt", file_text="Alice")
    for other in (
        LongmindMemoryTool(longmind, agent="assistant", user="bob"),
        LongmindMemoryTool(longmind, agent="assistant"),
        LongmindMemoryTool(longmind, agent="other", user="alice"),
    ):
        with pytest.raises(ToolError, match="does not exist"):
            call(other, "view", path="/memories/a.txt")
        assert other.clear_all_memory() == "All memory cleared"
    assert "Alice" in call(tool, "view", path="/memories/a.txt")


# -- what a memory adds ------------------------------------------------------------------------------------------------


def test_files_are_recalled_and_their_versions_kept(longmind: BlockingLongmind, tool: LongmindMemoryTool) -> None:
    call(tool, "create", path="/memories/nora.md", file_text="Nora lives in Lisbon.\n")
    call(tool, "str_replace", path="/memories/nora.md", old_str="Lisbon", new_str="Porto")
    mem = longmind.agent("assistant", user="alice")
    assert "Porto" in mem.recall("Where does Nora live?")[0].memory.content
    changes = tool.history("/memories/nora.md")
    assert [change.action for change in changes] == ["put", "update"]
    assert "Lisbon" in str(changes[0].after)
    with pytest.raises(ToolError, match="does not exist"):
        tool.history("/memories/no.md")
    call(tool, "delete", path="/memories/nora.md")
    mem.undo(mem.history(changes[0].memory_id)[-1].operation)
    assert "Porto" in call(tool, "view", path="/memories/nora.md")


def test_a_file_is_stored_exactly(tool: LongmindMemoryTool) -> None:
    text = "\ttabs, trailing spaces  \n\n\n  \u00e9\U0001f600 \u2028 end"
    call(tool, "create", path="/memories/a", file_text=text)
    shown = call(tool, "view", path="/memories/a").split("\n", 1)[1]
    assert "\n".join(line[7:] for line in shown.split("\n")) == text


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "x" * 900_001])
def test_a_text_that_cannot_be_stored_is_refused_in_words(tool: LongmindMemoryTool, text: str) -> None:
    with pytest.raises(ToolError, match=r"cannot be stored|longer than"):
        call(tool, "create", path="/memories/a", file_text=text)


def test_directories_move_whole_and_not_into_themselves(tool: LongmindMemoryTool) -> None:
    for path in ("d/a.txt", "d/e/b.txt"):
        call(tool, "create", path=f"/memories/{path}", file_text=path)
    with pytest.raises(ToolError, match="is inside"):
        call(tool, "rename", old_path="/memories/d", new_path="/memories/d/x")
    with pytest.raises(ToolError, match="below a file"):
        call(tool, "rename", old_path="/memories/d/e", new_path="/memories/d/a.txt/x")
    with pytest.raises(ToolError, match="below a file"):
        call(tool, "create", path="/memories/d/a.txt/x", file_text="x")
    call(tool, "rename", old_path="/memories/d", new_path="/memories/n")
    assert "d/e/b.txt" in call(tool, "view", path="/memories/n/e/b.txt")
    with pytest.raises(ToolError, match="does not exist"):
        call(tool, "view", path="/memories/d")


async def test_the_asynchronous_tool_does_the_same(mem: Any) -> None:
    async with Longmind.open("memory:", embedder="none") as longmind:
        tool = AsyncLongmindMemoryTool(longmind, agent="assistant")
        made = await tool.call({"command": "create", "path": "/memories/a.txt", "file_text": "one\ntwo\n"})
        assert made == "File created successfully at: /memories/a.txt"
        await tool.call({"command": "insert", "path": "/memories/a.txt", "insert_line": 1, "insert_text": "between"})
        await tool.call({"command": "str_replace", "path": "/memories/a.txt", "old_str": "two", "new_str": "2"})
        await tool.call({"command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/b.txt"})
        shown = await tool.call({"command": "view", "path": "/memories/b.txt"})
        assert [line[7:] for line in str(shown).split("\n")[1:]] == ["one", "between", "2", ""]
        assert len(await tool.history("/memories/b.txt")) == 1
        await tool.call({"command": "delete", "path": "/memories/b.txt"})
        assert await tool.clear_all_memory() == "All memory cleared"


def test_claude_uses_it_through_the_runner(server: Server, tool: LongmindMemoryTool) -> None:
    made = '{"command": "create", "path": "/memories/nora.md", "file_text": "Nora lives in Lisbon."}'
    wrong = '{"command": "view", "path": "/etc/passwd"}'
    server.plan(
        Answer("", calls=(("memory", made), ("memory", wrong)), finish="tool_calls"),
        Answer("Noted."),
    )
    messages: Any = [{"role": "user", "content": "Remember where Nora lives: Lisbon."}]
    with anthropic.Anthropic(api_key="k", base_url=server.address) as client:
        runner = client.beta.messages.tool_runner(model="m", max_tokens=100, messages=messages, tools=[tool])
        assert runner.until_done().content[0].text == "Noted."
    assert server.bodies[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    first, second = server.bodies[1]["messages"][-1]["content"]
    assert first["content"] == "File created successfully at: /memories/nora.md"
    assert second["is_error"] is True
    assert "must start with /memories" in str(second["content"])
