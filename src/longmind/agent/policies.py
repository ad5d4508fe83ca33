"""Policies that need no model: a Python function, and memory alone."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from longmind.agent.models import Action, Call, Policy, PolicyFunction, Say, Turn
from longmind.kinds import SAID
from longmind.text.analysis import terms
from longmind.types import Hit, Memory, Message

_QUOTED = 3
_AS_GOOD = 0.5
"""How well a memory must fit, compared with the best, to be quoted beside it."""
_LONGEST = 400
_READ = 5_000
"""Characters of a memory that are searched for words of the task."""
_ALONE = "No language model is configured, so I can only quote what I remember."


@dataclass(slots=True)
class FunctionPolicy:
    """A function that decides. One that is not async runs in the event loop, so it should not wait for anything."""

    function: PolicyFunction

    async def decide(self, turn: Turn) -> Action:
        decided = self.function(turn)
        return await decided if inspect.isawaitable(decided) else decided

    @property
    def described(self) -> Mapping[str, str]:
        return {"policy": str(getattr(self.function, "__name__", type(self.function).__name__))[:200]}


class MemoryPolicy:
    """Answers with what memory has, word for word, and says so; what was said in this conversation is memory, too. It
    calls no tool: it cannot know what one is for."""

    described: Mapping[str, str] = {"policy": "memory"}

    async def decide(self, turn: Turn) -> Action:
        found = _asked_for(turn, [hit for hit in turn.memories if not _own_words(hit.memory)])
        quoted = dict.fromkeys(_quote(hit) for hit in found if hit.score >= found[0].score * _AS_GOOD)
        if not quoted:
            return Say(text=f"I remember nothing about this. {_ALONE}")
        return Say(text="\n".join([_ALONE, *(f"- {quote}" for quote in list(quoted)[:_QUOTED])]))


def _asked_for(turn: Turn, found: list[Hit]) -> list[Hit]:
    """Those that have a word of the task, if any has. In a conversation memory also brings what fits what was said
    before, and an answer made of quotations must not go on about that."""
    wanted = set(terms(turn.task)) if turn.conversation else set[str]()
    return [hit for hit in found if wanted.intersection(terms(hit.memory.content[:_READ]))] or found


def _own_words(memory: Memory) -> bool:
    """Whether this is only an answer of the agent, an account of a run, or a question: these are no evidence."""
    if memory.kind == "message":
        return memory.source.role == "assistant" or memory.content.rstrip().endswith("?")
    return memory.kind == "episode" and memory.metadata.get("type") == "task"


def _quote(hit: Hit) -> str:
    memory = hit.memory
    text = " ".join(memory.content.split())
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
    said_by = memory.source.name or (memory.source.role if memory.kind in SAID else memory.kind)
    place = f", {memory.source.uri}" if memory.source.uri else ""
    return f"“{text}” ({said_by}, {memory.occurred_at:%Y-%m-%d}{place})"


def policy_of(given: Policy | PolicyFunction) -> Policy:
    """A policy from what a caller finds convenient."""
    if hasattr(given, "decide"):
        return given
    return FunctionPolicy(given)


def unusable(action: Any) -> str:
    """What is wrong with the form of what a policy decided; nothing when it is an action."""
    if isinstance(action, Call):
        return ""
    if isinstance(action, Say):
        if not action.text.strip():
            return "The answer is empty."
        try:
            Message(content=action.text)
        except ValidationError as error:
            return f"The answer cannot be stored: {error.errors(include_input=False, include_url=False)[0]['msg']}."
        return ""
    return f"A policy decides for a Call or a Say, not for {type(action).__name__}."
