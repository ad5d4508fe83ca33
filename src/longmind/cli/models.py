"""``longmind models``: which models are configured, and whether they answer."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import screen
from longmind.cli.command import FAILED, failing
from longmind.config import Settings
from longmind.errors import LongmindError

if TYPE_CHECKING:
    from longmind.models.chat import Answer
    from longmind.models.chat_model import ChatModel

MAX_TOKENS = 32
"""Of the answer to the question that tries a model."""


@dataclass(slots=True)
class Tried:
    """One model, and what one call of it gave."""

    use: str
    model: str
    ok: bool = False
    seconds: float | None = None
    told: str = ""
    """The error, or what there is to know."""
    hint: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    offers: list[str] = field(default_factory=list)
    """The models its server says it has."""
    unlisted: str = ""
    """Why its server does not say which models it has, if it does not."""


def models(
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help="Language models to try instead of the configured one, each as a URL."),
    ] = None,
    offers: Annotated[bool, typer.Option("--offers", help="List the models that each server has.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")] = False,
) -> None:
    """Tell which models are configured and try each of them with one call.

    The embedder is LONGMIND_EMBEDDER, or static; the language model is LONGMIND_MODEL with the key
    LONGMIND_MODEL_KEY, and may be absent. Exit code 0 when each answers, 1 when one does not.
    """
    import asyncio

    with failing(as_json=json):
        models = asyncio.run(_try_all(Settings.load(), urls or []))
        if json:
            told = {"ok": all(model.ok for model in models), "models": [asdict(model) for model in models]}
            screen.print_json(told)
        else:
            _show(models, offers=offers)
    if not all(model.ok for model in models):
        raise typer.Exit(FAILED)


async def _try_all(settings: Settings, urls: list[str]) -> list[Tried]:
    models = [] if urls else [await _try_embedder(settings)]
    wanted = urls or ([settings.model] if settings.model else [])
    return models + [await _try_chat(url, settings) for url in wanted]


async def _try_embedder(settings: Settings) -> Tried:
    from longmind.models.embed_open import open_embedder

    spec = settings.embedder or "static"
    tried = Tried("embedder", spec.partition("?")[0])
    if spec == "none":
        tried.ok, tried.told = True, "switched off: recall goes by words"
        return tried

    async def once() -> None:
        key = settings.embedder_key
        embedder = open_embedder(spec, api_key=key.get_secret_value() if key else None)
        try:
            await embedder.embed(["Is anybody there?"])
            tried.told = f"{embedder.dimensions} numbers a vector"
        finally:
            await embedder.close()

    await _timed(tried, once)
    return tried


async def _try_chat(url: str, settings: Settings) -> Tried:
    from longmind.models.chat_open import open_chat

    tried = Tried("chat", re.sub(r"//[^/@]*@", "//", url))  # a password that should not be there is not shown

    async def once() -> None:
        chat = open_chat(url, api_key=settings.model_key)
        try:
            tried.offers, tried.unlisted = await _offers(chat)
            answer = await _hello(chat)
            tried.input_tokens, tried.output_tokens = answer.usage.input_tokens, answer.usage.output_tokens
            tried.cost = answer.usage.cost
            tried.told = f"it says it is {answer.model}" if answer.model else ""
        finally:
            await chat.close()

    await _timed(tried, once)
    return tried


async def _hello(chat: ChatModel) -> Answer:
    from longmind.models import prompts

    hello = prompts.load("hello")
    return await chat.complete(hello.fill(), max_tokens=MAX_TOKENS, prompts=[hello.id])


async def _offers(chat: ChatModel) -> tuple[list[str], str]:
    """What the server says it has, or why it does not. Not every server keeps a list; whether it answers counts."""
    from longmind.models.chat import Catalogue
    from longmind.models.resilience import Transient

    if not isinstance(chat.provider, Catalogue):
        return [], "this kind of model keeps no list"
    try:
        return await chat.provider.models(), ""
    except LongmindError as error:  # its message never holds what a server said, nor a key
        return [], error.message
    except Transient as error:
        return [], f"{error}."


async def _timed(tried: Tried, once: Callable[[], Awaitable[None]]) -> None:
    began = time.perf_counter()
    try:
        await once()
        tried.ok = True
    except LongmindError as error:
        tried.told, tried.hint = error.message, error.hint
    tried.seconds = round(time.perf_counter() - began, 2)


def _show(models: list[Tried], *, offers: bool) -> None:
    from rich.text import Text

    out = screen.console()
    rows = screen.table("use", "model", "", "seconds", "tokens", "cost", "")
    for tried in models:
        rows.add_row(
            tried.use,
            screen.plain(tried.model),
            Text("answers", style="green") if tried.ok else Text("fails", style="bold red"),
            "" if tried.seconds is None else f"{tried.seconds:.2f}",
            "" if tried.input_tokens is None else f"{tried.input_tokens}+{tried.output_tokens}",
            "" if tried.cost is None else f"${tried.cost:.6f}",
            screen.plain(tried.told) if tried.ok else "",
        )
    out.print(rows)
    for tried in models:
        _remarks(out, tried, offers=offers)
    if not any(tried.use == "chat" for tried in models):
        out.print(screen.dim("No language model is configured (LONGMIND_MODEL): everything works by rules."))


def _remarks(out: Any, tried: Tried, *, offers: bool) -> None:
    from rich.text import Text

    if not tried.ok:
        out.print(Text.assemble(("problem: ", "bold red"), screen.plain(tried.told)))
        if tried.hint:
            out.print(Text.assemble(("  try: ", "bold"), screen.plain(tried.hint)))
    if tried.unlisted and (offers or tried.ok):
        told = f"{screen.plain(tried.model)} does not tell which models it has: {screen.plain(tried.unlisted)}"
        out.print(screen.dim(told))
    if offers and tried.offers:
        out.print(Text.assemble((f"{screen.plain(tried.model)} offers: ", "bold"), ", ".join(tried.offers)))
