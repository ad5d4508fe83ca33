"""A language model for tests. Import it from ``longmind.testing``."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel

from longmind.models.chat import Answer, Form, Piece, Request, Usage, estimate_messages
from longmind.models.chat_model import ChatModel
from longmind.tokens import estimate

Said: TypeAlias = "str | Mapping[str, Any] | BaseModel | Answer | Exception | Callable[[Request], Said]"


class ScriptedModel:
    """A language model that says what a test wrote for it, and remembers what it was asked.

    Each line of the script answers one request: a text, data (said as JSON), a whole ``Answer``, an error to raise, or
    a function of the request that gives one of these. ``chat()`` makes of it what the rest of Longmind uses, with
    retries, budgets and structured answers working as they do with a real one:

        chat = ScriptedModel("Lisbon.").chat()
        assert (await chat.complete("Where?")).text == "Lisbon."
    """

    system = "scripted"
    address = ""

    def __init__(
        self, *script: Said, name: str = "scripted/model", forms: tuple[Form, ...] = ("schema", "json")
    ) -> None:
        self.name = name
        self.forms = forms
        self.requests: list[Request] = []
        self._script = list(script)

    def chat(self, **options: Any) -> ChatModel:
        """A ``Chat`` over this script, whose waits between attempts take no time; options as ``ChatModel`` has them."""
        return ChatModel(self, **({"sleep": _at_once} | options))

    async def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if not self._script:
            raise AssertionError(f"the script has no answer to request {len(self.requests)}")
        said: Any = self._script.pop(0)
        while callable(said):
            said = said(request)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Answer):
            return said
        if isinstance(said, BaseModel):
            said = said.model_dump(mode="json")
        text = said if isinstance(said, str) else json.dumps(said)
        usage = Usage(input_tokens=estimate_messages(request.messages), output_tokens=estimate(text), requests=1)
        return Answer(text=text, model=self.name, usage=usage)

    async def pieces(self, request: Request) -> AsyncGenerator[Piece, None]:
        """The answer word by word."""
        answer = await self.answer(request)
        for word in re.findall(r"\S+\s*", answer.text):
            yield Piece(text=word)
        yield Piece(answer=answer)

    async def close(self) -> None:
        """There is nothing to free."""


async def _at_once(seconds: float) -> None:
    """A wait that takes no time."""
