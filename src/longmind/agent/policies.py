"""Policies that need no model: a Python function, and memory alone."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from longmind.agent.models import Action, Call, Policy, PolicyFunction, Say, Turn
from longmind.kinds import SAID
from longmind.problems import first_problem
from longmind.systems.working import Item, is_of_run
from longmind.text.analysis import terms
from longmind.text.quoting import label, quote
from longmind.text.replies import only_asks
from longmind.types import Answer, Citation, Hit, Memory, Message

_QUOTED = 3
_AS_GOOD = 0.1
"""A memory is quoted if it is at least so likely right as this share of the best one's chance."""
_LONGEST = 400
_READ = 5_000
"""Characters of a memory that are searched for words of the task."""
_ALONE = "No language model is configured, so I can only quote what I remember."
_NOT_KNOWN = "I do not know: no memory answers this."
_FROM_MEMORY = "(No language model is configured: the answer is taken from memory.)"


@dataclass(slots=True)
class FunctionPolicy:
    """A policy made of a function. A function that is not async runs in the event loop, so it must not block."""

    function: PolicyFunction

    async def decide(self, turn: Turn) -> Action:
        decided = self.function(turn)
        return await decided if inspect.isawaitable(decided) else decided

    @property
    def described(self) -> Mapping[str, str]:
        return {"policy": str(getattr(self.function, "__name__", type(self.function).__name__))[:200]}


class MemoryPolicy:
    """Answers from memory, the conversation included, and says so. It never calls a tool.

    With ``ask`` a question gets its answer, with the memories it rests on; otherwise the best memories are quoted.
    """

    described: Mapping[str, str] = {"policy": "memory"}

    def __init__(self, ask: Callable[[str], Awaitable[Answer]] | None = None) -> None:
        self._ask = ask

    async def decide(self, turn: Turn) -> Action:
        opening = _ALONE
        # an agent that recalls nothing, by choice or for want of it, has nothing to answer from
        if self._ask is not None and turn.memories and only_asks(turn.task):
            answer = await self._ask(turn.task)
            if answer.known:
                sources = dict.fromkeys(_cite(citation) for citation in answer.evidence)
                return Say(text="\n".join([answer.text, *(f"- {source}" for source in sources), _FROM_MEMORY]))
            opening = f"{_NOT_KNOWN} {_ALONE}"
        hits = _sharing_words(turn, [hit for hit in turn.memories if not _is_own_words(hit.memory)])
        quoted = dict.fromkeys(_quote_item(item) for item in turn.working if _answers(item, turn.task))
        quoted |= dict.fromkeys(_quote(hit.memory) for hit in hits if hit.score >= hits[0].score * _AS_GOOD)
        if not quoted:
            return Say(text=f"I remember nothing about this. {_ALONE}")
        return Say(text="\n".join([opening, *(f"- {quote}" for quote in list(quoted)[:_QUOTED])]))


def _sharing_words(turn: Turn, hits: list[Hit]) -> list[Hit]:
    """Keep the memories that share a word with the task; if none does, keep all.

    In a conversation, memory also returns what matches earlier messages, which an answer should not quote.
    """
    wanted = set(terms(turn.task)) if turn.conversation else set[str]()
    return [hit for hit in hits if wanted.intersection(terms(hit.memory.content[:_READ]))] or hits


def _is_own_words(memory: Memory) -> bool:
    """Whether a memory is an answer of the agent, the episode of a run, or a question; these are no evidence."""
    if memory.kind == "message":
        return memory.source.role == "assistant" or memory.content.rstrip().endswith("?")
    return memory.kind == "episode" and memory.metadata.get("type") == "task"


def _answers(item: Item, task: str) -> bool:
    """Whether an item was put into working memory by hand and shares a word with the task."""
    return not is_of_run(item) and bool(set(terms(task)).intersection(terms(item.content[:_READ])))


def _quote_item(item: Item) -> str:
    source = item.source
    return f"{quote(item.content, _LONGEST)} ({label(source.name) if source.name else source.role}, in mind)"


def _quote(memory: Memory) -> str:
    source = memory.source
    said_by = label(source.name) if source.name else source.role if memory.kind in SAID else memory.kind
    place = f", {label(source.uri)}" if source.uri else ""
    return f"{quote(memory.content, _LONGEST)} ({said_by}, {memory.occurred_at:%Y-%m-%d}{place})"


def _cite(citation: Citation) -> str:
    """Return the words that an answer rests on, and the memory in which they stand."""
    words, memory = citation.quote.strip(), citation.memory
    if len(words) * 2 > len(memory.content.strip()):
        return _quote(memory)  # nearly all of it: once is enough
    return f"{quote(words, _LONGEST)} in {_quote(memory)}"


def as_policy(policy: Policy | PolicyFunction) -> Policy:
    """Return a policy object; a function becomes a ``FunctionPolicy``."""
    if hasattr(policy, "decide"):
        return policy
    return FunctionPolicy(policy)


def action_problem(action: Any) -> str:
    """Return why what a policy returned is not a valid action, or an empty text if it is one."""
    if isinstance(action, Call):
        return ""
    if isinstance(action, Say):
        if not action.text.strip():
            return "The answer is empty."
        try:
            Message(content=action.text)
        except ValidationError as error:
            return f"The answer cannot be stored: {first_problem(error)[1]}."
        return ""
    return f"A policy decides for a Call or a Say, not for {type(action).__name__}."
