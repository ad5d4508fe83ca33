"""``longmind remember``: store a text, a conversation or a document."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from longmind.cli import options, screen
from longmind.cli.command import Invocation, creating_command, read_stdin
from longmind.cli.progress import bar
from longmind.errors import InvalidInput
from longmind.perceive.files import as_text, read_document
from longmind.perceive.messages import message_of
from longmind.problems import first_problem
from longmind.types import Document, Memory, Message, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

_MESSAGE = 'A message is {"role": "user", "content": "..."}; name, occurred_at and metadata may be added.'
_READABLE = {"exists": True, "dir_okay": False, "readable": True}


@creating_command
async def remember(
    call: Invocation,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="What to remember; - reads it from the standard input.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help="A document to remember, passage by passage: text, Markdown, HTML or PDF.",
            **_READABLE,
        ),
    ] = None,
    messages: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A conversation: a JSON list, or JSON lines, of role, content, name, occurred_at, metadata.",
            **_READABLE,
        ),
    ] = None,
    session: Annotated[str | None, typer.Option("--session", "-s", help="The conversation it belongs to.")] = None,
    at: Annotated[
        datetime | None, typer.Option(parser=options.moment, metavar="WHEN", help="When it happened; by default now.")
    ] = None,
    importance: Annotated[
        float | None, typer.Option("--importance", "-i", min=0, max=1, help="0 to 1; by default it is judged.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; may repeat.")] = None,
    meta: Annotated[
        list[str] | None, typer.Option("--meta", "-m", metavar="KEY=VALUE", help="Metadata; may repeat.")
    ] = None,
    expires: Annotated[
        datetime | None,
        typer.Option(
            parser=options.moment_or_duration,
            metavar="WHEN",
            help="When it is forgotten again: a date, or how long from now, such as 12h or 7d. By default never.",
        ),
    ] = None,
    role: Annotated[Role, typer.Option(help="Who says the text.")] = "user",
    name: Annotated[str | None, typer.Option("--name", "-n", help="The speaker's name.")] = None,
) -> None:
    """Remember a text, a conversation or a document.

    Outside a conversation the same text is remembered once; messages that a conversation has already are not added
    again; a file that is given again replaces its former version. HTML and PDF need the extra "documents".
    """
    content = _parse_content(text, file, messages, role, name)
    metadata = options.metadata_of(meta or ())
    async with call.agent() as mem:
        before = mem.store.clock.now()
        with bar(call, "remembering", None) as advance:
            stored: Sequence[Memory] = await mem.remember(
                content,
                session=session,
                occurred_at=at,
                importance=importance,
                tags=tag or (),
                metadata=metadata,
                expires_at=expires,
                progress=advance,
            )
    known = sum(memory.recorded_at < before for memory in stored)
    call.answer({"memories": stored, "known_already": known}, lambda: _show(stored, known))


def _parse_content(
    text: str | None, file: Path | None, messages: Path | None, role: Role, name: str | None
) -> list[Message | Document | dict[str, Any]]:
    if sum(source is not None for source in (text, file, messages)) != 1:
        raise typer.BadParameter("Give a text, or --file, or --messages: one of them.", param_hint="TEXT")
    if file is not None:
        return [read_document(file)]
    if messages is not None:
        return _conversation(_read(messages), messages.name)
    said = read_stdin().rstrip("\n") if text == "-" else text or ""
    return [{"role": role, "content": said, "name": name}]


def _read(path: Path) -> str:
    return as_text(path.read_bytes(), path.name)


def _conversation(text: str, name: str) -> list[Message | Document | dict[str, Any]]:
    """The messages of a file: one JSON list, or one JSON object a line."""
    lines = [(1, text)] if text.lstrip().startswith("[") else list(enumerate(text.splitlines(), 1))
    parsed: list[Any] = []
    for number, line in lines:
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except json.JSONDecodeError as error:
            at = number + error.lineno - 1
            raise InvalidInput(f"{name}, line {at}: this is not JSON: {error.msg}.") from error
        parsed += content if isinstance(content, list) else [content]
    if wrong := [message for message in parsed if not isinstance(message, dict)]:
        raise InvalidInput(
            f"{name}: a {type(wrong[0]).__name__} is not a message.",
            hint=_MESSAGE,
        )
    for number, message in enumerate(parsed, 1):
        _check(message, f"{name}, message {number}")
    return parsed


def _check(content: Any, whence: str) -> None:
    """Refuse what is no message here, where it is known which of them it is."""
    try:
        message_of(content)
    except ValidationError as error:
        raise InvalidInput(f"{whence}: {': '.join(first_problem(error))}.", hint=_MESSAGE) from error
    except InvalidInput as error:
        raise InvalidInput(f"{whence}: {error.message}", hint=_MESSAGE) from error


def _show(stored: Sequence[Memory], known: int) -> None:
    out, new = screen.console(), len(stored) - known
    if len(stored) == 1:
        message = stored[0]
        said = "Known already" if known else "Remembered"
        out.print(f"{said}: {screen.short(message.id)} (importance {message.importance:.2f})")
        return
    out.print(f"Remembered {screen.counted(new, 'memory')}" + (f"; {known} known already." if known else "."))
