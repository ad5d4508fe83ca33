"""What a run gets from memory: memories, reflections, lessons, procedures, and the conversation so far.

If one of these fails, the problem is reported and the others are still returned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Protocol, TypeVar

from longmind.agent.models import Limits
from longmind.agent.run_recorder import STEP
from longmind.agent.task_similarity import without_subject
from longmind.agent_memory import AgentMemory
from longmind.kinds import owned_by
from longmind.recall import budget
from longmind.recall.standing import standing_memories
from longmind.systems.episodic import EPISODE, Lesson
from longmind.systems.procedural import ProcedureHit
from longmind.text.quoting import quote
from longmind.tokens import estimate
from longmind.types import Filter, Hit, Memory, Message

T = TypeVar("T")
_SEPARATE = frozenset({"event", "reflection", *owned_by("procedural", "working")})
"""Kinds that are recalled separately, or that only repeat an episode."""
_MAX_RECALLED = 1_000
"""The most hits that one recall returns."""
_MIN_SCORE = 0.1
"""A procedure is offered as a tool if it is the right one at least one time in ten."""


@dataclass(frozen=True, slots=True)
class RecalledContext:
    """What memory returns for a task."""

    memories: tuple[Hit, ...] = ()
    reflections: tuple[Memory, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    procedures: tuple[ProcedureHit, ...] = ()
    conversation: tuple[Message, ...] = ()
    context: str = ""
    problems: tuple[str, ...] = ()


class RecallSource(Protocol):
    """The source of a run's memories."""

    async def gather(self, task: str, session: str, run: str, limits: Limits) -> RecalledContext:
        """Return what is known for a task. ``run`` is the id of the run's episode; its own message is left out."""
        ...


class NoRecall:
    """A source without memories. Runs are still recorded."""

    async def gather(self, task: str, session: str, run: str, limits: Limits) -> RecalledContext:
        return RecalledContext()


@dataclass(slots=True)
class MemoryRecall:
    """Recalls from the agent's memory."""

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
        spoken = {_folded(message.content) for message in said}
        _, unspoken = _split_by_text(memories, spoken)
        notes = {"Earlier in this conversation": [f"- {quote(text)}" for text in earlier]}
        notes["Lessons"] = [_render_lesson(lesson) for lesson in lessons]
        return RecalledContext(
            memories=tuple(memories),
            reflections=tuple(hit.memory for hit in reflections),
            lessons=tuple(lessons),
            procedures=tuple(procedures),
            conversation=tuple(said),
            context=rendered(standing, [*reflections, *unspoken], notes, limits.context_tokens),
            problems=tuple(gathering.problems),
        )

    async def _conversation(self, session: str, run: str, limits: Limits) -> Sequence[Message]:
        if not limits.messages:
            return ()
        said = await self.mem.conversation(session).history(limits.messages + 1)
        earlier = [m for m in said if m.metadata.get(EPISODE) != run][-limits.messages :]
        return [as_message(memory) for memory in earlier]

    async def _earlier(self, session: str, limits: Limits, said: int) -> Sequence[str]:
        """Return a summary of what was said before the messages that are quoted in full."""
        if not limits.messages or said < limits.messages:
            return ()
        return (await self.mem.conversation(session, window=limits.messages).summary()).splitlines()

    async def _memories(self, task: str, conversation: Sequence[Message], limits: Limits) -> Sequence[Hit]:
        """Return memories that match the task, and others that match the conversation.

        Messages of the conversation are included if they match the task: a prompt contains them anyway, but a policy
        that quotes memory has to find them.
        """
        if not limits.memories:
            return ()
        question, spoken = Message(content=task), {_folded(message.content) for message in conversation}
        most = min(4 * limits.memories, _MAX_RECALLED)
        hits: Sequence[Hit] = await self.mem.recall(task, most, conversation=[question])
        if conversation:
            beside = await self.mem.recall(task, most, conversation=[*conversation, question])
            hits = _ranked([*hits, *_split_by_text(beside, spoken)[1]])
        fitting = [hit for hit in hits if _folded(hit.memory.content) != _folded(task) and not _is_separate(hit.memory)]
        heard = {_folded(hit.memory.content) for hit in fitting if hit.memory.kind == "message"}
        fitting = [hit for hit in fitting if not (hit.memory.kind == EPISODE and _title(hit.memory) in heard)]
        said, others = _split_by_text(fitting, spoken)
        return _ranked([*others[: limits.memories], *said[: limits.memories]])

    async def _reflections(self, task: str, limits: Limits) -> Sequence[Hit]:
        if not limits.memories:
            return ()
        where = Filter(states=("active",))
        return await self.mem.recall(without_subject(task), limits.memories, kinds=("reflection",), where=where)

    async def _lessons(self, task: str, limits: Limits) -> Sequence[Lesson]:
        if not limits.episodes:
            return ()
        return (await self.mem.episodic.lessons(task, episodes=limits.episodes)).lessons

    async def _procedures(self, task: str, limits: Limits) -> Sequence[ProcedureHit]:
        if not limits.procedures:
            return ()
        return [hit for hit in await self.mem.procedural.search(task, limits.procedures) if hit.score >= _MIN_SCORE]


@dataclass(slots=True)
class _Gathering:
    """Loads each part and collects the problems."""

    problems: list[str] = field(default_factory=list)

    async def part(self, what: str, ask: Callable[[], Awaitable[Sequence[T]]]) -> Sequence[T]:
        try:
            return await ask()
        except Exception as error:
            self.problems.append(f"Memory could not bring {what}: {error}")
            return ()


def rendered(standing: Sequence[Memory], hits: Sequence[Hit], notes: Mapping[str, Sequence[str]], tokens: int) -> str:
    """Render everything as quoted data for a prompt, within a token budget; each note takes at most a quarter of it."""
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
    memories = budget.render(standing, hits, left) if left > 0 else ""
    return "\n\n".join([memories or budget.HEAD, *parts]) if memories or parts else ""


def as_message(memory: Memory) -> Message:
    """Return a stored message as a turn of the conversation. It says if it is a step the agent gave to itself."""
    metadata = {"type": STEP} if memory.metadata.get("type") == STEP else {}
    return Message(role=memory.source.role, content=memory.content, occurred_at=memory.occurred_at, metadata=metadata)


def _split_by_text(hits: Sequence[Hit], texts: set[str]) -> tuple[list[Hit], list[Hit]]:
    """Split hits into those that are messages of the conversation, and the others."""
    said = [_folded(hit.memory.content) in texts for hit in hits]
    return list(compress(hits, said)), [hit for hit, known in zip(hits, said, strict=True) if not known]


def _ranked(hits: Sequence[Hit]) -> list[Hit]:
    """Sort hits by score, without duplicates."""
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: -hit.score):
        best.setdefault(hit.memory.id, hit)
    return list(best.values())


def _render_lesson(lesson: Lesson) -> str:
    counted = len(lesson.episodes) + len(lesson.against)
    return f"- [counted over {counted} episodes, {lesson.advice}] {quote(lesson.statement)}"


def _is_separate(memory: Memory) -> bool:
    """Whether it is recalled separately, or is no evidence: a quotation of memory, or a step of the agent's plan."""
    return (
        memory.kind in _SEPARATE
        or memory.metadata.get("policy") == "memory"
        or (memory.kind == "message" and memory.metadata.get("type") == STEP)
    )


def _title(episode: Memory) -> str:
    """Return an episode's first line. For a run it is the task, which its first message repeats."""
    return _folded(episode.content.partition("\n")[0])


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
