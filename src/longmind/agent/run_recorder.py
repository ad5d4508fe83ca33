"""Storage of a run: the task, an episode with an event for each action, and the answer.

A write may fail while the task goes on. Failed writes are queued and retried, in order, with the next one, so that a
short outage of the store loses nothing. What is still missing at the end is reported.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from longmind.agent.models import Critique, Ending, Observation, Outcome, Turn
from longmind.agent_memory import AgentMemory
from longmind.systems import ownership
from longmind.systems.episodic import EPISODE, EpisodeBody, EpisodeWriter, EventDraft, JoinedWrites
from longmind.systems.episodic import Outcome as Ended
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.systems.working import Item, RunItems, is_of_run
from longmind.types import Link, Memory, Message, Source

TYPE = "task"
"""The type of an episode that is a run."""
CALL, ANSWER = "call", "answer"
"""The types of its events."""
CRITIQUE = "critique"
STEP = "step"
"""The type of a message with which the agent gives a step of a plan to itself."""
IN_MIND = "in_mind"
"""What was put into working memory by hand, at a decision. It is a list, so that no lesson is drawn from it."""
DETAILS = "run"
"""The attribute that stores how the run ended. It is nested, so that no lesson is drawn from it."""
_TITLE, _NOTE, _SHORT = 500, 2_000, 500
_STORED = {"ending", "text", "success", "usage", "critic_usage", "seconds"}
"""The fields of an outcome that its episode stores as they are."""
_ENDED: Mapping[bool | None, Ended] = {True: "succeeded", False: "failed", None: "unknown"}


@dataclass(slots=True)
class RunRecorder:
    """Stores one run as it goes on."""

    mem: AgentMemory
    episode: str
    """The id of its episode, which may not be stored yet."""
    task: str
    session: str
    key: str | None
    problem: Callable[[str], None]
    begun: datetime
    own: bool = False
    """Whether the agent gave the task to itself."""
    _message: Memory | None = None
    _in_mind: tuple[Item, ...] = ()
    _waiting: list[tuple[str, Callable[[], Awaitable[None]]]] = field(default_factory=list)
    _written: set[str] = field(default_factory=set)
    _tried: set[str] = field(default_factory=set)

    @property
    def stored(self) -> bool:
        """Whether the episode of this run is stored."""
        return "episode" in self._written

    async def begin(self, joined: JoinedWrites | None = None) -> None:
        """Store the task as a message of who gave it, and begin the episode; ``joined`` is written with the episode."""
        self._waiting += [("task", self._store_task), ("episode", lambda: self._store_episode(joined))]
        await self._write()

    def in_mind(self, items: tuple[Item, ...]) -> None:
        """Note what is in working memory at the decision that follows."""
        self._in_mind = tuple(item for item in items if not is_of_run(item))

    async def action(
        self,
        number: int,
        done: Observation,
        at: datetime,
        critique: Critique | None,
        joined: JoinedWrites | None = None,
    ) -> None:
        """Store one call and its result; ``joined`` is written with them."""
        data = self._decision_data(critique)
        self._waiting.append((f"action {number}", lambda: self._store_call(number, done, at, data, joined)))
        await self._write()

    async def answer(self, text: str, metadata: Mapping[str, Any], critique: Critique | None) -> None:
        """Store the answer, as a message of the agent and as the run's last event."""
        at, data = self.mem.scoped.now(), self._decision_data(critique)
        self._waiting.append(("answer", lambda: self._store_answer(text, metadata, at, data)))
        await self._write()

    async def end(self, outcome: Outcome, details: Mapping[str, Any], joined: JoinedWrites | None = None) -> None:
        """End the episode, however the run ended; ``joined`` is written with its end."""
        self._waiting.append(("end", lambda: self._store_end(outcome, details, joined)))
        await self._write()

    async def _write(self) -> None:
        while self._waiting:
            what, store = self._waiting[0]
            try:
                await store()
            except Exception as error:
                self.problem(f"Memory could not store the {what} of the run: {error}")
                return
            self._written.add(what)
            self._waiting.pop(0)

    # -- the writes ----------------------------------------------------------------------------------------------

    async def _store_task(self) -> None:
        """Store the task as what the user said, or, if the agent gave it to itself, as a step that the agent wrote."""
        message = Message(role="assistant" if self.own else "user", content=self.task, occurred_at=self.begun)
        metadata = {EPISODE: self.episode} | ({"type": STEP} if self.own else {})
        talk = self.mem.conversation(self.session)
        self._message = await talk.add(message, key=f"task:{self.episode}", metadata=metadata)

    async def _store_episode(self, joined: JoinedWrites | None) -> None:
        scoped = self.mem.scoped
        title, description = self.task.strip().partition("\n")[0].strip(), ""
        if title != self.task.strip() or len(title) > _TITLE:
            title, description = title[:_TITLE], self.task
        body = validated(EpisodeBody, {"title": title, "type": TYPE, "description": description})
        key = None if self.key is None else ownership.own_key(scoped.scope, run_key(self.key))
        await EpisodeWriter(scoped).begin(
            body,
            start=self.begun,
            links={} if self._message is None else {"derived_from": [self._message.id]},
            reason="run begun",
            operation=f"begin:{self.episode}",
            joined=joined,
            id=self.episode,
            key=key,
            session=self.session,
        )

    async def _store_call(
        self,
        number: int,
        done: Observation,
        at: datetime,
        decision: Mapping[str, Any],
        joined: JoinedWrites | None,
    ) -> None:
        data: dict[str, Any] = {"tool": done.call.tool, "args": done.call.args, "ok": done.ok, **decision}
        data |= {"result": done.result} if done.ok else {"error": done.error}
        data |= {"truncated": True} if done.truncated else {}
        data |= {"thought": done.call.thought} if done.call.thought else {}
        draft = {
            "what": describe_call(done),
            "type": CALL,
            "at": max(at, self.begun),
            "duration": timedelta(seconds=done.seconds),
            "actor": done.call.tool[:200],
            "data": data,
            "valence": 0.0 if done.ok else -0.5,
            "key": str(number),
        }
        await self._store_event(draft, source=Source(role="tool", name=done.call.tool[:200]), joined=joined)

    async def _store_answer(
        self, text: str, metadata: Mapping[str, Any], at: datetime, decision: Mapping[str, Any]
    ) -> None:
        said = Message(role="assistant", content=text, occurred_at=at, metadata={**metadata, EPISODE: self.episode})
        memory = await self.mem.conversation(self.session).add(said, key=f"answer:{self.episode}")
        data = {**metadata, **decision}
        draft = {"what": text, "type": ANSWER, "at": max(at, self.begun), "data": data, "key": ANSWER}
        await self._store_event(draft, also=[Link(source=memory.id, relation="derived_from", target=self.episode)])

    async def _store_event(
        self,
        fields: Mapping[str, Any],
        also: list[Link] | None = None,
        source: Source | None = None,
        joined: JoinedWrites | None = None,
    ) -> Memory:
        """Store an event, derived from the episode, so that erasing the task erases what was done for it."""
        draft = validated(EventDraft, fields)
        key = str(draft.key)
        first_try = key not in self._tried
        self._tried.add(key)
        return await EpisodeWriter(self.mem.scoped).add_event(
            self.episode,
            draft,
            derived=True,
            links=also or (),
            source=source,
            first_try=first_try,
            joined=joined,
            reason="run goes on",
        )

    def _decision_data(self, critique: Critique | None) -> Mapping[str, Any]:
        """Return what preceded a decision: the critique, and what was put into working memory by hand."""
        data: dict[str, Any] = {} if critique is None else {CRITIQUE: critique.model_dump(mode="json")}
        if self._in_mind:
            data[IN_MIND] = [item.model_dump(mode="json") for item in self._in_mind]
        return data

    async def _store_end(self, outcome: Outcome, details: Mapping[str, Any], joined: JoinedWrites | None) -> None:
        note = "" if outcome.ending == "answered" else f"{outcome.ending}: {outcome.text}"[:_NOTE]
        await close_episode(self.mem.scoped, self.episode, _ENDED[outcome.success], note, details, joined=joined)


async def close_episode(
    scoped: ScopedStore,
    episode: str,
    outcome: Ended,
    note: str,
    details: Mapping[str, Any],
    *,
    free_key: bool = False,
    joined: JoinedWrites | None = None,
) -> bool:
    """End the episode of a run unless it has ended; return whether it had not. ``free_key`` frees its key."""
    ended = await EpisodeWriter(scoped).end(
        episode,
        outcome,
        note=note,
        attributes={DETAILS: dict(details)},
        force=True,
        free_key=free_key,
        joined=joined,
        reason="run ended",
    )
    return ended is not None


async def close_interrupted_run(scoped: ScopedStore, episode: str) -> bool:
    """End the episode of a run that was abandoned, and remove what it had in mind; return whether it was open."""
    memory = await scoped.store.get(scoped.scope, episode)
    if memory is None or memory.kind != EPISODE:
        return False
    if memory.session is not None:
        await RunItems(scoped, memory.session, episode).remove()
    ending: Ending = "abandoned"
    note = "abandoned: the run was not ended within its lease, since its process died or its task was killed."
    return await close_episode(scoped, episode, "unknown", note, {"ending": ending, "text": ""}, free_key=True)


def run_details(outcome: Outcome, turn: Turn | None, origin: Mapping[str, str]) -> dict[str, Any]:
    """Return what the episode stores beside its events, for replay: the ending, and what was recalled."""
    details: dict[str, Any] = {
        **outcome.model_dump(mode="json", include=_STORED),
        "problems": list(outcome.problems),
        **origin,
    }
    if turn is not None:
        details["brought"] = {
            "memories": {hit.memory.id: hit.score for hit in turn.memories},
            "reflections": [memory.id for memory in turn.reflections],
            "lessons": [lesson.model_dump(mode="json") for lesson in turn.lessons],
            "procedures": {hit.version.procedure.name: hit.score for hit in turn.procedures},
            "tools": [tool.name for tool in turn.tools],
            "context": turn.recalled,
        }
        if turn.instructions:
            details["instructions"] = f"sha256:{sha256(turn.instructions.encode()).hexdigest()}"
    return details


def run_key(key: str) -> str:
    """Return the name under which the episode of a run with a key is stored."""
    return f"task:{key}"


def describe_call(done: Observation) -> str:
    """Describe a call in one line, for people and for search."""
    args = ", ".join(f"{name}={_short(value)}" for name, value in done.call.args.items())
    came = _short(done.result) if done.ok else f"failed: {_short(done.error)}"
    return f"{done.call.tool}({args}) -> {came}"


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
