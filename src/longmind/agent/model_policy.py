"""A language model as a policy.

The rules and the developer's instructions are one constant prompt, so that a provider can cache it. Recalled memory is
quoted in the message with the task; earlier actions follow as tool calls and their results. What is in mind comes last,
since it changes with every decision.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from longmind.agent.models import Action, Call, Observation, Say, Turn
from longmind.agent.run_recorder import STEP
from longmind.errors import InvalidAnswer
from longmind.models import prompts
from longmind.models.chat import Answer, Chat, ChatMessage, ChatTool, ToolCall, Usage
from longmind.systems.procedural import ToolDescription
from longmind.systems.working import GOAL, Item, is_of_run, items_text
from longmind.text.quoting import quote, quote_json, strip_invisible

_NAME = 64
_LONGEST = 2_000
_ODD = re.compile(r"[^A-Za-z0-9_-]")


class ModelPolicy:
    """Lets a model decide. Of several calls in one answer only the first is made; then the model is asked again."""

    def __init__(self, chat: Chat, *, max_tokens: int | None = None, temperature: float | None = None) -> None:
        self._chat = chat
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._prompt = prompts.load("agent")
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """What all its decisions have used."""
        return self._usage

    @property
    def described(self) -> Mapping[str, str]:
        return {"policy": "model", "model": self._chat.name, "prompt": self._prompt.id}

    async def decide(self, turn: Turn) -> Action:
        names = wire_names(turn.tools)
        try:
            answer = await self._chat.complete(self.messages(turn), **self._options(turn, names))
        except InvalidAnswer as error:
            self._count(error.usage)
            raise
        self._count(answer.usage)
        return _action(answer, names)

    async def speak(self, turn: Turn) -> AsyncGenerator[str | Action, None]:
        """Yield the answer as it comes, and then the action."""
        names = wire_names(turn.tools)
        stream = self._chat.stream(self.messages(turn), **self._options(turn, names))
        try:
            async with aclosing(stream) as pieces:  # type: ignore[type-var]
                async for piece in pieces:
                    if piece.text:
                        yield piece.text
                    if piece.answer is not None:
                        self._count(piece.answer.usage)
                        yield _action(piece.answer, names)
        except InvalidAnswer as error:
            self._count(error.usage)
            raise

    def messages(self, turn: Turn) -> list[ChatMessage]:
        """Build the messages for the model."""
        names = {tool: name for name, tool in wire_names(turn.tools).items()}
        messages = [ChatMessage(role="system", content=_system(self._prompt.text, turn.instructions))]
        for said in turn.conversation:
            if said.role == "user" or said.metadata.get("type") == STEP:
                messages.append(ChatMessage(role="user", content=strip_invisible(said.content)))
            elif said.role == "assistant":
                messages.append(ChatMessage(role="assistant", content=strip_invisible(said.content)))
        context = f"<memory>\n{turn.recalled}\n</memory>\n\n" if turn.recalled else ""
        messages.append(ChatMessage(role="user", content=context + turn.task))
        for number, done in enumerate(turn.done, 1):
            messages += _exchange(number, done, names)
        if in_mind := items_text([item for item in turn.working if not _is_goal(item)]):
            messages.append(ChatMessage(role="user", content=f"<working_memory>\n{in_mind}\n</working_memory>"))
        if turn.critique is not None:
            objection = quote(turn.critique.objection, _LONGEST)
            messages.append(ChatMessage(role="user", content=f"Before you go on, think it over: {objection}"))
        if turn.problem:
            problem = quote(turn.problem, _LONGEST)
            messages.append(ChatMessage(role="user", content=f"Your last answer could not be used: {problem}"))
        return messages

    def _options(self, turn: Turn, names: Mapping[str, str]) -> dict[str, Any]:
        by_name = {tool.name: tool for tool in turn.tools}
        tools = [
            ChatTool(
                name=wire, description=strip_invisible(by_name[name].description), parameters=by_name[name].parameters
            )
            for wire, name in names.items()
        ]
        return {
            "tools": tools,
            "max_tokens": self._max_tokens,
            "temperature": self._temperature,
            "prompts": (self._prompt.id,),
        }

    def _count(self, usage: Usage | None) -> None:
        self._usage += usage or Usage()


def _system(rules: str, instructions: str) -> str:
    if not instructions:
        return rules
    return (
        f"{rules.rstrip()}\n\nInstructions of the developer who runs you, to be followed in every task:\n{instructions}"
    )


def _is_goal(item: Item) -> bool:
    """Whether an item only repeats the task, which is a message of its own."""
    return is_of_run(item) and item.key == GOAL


def wire_names(tools: Sequence[ToolDescription]) -> dict[str, str]:
    """Map names that providers allow to the names of the tools."""
    names: dict[str, str] = {}
    for tool in tools:
        plain = _ODD.sub("_", tool.name)[:_NAME]
        name, number = plain, 1
        while name in names:
            number += 1
            tail = f"_{number}"
            name = plain[: _NAME - len(tail)] + tail
        names[name] = tool.name
    return names


def _action(answer: Answer, names: Mapping[str, str]) -> Action:
    if answer.tool_calls:
        call = answer.tool_calls[0]
        return Call(tool=names.get(call.name, call.name), args=call.arguments, thought=answer.text)
    if answer.finish == "length":
        raise InvalidAnswer("The answer broke off for want of room.", text=answer.text[-2000:])
    if answer.finish == "filter" and not answer.text.strip():
        return Say(text="The model would not answer this.", success=False)
    return Say(text=answer.text)


def _exchange(number: int, done: Observation, names: Mapping[str, str]) -> list[ChatMessage]:
    id = f"call_{number}"
    result = strip_invisible(done.result) if isinstance(done.result, str) else quote_json(done.result)
    call = ToolCall(id=id, name=names.get(done.call.tool, done.call.tool), arguments=done.call.args)
    return [
        ChatMessage(role="assistant", content=done.call.thought, tool_calls=(call,)),
        ChatMessage(role="tool", content=result if done.ok else f"Error: {strip_invisible(done.error)}", call_id=id),
    ]
