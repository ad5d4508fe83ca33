"""Claude's memory tool (``memory_20250818``): the files under ``/memories`` are values of an agent's memory.

    from longmind.adapters.claude_memory import LongmindMemoryTool

    tool = LongmindMemoryTool(longmind, agent="assistant", user="alice")
    client.beta.messages.tool_runner(model=..., messages=[...], tools=[tool], max_tokens=...)

Commands and messages are those of Anthropic's own tool on a file system. There is no file system here: a path is a name
in one memory, so it can lead nowhere else. Recall finds what the files hold, and the journal keeps their versions.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from urllib.parse import unquote

from longmind import AgentMemory, Change, InvalidInput, Longmind, Value, ValueWrite, VersionConflict
from longmind.adapters.access import MemoryAccess
from longmind.adapters.packages import framework
from longmind.sync import Longmind as BlockingLongmind

with framework("anthropic"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

ROOT = "/memories"
_NAMESPACE = "claude-memory"
_MOST_LINES = 999_999
_LONGEST_PATH, _DEEPEST = 1_000, 32
_MOST_CHARACTERS = 900_000
"""Characters of a file; a memory holds a million, and the path is found with it."""
_TRIES = 5
_PAGE = 200
Parts = tuple[str, ...]
"""A path below the root: its directories, and the file."""


def path_parts(path: str) -> Parts:
    """Return the parts of a path below ``/memories``; ``ToolError`` for one that leads out of it or cannot be."""
    if not isinstance(path, str) or not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise ToolError(f"Path must start with {ROOT}, got: {_shown(path)}")
    if len(path) > _LONGEST_PATH:
        raise ToolError(f"The path is longer than {_LONGEST_PATH} characters.")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Cf") or character == "\\" for character in path):
        raise ToolError(f"Path {_shown(path)} contains characters that cannot be in a path.")
    parts: list[str] = []
    for part in unicodedata.normalize("NFC", path.removeprefix(ROOT)).split("/"):
        if part == ".." and not parts:
            raise ToolError(f"Path {path} would escape {ROOT} directory")
        if part == "..":
            parts.pop()
        elif _is_disguised(part):
            raise ToolError(f"Path {path} would escape {ROOT} directory")
        elif part not in ("", "."):
            parts.append(part)
    if len(parts) > _DEEPEST:
        raise ToolError(f"The path is deeper than {_DEEPEST} directories.")
    return tuple(parts)


def _is_disguised(part: str) -> bool:
    """Whether a part is dots or holds a slash once it is decoded, as some later reader of the path might do."""
    decoded = part
    for _ in range(3):
        decoded = unicodedata.normalize("NFKC", unquote(decoded))
    return decoded != part and (decoded.strip() in (".", "..") or "/" in decoded or "\\" in decoded or "\0" in decoded)


def _shown(path: object) -> str:
    return ascii(path)[1:-1] if isinstance(path, str) else type(path).__name__


class MemoryFiles:
    """The files of one memory, with the commands of the tool. On the event loop of the store."""

    def __init__(self, mem: AgentMemory) -> None:
        self._mem = mem

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the lines of a file, or what is in a directory."""
        parts = path_parts(command.path)
        file = await self._file(parts)
        if file is not None:
            return _numbered_file(command.path, _text(file), command.view_range)
        files = await self._below(parts)
        if parts and not files:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        return _directory(command.path, parts, files)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a new file."""
        parts = path_parts(command.path)
        exists = ToolError(f"File {command.path} already exists")
        if await self._is_taken(parts):
            raise exists
        await self._check_parents(parts, command.path)
        try:
            await self._write(parts, command.path, command.file_text, version=0)
        except VersionConflict:
            raise exists from None
        return f"File created successfully at: {command.path}"

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that is in a file once."""

        def replace(text: str) -> str:
            count = text.count(command.old_str)
            if count == 0:
                raise ToolError(
                    f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in "
                    f"{command.path}."
                )
            if count > 1:
                lines = ", ".join(map(str, _lines_with(text, command.old_str)))
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines: "
                    f"{lines}. Please ensure it is unique"
                )
            return text.replace(command.old_str, command.new_str)

        before, after = await self._edit(command.path, replace)
        changed = before[: before.find(command.old_str)].count("\n")
        lines = after.split("\n")
        first, last = max(0, changed - 2), min(len(lines), changed + 3)
        snippet = _numbered(lines[first:last], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""

        def insert(text: str) -> str:
            lines = text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            joined = "\n".join(lines)
            return joined if joined.endswith("\n") else joined + "\n"

        await self._edit(command.path, insert)
        return f"The file {command.path} has been edited."

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a directory with all that is in it."""
        parts = path_parts(command.path)
        if not parts:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        if not await self._mem.values.delete(_namespace(parts[:-1]), parts[-1]):
            removed = await self._mem.values.clear(_namespace(parts))
            if removed == 0:
                raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory, in one transaction."""
        old, new = path_parts(command.old_path), path_parts(command.new_path)
        if not old:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        if not new or await self._is_taken(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        file = await self._file(old)
        files = [file] if file is not None else await self._below(old)
        if not files:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new[: len(old)] == old:
            raise ToolError(f"The destination {command.new_path} is inside {command.old_path}.")
        await self._check_parents(new, command.new_path)
        writes: list[ValueWrite] = []
        for value in files:
            moved = (*new, *_parts(value)[len(old) :])
            writes.append(_removal(value))
            writes.append(_written(moved, _text(value), version=0))
        try:
            await self._mem.values.write(writes)
        except VersionConflict:
            raise ToolError(f"{command.old_path} was changed by somebody else; nothing was renamed.") from None
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    async def clear_all_memory(self) -> str:
        """Delete every file."""
        await self._mem.values.clear((_NAMESPACE,))
        return "All memory cleared"

    async def history(self, path: str) -> list[Change]:
        """Return the changes of a file, the earliest first."""
        file = await self._file(path_parts(path))
        if file is None:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return await self._mem.history(file.id)

    # -- the values ----------------------------------------------------------------------------------------------------

    async def _file(self, parts: Parts) -> Value | None:
        return await self._mem.values.get(_namespace(parts[:-1]), parts[-1]) if parts else None

    async def _below(self, parts: Parts) -> list[Value]:
        """Return all files in a directory and in those below it."""
        files: list[Value] = []
        cursor: str | None = None
        while True:
            page = await self._mem.values.list(_namespace(parts), limit=_PAGE, cursor=cursor)
            files += page.items
            cursor = page.cursor
            if cursor is None:
                return files

    async def _is_taken(self, parts: Parts) -> bool:
        """Whether there is a file or a directory at a path."""
        if not parts or await self._file(parts) is not None:
            return True
        return bool((await self._mem.values.list(_namespace(parts), limit=1)).items)

    async def _check_parents(self, parts: Parts, path: str) -> None:
        for depth in range(1, len(parts)):
            if await self._file(parts[:depth]) is not None:
                raise ToolError(f"The path {path} is below a file, {'/'.join((ROOT, *parts[:depth]))}.")

    async def _edit(self, path: str, change: Callable[[str], str]) -> tuple[str, str]:
        """Change the text of a file, and return it as it was and as it is."""
        parts = path_parts(path)
        for _ in range(_TRIES):
            file = await self._file(parts)
            if file is None and await self._is_taken(parts):
                raise ToolError(f"The path {path} is not a file.")
            if file is None:
                raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
            before = _text(file)
            after = change(before)
            try:
                await self._write(parts, path, after, version=file.version)
            except VersionConflict:
                continue
            return before, after
        raise ToolError(f"The file {path} is changed by somebody else again and again; nothing was edited.")

    async def _write(self, parts: Parts, path: str, text: str, *, version: int) -> None:
        if len(text) > _MOST_CHARACTERS:
            raise ToolError(f"The file {path} would be longer than {_MOST_CHARACTERS:,} characters.")
        try:
            await self._mem.values.write([_written(parts, text, version=version)])
        except InvalidInput as error:
            raise ToolError(f"The file {path} cannot be stored: {error.message}") from error


def _namespace(parts: Sequence[str]) -> tuple[str, ...]:
    return (_NAMESPACE, *parts)


def _parts(value: Value) -> Parts:
    return (*value.namespace[1:], value.key)


def _text(value: Value) -> str:
    return str(value.value["text"])


def _written(parts: Parts, text: str, *, version: int) -> ValueWrite:
    found_by = f"{'/'.join((ROOT, *parts))}\n{text}"
    try:
        return ValueWrite(
            namespace=_namespace(parts[:-1]),
            key=parts[-1],
            value={"text": text},
            text=found_by,
            expected_version=version,
        )
    except ValueError as error:
        raise InvalidInput("it holds characters that no text can hold.") from error


def _removal(value: Value) -> ValueWrite:
    return ValueWrite(namespace=value.namespace, key=value.key, value=None, expected_version=value.version)


# -- what is shown -----------------------------------------------------------------------------------------------------


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def _numbered_file(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first = 1
    if view_range and len(view_range) == 2:
        start = max(1, view_range[0]) - 1
        end = len(lines) if view_range[1] == -1 else view_range[1]
        lines, first = lines[start:end], start + 1
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first)}"


def _directory(path: str, parts: Parts, files: Sequence[Value]) -> str:
    """Return what is in a directory, two levels deep, without what is hidden."""
    sizes: dict[str, int] = {}
    total = 0
    for file in files:
        below = _parts(file)[len(parts) :]
        size = len(_text(file).encode())
        total += size
        shown = [*(f"{'/'.join(below[:depth])}/" for depth in range(1, len(below))), "/".join(below)][:2]
        for name in shown:
            if not any(part.startswith(".") for part in name.split("/")):
                sizes[name] = sizes.get(name, 0) + size
    head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    names = sorted(sizes, key=lambda name: name.rstrip("/").split("/"))
    return "\n".join([head, f"{_size(total)}\t{path}", *(f"{_size(sizes[name])}\t{path}/{name}" for name in names)])


def _size(count: int) -> str:
    """Return a number of bytes as Anthropic's tool writes it."""
    if count == 0:
        return "0B"
    power = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**power
    return f"{int(size)}{'BKMG'[power]}" if size == int(size) else f"{size:.1f}{'BKMG'[power]}"


def _lines_with(text: str, part: str) -> list[int]:
    lines, start = [], text.find(part)
    while start != -1:
        lines.append(text[:start].count("\n") + 1)
        start = text.find(part, start + 1)
    return lines


class LongmindMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool over an agent's memory, for a blocking client."""

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        *,
        agent: str | None = None,
        user: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        self._files = MemoryFiles(self._access.memory())

    def _run(self, work: Coroutine[Any, Any, str]) -> str:
        return self._access.wait(work)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._run(self._files.view(command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._run(self._files.create(command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self._run(self._files.str_replace(command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self._run(self._files.insert(command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._run(self._files.delete(command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._run(self._files.rename(command))

    def clear_all_memory(self) -> str:
        return self._run(self._files.clear_all_memory())

    def history(self, path: str) -> list[Change]:
        """Return the changes of a file, the earliest first."""
        return self._access.wait(self._files.history(path))


class AsyncLongmindMemoryTool(BetaAsyncAbstractMemoryTool):
    """Claude's memory tool over an agent's memory, for an asynchronous client."""

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        *,
        agent: str | None = None,
        user: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        self._files = MemoryFiles(self._access.memory())

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self._access.run(self._files.view(command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self._access.run(self._files.create(command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self._access.run(self._files.str_replace(command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self._access.run(self._files.insert(command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self._access.run(self._files.delete(command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self._access.run(self._files.rename(command))

    async def clear_all_memory(self) -> str:
        return await self._access.run(self._files.clear_all_memory())

    async def history(self, path: str) -> list[Change]:
        """Return the changes of a file, the earliest first."""
        return await self._access.run(self._files.history(path))
