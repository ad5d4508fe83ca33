"""Structured answers: valid objects from a language model, in three steps.

1. The server is asked to constrain the answer to the JSON schema. If it cannot, it is asked for any JSON, with the
   schema in the prompt. If it cannot do that either, only the prompt asks for JSON.
2. The answer is parsed as JSON. Small faults are repaired.
3. If it does not validate, the model gets the validation errors and one more try.

If it is still not valid, ``InvalidAnswer`` is raised with the text attached, and counted. An answer that was cut off at
the token limit is never accepted, even if it could be repaired: the rest of a list would be lost silently.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic

from pydantic import BaseModel, ValidationError

from longmind import telemetry
from longmind.errors import InvalidAnswer, ModelError
from longmind.models import prompts
from longmind.models.answer_json import Unreadable, read_json
from longmind.models.chat import Answer, ChatMessage, Form, Request, S, Usage
from longmind.models.schemas import schema_of
from longmind.models.wire import FORM_REFUSED
from longmind.problems import problems
from longmind.text.quoting import flatten

MAX_TEXT = 10_000
"""Characters of an invalid answer that its error keeps."""
_AT_ONCE = 2_000
"""A text up to this length is parsed in the event loop; a longer one in a thread."""

Ask = Callable[[Request], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Structured(Generic[S]):
    """A valid object, and how it was obtained."""

    value: S
    usage: Usage
    """The sum over all requests."""
    model: str
    form: Form | None
    """How the server constrained the answer; None if only the prompt asked for JSON."""
    mended: bool
    """Whether the JSON had to be repaired."""
    retried: bool
    """Whether the first answer was not valid."""
    prompts: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """Counters of structured answers by outcome."""

    valid: int = 0
    mended: int = 0
    retried: int = 0
    invalid: int = 0


@dataclass(slots=True)
class Structurer:
    """Requests structured answers, and remembers which constraints a server refused for which schema."""

    ask: Ask
    forms: tuple[Form, ...]
    tally: Tally = field(default_factory=Tally)
    refused: set[tuple[Form, str]] = field(default_factory=set)

    async def structured(self, request: Request, schema: type[S]) -> Structured[S]:
        """Return a valid ``schema``, or raise ``InvalidAnswer``."""
        shape = schema_of(schema)
        asked, answer = await self._in_strongest_form(request, shape)
        read = await _read(answer, schema)
        usage, retried = answer.usage, False
        if isinstance(read, str) and answer.finish != "filter":
            retried, self.tally.retried = True, self.tally.retried + 1
            asked, answer = await self._ask_again(asked, answer, read, usage)
            usage += answer.usage
            read = await _read(answer, schema)
        if isinstance(read, str):
            self.tally.invalid += 1
            _count(schema, "invalid")
            raise _invalid(schema, answer, read, usage)
        value, mended = read
        self.tally.valid += 1
        self.tally.mended += mended
        _count(schema, "retried" if retried else "mended" if mended else "valid")
        return Structured(value, usage, answer.model, asked.form, mended, retried, asked.prompts)

    async def _in_strongest_form(self, request: Request, shape: dict[str, object]) -> tuple[Request, Answer]:
        name = str(shape["title"])
        refused: list[Form] = []
        for form in self.forms:
            if (form, name) in self.refused:
                continue
            asked = _with_form(request, form, shape)
            try:
                answer = await self.ask(asked)
            except ModelError as error:
                if error.details.get("status") not in FORM_REFUSED:
                    raise
                refused.append(form)
            else:
                self.refused |= {(earlier, name) for earlier in refused}
                return asked, answer
        asked = _with_form(request, None, shape)
        answer = await self.ask(asked)
        self.refused |= {(earlier, name) for earlier in refused}  # it works without: so it was the form
        return asked, answer

    async def _ask_again(self, asked: Request, answer: Answer, problem: str, usage: Usage) -> tuple[Request, Answer]:
        correction = prompts.load("correction")
        again = asked.model_copy(
            update={
                "messages": (
                    *asked.messages,
                    ChatMessage(role="assistant", content=answer.text[:MAX_TEXT] or "(nothing)"),
                    ChatMessage(role="user", content=correction.fill(problem=flatten(problem))),
                ),
                "prompts": (*asked.prompts, correction.id),
            }
        )
        try:
            return again, await self.ask(again)
        except InvalidAnswer as error:
            error.usage = (error.usage or Usage()) + usage
            raise


def _count(schema: type[BaseModel], outcome: str) -> None:
    """Count a structured answer by outcome, in the metric ``longmind.structured``."""
    attributes = {"longmind.schema": schema.__name__, "longmind.outcome": outcome}
    telemetry.count("longmind.structured", attributes=attributes, unit="{answer}")


def _with_form(request: Request, form: Form | None, shape: dict[str, object]) -> Request:
    """Return the request with one constraint. Unless the server gets the schema, the prompt contains it."""
    if form == "schema":
        return request.model_copy(update={"form": form, "shape": shape})
    instruction = prompts.load("structured")
    instructions, rest = instruction.fill(schema=json.dumps(shape)), request.messages
    if rest[0].role == "system":  # one system message: many chat templates take no second
        instructions, rest = f"{rest[0].content}\n\n{instructions}", rest[1:]
    messages = (ChatMessage(role="system", content=instructions), *rest)
    return request.model_copy(
        update={"form": form, "messages": messages, "prompts": (*request.prompts, instruction.id)}
    )


async def _read(answer: Answer, schema: type[S]) -> tuple[S, bool] | str:
    """Return the object and whether it was repaired, or what is wrong with the answer."""
    if answer.finish == "length":
        return "it is too long and broke off. Give a shorter answer"
    if len(answer.text) <= _AT_ONCE:
        return _validated(answer.text, schema)
    return await asyncio.to_thread(_validated, answer.text, schema)


def _validated(text: str, schema: type[S]) -> tuple[S, bool] | str:
    try:
        value, mended = read_json(text)
        return schema.model_validate(value), mended
    except Unreadable as error:
        return f"{error}."
    except ValidationError as error:
        return _problems(error)


def _problems(error: ValidationError) -> str:
    """Describe the validation errors for the model: places and reasons."""
    return "; ".join(f"{where or 'the answer'}: {reason}" for where, reason in problems(error)[:5]) + "."


def _invalid(schema: type[BaseModel], answer: Answer, problem: str, usage: Usage) -> InvalidAnswer:
    return InvalidAnswer(
        f"The model gave no valid {schema.__name__}: {problem}",
        hint="Nothing was taken from it. A stronger model, a simpler schema or more tokens may help.",
        usage=usage,
        schema=schema.__name__,
        text=answer.text[:MAX_TEXT],
        problem=problem,
        finish=answer.finish,
    )
