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

ScriptLine: TypeAlias = "str | Mapping[str, Any] | BaseModel | Answer | Exception | Callable[[Request], ScriptLine]"


class ScriptedModel:
    """A language model that answers from a script and records its requests.

    Each line of the script answers one request: a text, data (sent as JSON), a whole ``Answer``, an error to raise, or
    a function of the request that returns one of these. ``chat()`` returns a ``Chat`` whose retries, budgets and
    structured answers work as with a real model:

        chat = ScriptedModel("Lisbon.").chat()
        assert (await chat.complete("Where?")).text == "Lisbon."
    """

    system = "scripted"
    address = ""

    def __init__(
        self, *script: ScriptLine, name: str = "scripted/model", forms: tuple[Form, ...] = ("schema", "json")
    ) -> None:
        self.name = name
        self.forms = forms
        self.requests: list[Request] = []
        self._script = list(script)

    def chat(self, **options: Any) -> ChatModel:
        """Return a ``Chat`` over this script that does not wait between attempts; options as for ``ChatModel``."""
        return ChatModel(self, **({"sleep": _at_once} | options))

    async def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if not self._script:
            raise AssertionError(f"the script has no answer to request {len(self.requests)}")
        line: Any = self._script.pop(0)
        while callable(line):
            line = line(request)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Answer):
            return line
        if isinstance(line, BaseModel):
            line = line.model_dump(mode="json")
        text = line if isinstance(line, str) else json.dumps(line)
        usage = Usage(input_tokens=estimate_messages(request.messages), output_tokens=estimate(text), requests=1)
        return Answer(text=text, model=self.name, usage=usage)

    async def pieces(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Yield the answer word by word."""
        answer = await self.answer(request)
        for word in re.findall(r"\S+\s*", answer.text):
            yield Piece(text=word)
        yield Piece(answer=answer)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


async def _at_once(seconds: float) -> None:
    """Return without waiting."""
