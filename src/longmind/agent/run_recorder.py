"""Storage of a run: the task, an episode with an event for each action, and the answer.

A write may fail while the task goes on. Failed writes are queued and retried, in order, with the next one, so that a
short outage of the store loses nothing. What is still missing at the end is reported.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from longmind.agent.models import Critique, Ending, Observation, Outcome
from longmind.agent_memory import AgentMemory
from longmind.systems import ownership
from longmind.systems.episodic import EPISODE, EpisodeBody, EpisodeWriter, EventDraft
from longmind.systems.episodic import Outcome as Ended
from longmind.systems.scoped_store import validated
from longmind.types import Link, Memory, Message

TYPE = "task"
"""The type of an episode that is a run."""
CALL, ANSWER = "call", "answer"
"""The types of its events."""
CRITIQUE = "critique"
DETAILS = "run"
"""The attribute that stores how the run ended. It is nested, so that no lesson is drawn from it."""
_TITLE, _NOTE, _SHORT = 500, 2_000, 500
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
    _message: Memory | None = None
    _waiting: list[tuple[str, Callable[[], Awaitable[None]]]] = field(default_factory=list)
    _written: set[str] = field(default_factory=set)
    _tried: set[str] = field(default_factory=set)

    @property
    def stored(self) -> bool:
        """Whether the episode of this run is stored."""
        return "episode" in self._written

    async def begin(self) -> None:
        """Store the task as a message of the user, and begin the episode."""
        self._waiting += [("task", self._store_task), ("episode", self._store_episode)]
        await self._write()

    async def action(self, number: int, done: Observation, at: datetime, critique: Critique | None) -> None:
        """Store one call and its result."""
        self._waiting.append((f"action {number}", lambda: self._store_call(number, done, at, critique)))
        await self._write()

    async def answer(self, text: str, metadata: Mapping[str, Any], critique: Critique | None) -> None:
        """Store the answer, as a message of the agent and as the run's last event."""
        at = self.mem.scoped.now()
        self._waiting.append(("answer", lambda: self._store_answer(text, metadata, at, critique)))
        await self._write()

    async def end(self, outcome: Outcome, details: Mapping[str, Any]) -> None:
        """End the episode, however the run ended."""
        self._waiting.append(("end", lambda: self._store_end(outcome, details)))
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
        message = Message(role="user", content=self.task, occurred_at=self.begun)
        talk = self.mem.conversation(self.session)
        self._message = await talk.add(message, key=f"task:{self.episode}", metadata={EPISODE: self.episode})

    async def _store_episode(self) -> None:
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
            id=self.episode,
            key=key,
            session=self.session,
        )

    async def _store_call(self, number: int, done: Observation, at: datetime, critique: Critique | None) -> None:
        data: dict[str, Any] = {
            "tool": done.call.tool,
            "args": done.call.args,
            "ok": done.ok,
            **_critique_data(critique),
        }
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
        await self._store_event(draft)

    async def _store_answer(
        self, text: str, metadata: Mapping[str, Any], at: datetime, critique: Critique | None
    ) -> None:
        said = Message(role="assistant", content=text, occurred_at=at, metadata={**metadata, EPISODE: self.episode})
        memory = await self.mem.conversation(self.session).add(said, key=f"answer:{self.episode}")
        data = {**metadata, **_critique_data(critique)}
        draft = {"what": text, "type": ANSWER, "at": max(at, self.begun), "data": data, "key": ANSWER}
        await self._store_event(draft, also=[Link(source=memory.id, relation="derived_from", target=self.episode)])

    async def _store_event(self, fields: Mapping[str, Any], also: list[Link] | None = None) -> None:
        """Store an event, derived from the episode, so that erasing the task erases what was done for it."""
        draft = validated(EventDraft, fields)
        key = str(draft.key)
        first_try = key not in self._tried
        self._tried.add(key)
        await EpisodeWriter(self.mem.scoped).add_event(
            self.episode, draft, derived=True, links=also or (), first_try=first_try, reason="run goes on"
        )

    async def _store_end(self, outcome: Outcome, details: Mapping[str, Any]) -> None:
        note = "" if outcome.ending == "answered" else f"{outcome.ending}: {outcome.text}"[:_NOTE]
        await close_episode(self.mem, self.episode, _ENDED[outcome.success], note, details)


async def close_episode(
    mem: AgentMemory, episode: str, outcome: Ended, note: str, details: Mapping[str, Any], *, free_key: bool = False
) -> None:
    """End the episode of a run unless it has ended. With ``free_key`` its key can be used again."""
    await EpisodeWriter(mem.scoped).end(
        episode,
        outcome,
        note=note,
        attributes={DETAILS: dict(details)},
        force=True,
        free_key=free_key,
        reason="run ended",
    )


async def close_interrupted_run(mem: AgentMemory, episode: str) -> None:
    """End the episode of a run whose process died; its outcome is unknown."""
    memory = await mem.scoped.store.get(mem.scope, episode)
    if memory is not None and memory.kind == EPISODE:
        ending: Ending = "cancelled"
        note = "interrupted: the process that ran it is gone."
        await close_episode(mem, episode, "unknown", note, {"ending": ending, "text": ""}, free_key=True)


def _critique_data(critique: Critique | None) -> Mapping[str, Any]:
    return {} if critique is None else {CRITIQUE: critique.model_dump(mode="json")}


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
