"""What memory brings into a run, with no call by the user: memories, reflections, lessons, procedures, what was said.

Each of these may fail by itself; what fails is told and the others still come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Protocol, TypeVar

from longmind.agent.models import Limits
from longmind.agent_memory import AgentMemory
from longmind.kinds import owned_by
from longmind.recall import budget
from longmind.recall.standing import standing_memories
from longmind.systems.episodic import EPISODE, Lesson
from longmind.systems.procedural import ProcedureHit
from longmind.tokens import estimate
from longmind.types import Filter, Hit, Memory, Message

T = TypeVar("T")
_APART = frozenset({"event", "reflection", *owned_by("procedural", "working")})
"""Kinds that come in a form of their own, or only repeat what an episode tells."""
_MAX_RECALLED = 1_000
"""The most hits that one recall returns."""
_FITS = 0.3
"""The score from which a procedure is worth offering."""


@dataclass(frozen=True, slots=True)
class RecalledContext:
    """What memory has for a task."""

    memories: tuple[Hit, ...] = ()
    reflections: tuple[Memory, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    procedures: tuple[ProcedureHit, ...] = ()
    conversation: tuple[Message, ...] = ()
    context: str = ""
    problems: tuple[str, ...] = ()


class RecallSource(Protocol):
    """Where a run's memories come from."""

    async def gather(self, task: str, session: str, run: str, limits: Limits) -> RecalledContext:
        """What is known for a task; ``run`` is the id of the run's episode, whose own message is left out."""
        ...


class NoRecall:
    """An agent that remembers nothing: what it does is still recorded."""

    async def gather(self, task: str, session: str, run: str, limits: Limits) -> RecalledContext:
        return RecalledContext()


@dataclass(slots=True)
class MemoryRecall:
    """All that an agent's memory has for a task."""

    mem: AgentMemory

    async def gather(self, task: str, session: str, run: str, limits: Limits) -> RecalledContext:
        gathering = _Gathering()
        said = await gathering.part("what was said", lambda: self._conversation(session, run, limits))
        memories, reflections, lessons, procedures, standing, earlier = await asyncio.gather(
            gathering.part("memories", lambda: self._memories(task, said, limits)),
            gathering.part("reflections", lambda: self._reflections(task, limits)),
            gathering.part("lessons", lambda: self._lessons(task, limits)),
            gathering.part("procedures", lambda: self._procedures(task, limits)),
            gathering.part("goals and traits", lambda: standing_memories(self.mem.store, self.mem.scope)),
            gathering.part("what was said earlier", lambda: self._earlier(session, limits, len(said))),
        )
        told = {_folded(message.content) for message in said}
        _, untold = _parted(memories, told)
        notes = {"Earlier in this conversation": [f'- "{_line(one)}"' for one in earlier]}
        notes["Lessons"] = [_lesson(one) for one in lessons]
        return RecalledContext(
            memories=tuple(memories),
            reflections=tuple(hit.memory for hit in reflections),
            lessons=tuple(lessons),
            procedures=tuple(procedures),
            conversation=tuple(said),
            context=rendered(standing, [*reflections, *untold], notes, limits.context_tokens),
            problems=tuple(gathering.problems),
        )

    async def _conversation(self, session: str, run: str, limits: Limits) -> Sequence[Message]:
        if not limits.messages:
            return ()
        said = await self.mem.conversation(session).history(limits.messages + 1)
        told = [m for m in said if m.metadata.get(EPISODE) != run][-limits.messages :]
        return [Message(role=m.source.role, content=m.content, occurred_at=m.occurred_at) for m in told]

    async def _earlier(self, session: str, limits: Limits, said: int) -> Sequence[str]:
        """What was said before the messages that are told whole, in short."""
        if not limits.messages or said < limits.messages:
            return ()
        return (await self.mem.conversation(session, window=limits.messages).summary()).splitlines()

    async def _memories(self, task: str, conversation: Sequence[Message], limits: Limits) -> Sequence[Hit]:
        """What fits the task, and what fits the conversation. Of what was said in it, what fits the task by itself: a
        prompt tells these messages anyway, but a policy that quotes memory has to find them."""
        if not limits.memories:
            return ()
        asked, told = Message(content=task), {_folded(message.content) for message in conversation}
        most = min(4 * limits.memories, _MAX_RECALLED)
        found: Sequence[Hit] = await self.mem.recall(task, most, conversation=[asked])
        if conversation:
            beside = await self.mem.recall(task, most, conversation=[*conversation, asked])
            found = _ranked([*found, *_parted(beside, told)[1]])
        fitting = [hit for hit in found if _folded(hit.memory.content) != _folded(task) and not _apart(hit.memory)]
        heard = {_folded(hit.memory.content) for hit in fitting if hit.memory.kind == "message"}
        fitting = [hit for hit in fitting if not (hit.memory.kind == EPISODE and _title(hit.memory) in heard)]
        said, others = _parted(fitting, told)
        return _ranked([*others[: limits.memories], *said[: limits.memories]])

    async def _reflections(self, task: str, limits: Limits) -> Sequence[Hit]:
        if not limits.memories:
            return ()
        where = Filter(states=("active",))
        return await self.mem.recall(task, limits.memories, kinds=("reflection",), where=where)

    async def _lessons(self, task: str, limits: Limits) -> Sequence[Lesson]:
        if not limits.episodes:
            return ()
        return (await self.mem.episodic.lessons(task, episodes=limits.episodes)).lessons

    async def _procedures(self, task: str, limits: Limits) -> Sequence[ProcedureHit]:
        if not limits.procedures:
            return ()
        return [found for found in await self.mem.procedural.search(task, limits.procedures) if found.score >= _FITS]


@dataclass(slots=True)
class _Gathering:
    """Asks for the parts, each on its own, and notes what could not be had."""

    problems: list[str] = field(default_factory=list)

    async def part(self, what: str, ask: Callable[[], Awaitable[Sequence[T]]]) -> Sequence[T]:
        try:
            return await ask()
        except Exception as error:
            self.problems.append(f"Memory could not bring {what}: {error}")
            return ()


def rendered(standing: Sequence[Memory], hits: Sequence[Hit], notes: Mapping[str, Sequence[str]], tokens: int) -> str:
    """All of it as text for a prompt: quoted data, within a budget. Notes take at most a quarter of it each."""
    parts: list[str] = []
    left = tokens
    for title, lines in notes.items():
        kept: list[str] = []
        share = tokens // 4
        for line in lines:
            share -= estimate(line) + 1
            if share < 0:
                break
            kept.append(line)
        if kept:
            parts.append("\n".join([f"## {title}", *kept]))
            left -= estimate(parts[-1])
    told = budget.render(standing, hits, left) if left > 0 else ""
    return "\n\n".join([told or budget.HEAD, *parts]) if told or parts else ""


def _parted(hits: Sequence[Hit], told: set[str]) -> tuple[list[Hit], list[Hit]]:
    """Those that the conversation tells, and the others."""
    said = [_folded(hit.memory.content) in told for hit in hits]
    return list(compress(hits, said)), [hit for hit, known in zip(hits, said, strict=True) if not known]


def _ranked(hits: Sequence[Hit]) -> list[Hit]:
    """The best first, and none twice."""
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: -hit.score):
        best.setdefault(hit.memory.id, hit)
    return list(best.values())


def _lesson(lesson: Lesson) -> str:
    counted = len(lesson.episodes) + len(lesson.against)
    return f'- [counted over {counted} episodes, {lesson.advice}] "{_line(lesson.statement)}"'


def _line(text: str) -> str:
    return " ".join(text.split()).replace('"', "'")


def _apart(memory: Memory) -> bool:
    """Whether it comes in a form of its own, or was only quoted from memory and would be quoted again and again."""
    return memory.kind in _APART or memory.metadata.get("policy") == "memory"


def _title(episode: Memory) -> str:
    """An episode's first line: of a run it is the task, which the message that began it says too."""
    return _folded(episode.content.partition("\n")[0])


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
