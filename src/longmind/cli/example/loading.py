"""Loading the example: ``story.json`` holds what happened and how many days ago; here it happens, in that order.

Every memory is written through the public face, with a clock that stands at the moment of the story. So episodes,
facts, topics and runs have the times, the histories and the evidence that they would have had.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmind.cli.example.clock import StoryClock
from longmind.cli.example.skills import practise
from longmind.cli.example.tools import register_tools
from longmind.config import Settings
from longmind.systems.semantic import Evidence
from longmind.types import Document, Message, Model

if TYPE_CHECKING:
    from longmind.memory import AgentMemory, Longmind

_STORY = Path(__file__).with_name("story.json")
Act = Callable[[], Awaitable[object]]


class Loaded(Model):
    """What was loaded."""

    agent: str
    users: tuple[str, ...]
    memories: int


async def load_example(settings: Settings, agent: str, *, embedder: str | None = None) -> Loaded:
    """Load the example into the store of the settings, as what an agent knows."""
    from longmind.memory import Longmind

    story = json.loads(_STORY.read_text(encoding="utf-8"))
    now = datetime.now(UTC)
    clock = StoryClock(now - timedelta(days=120))
    async with Longmind.open(settings=settings, embedder=embedder, clock=clock) as longmind:
        register_tools(longmind.tools)
        loading = Loading(longmind, agent, now)
        loading.plan(story)
        for moment, act in sorted(loading.acts, key=lambda planned: planned[0]):
            clock.set(moment)
            await act()
        everyone = longmind.agent(agent, all_users=True)
        return Loaded(agent=agent, users=tuple(await everyone.users()), memories=(await everyone.stats()).memories)


class Loading:
    """The acts of the story, each with its moment, and what later ones refer to."""

    def __init__(self, longmind: Longmind, agent: str, now: datetime) -> None:
        self.acts: list[tuple[datetime, Act]] = []
        self._longmind = longmind
        self._agent = agent
        self._now = now
        self._said: list[tuple[str, str]] = []
        """The ids of the messages, with their text."""
        self._goals: dict[str, str] = {}

    def plan(self, story: dict[str, list[Any]]) -> None:
        """Put down what happens, and when."""
        for part in story["predicates"]:
            self._at(95, partial(self._memory(None).semantic.declare, **part))
        self._at(95, lambda: self._memory(None).configure(model_tokens_per_day=200_000))
        for kind, act in (
            ("conversations", self._talk),
            ("documents", self._read),
            ("concepts", self._define),
            ("rules", self._rule),
            ("episodes", self._live),
            ("traits", self._observe),
            ("knowledge", self._know),
            ("questions", self._ask),
        ):
            for part in story[kind]:
                self._at(part["days"], partial(act, part))
        for part in story["facts"]:
            self._plan_fact(part)
        for part in story["goals"]:
            self._plan_goal(part)
        for part in story["corrections"]:
            self._plan_correction(part)
        for part in story["procedures"]:
            memory = self._memory(part["user"])
            for days, practice in practise(memory.procedural, part):
                self._at(days, practice)
        for days in story["consolidations"]:
            self._at(days, lambda: self._memory("*").consolidate())
        for user in {part["user"] for part in story["conversations"]}:
            self._at(0.05, partial(self._warm_topic, user))
        for part in story["working"]:
            self._at(0.1, partial(self._keep_in_mind, part))

    def _at(self, days: float, act: Act) -> None:
        self.acts.append((self._ago(days), act))

    def _ago(self, days: float) -> datetime:
        return self._now - timedelta(days=days)

    def _memory(self, user: str | None) -> AgentMemory:
        return self._longmind.agent(self._agent, None if user == "*" else user, all_users=user == "*")

    def _evidence(self, words: str | None) -> Evidence | None:
        """Return the latest message with these words, and where in it they are."""
        for id, said in reversed(self._said):
            if words and words in said:
                start = said.index(words)
                return Evidence(memory=id, span=(start, start + len(words)))
        if words:
            raise LookupError(f"Nobody said {words!r} before.")
        return None

    async def _talk(self, part: dict[str, Any]) -> None:
        memory, start = self._memory(part["user"]), self._ago(part["days"])
        messages = [
            Message.model_validate({"role": role, "content": said, "occurred_at": start + timedelta(minutes=2 * n + m)})
            for n, page in enumerate(part["pages"])
            for m, (role, said) in enumerate(zip(("user", "assistant"), page, strict=True))
        ]
        stored = await memory.remember(messages, session=part["session"])
        self._said += [(record.id, record.content) for record in stored]
        await memory.dialogue.add_many(
            [
                {"messages": [question.id, reply.id], "session": part["session"], "occurred_at": question.occurred_at}
                for question, reply in zip(stored[::2], stored[1::2], strict=True)
            ]
        )

    async def _read(self, part: dict[str, Any]) -> None:
        document = Document(
            title=part["title"], uri=part["uri"], content=part["content"], occurred_at=self._ago(part["days"])
        )
        await self._memory(part["user"]).remember(document)

    async def _define(self, part: dict[str, Any]) -> None:
        more = {name: part[name] for name in ("category", "aliases") if name in part}
        await self._memory(part["user"]).semantic.define(part["name"], part.get("definition"), **more)

    async def _rule(self, part: dict[str, Any]) -> None:
        await self._memory(None).semantic.rule(
            part["name"], part["statement"], when=part["when"], then=part["then"], confidence=0.8
        )

    def _plan_fact(self, part: dict[str, Any]) -> None:
        semantic = self._memory(part["user"]).semantic
        learned: list[str] = []

        async def learn() -> None:
            result = await semantic.learn(
                *part["fact"],
                valid_from=self._ago(part.get("from", part["days"])),
                evidence=self._evidence(part.get("words")),
            )
            learned.append(result.fact.id)

        self._at(part["days"], learn)
        if "retract_after" in part:
            self._at(part["days"] - part["retract_after"], lambda: semantic.retract(learned[0], part["because"]))

    async def _live(self, part: dict[str, Any]) -> None:
        episodic, start = self._memory(part["user"]).episodic, self._ago(part["days"])
        episode = await episodic.start(part["title"], type=part["type"], start=start, tags=part["tags"])
        length = timedelta(hours=part["hours"] or 1)
        for n, (what, type, valence, data) in enumerate(part["events"]):
            at = start + length * (n + 1) / (len(part["events"]) + 1)
            actor = part["user"] if type == "question" else self._agent
            await episodic.record(episode.id, what, type=type, at=at, valence=valence, data=data, actor=actor)
        if part["hours"] is not None:
            await episodic.finish(episode.id, part["outcome"], end=start + length, note=part["note"])

    async def _observe(self, part: dict[str, Any]) -> None:
        evidence = self._evidence(part.get("words"))
        await self._memory(part["user"]).persona.observe(
            part["dimension"],
            part["value"],
            confidence=part["confidence"],
            evidence=[evidence.memory] if evidence else (),
            about=part["about"],
            correction=part.get("correction", False),
        )

    async def _know(self, part: dict[str, Any]) -> None:
        evidence = self._evidence(part.get("words"))
        await self._memory(part["user"]).persona.learn(
            part["text"],
            confidence=part["confidence"],
            importance=part.get("importance", 0.5),
            evidence=[evidence.memory] if evidence else (),
            about=part["about"],
        )

    async def _ask(self, part: dict[str, Any]) -> None:
        for question in part["ask"]:
            await self._memory(part["user"]).recall(question, k=5)

    async def _warm_topic(self, user: str) -> None:
        """Come back to the topic with the most new pages until it is hot, so that there is one to promote."""
        dialogue = self._memory(user).dialogue
        topic = max(await dialogue.segments(), key=lambda segment: (segment.new_pages, segment.last_at))
        for _ in range(math.ceil((await dialogue.configuration()).hot)):
            await dialogue.visit(topic)

    def _plan_goal(self, part: dict[str, Any]) -> None:
        goals = self._memory(part["user"]).goals

        async def create() -> None:
            due = part.get("deadline_in")
            fields: dict[str, Any] = {
                "priority": part["priority"],
                "deadline": self._now + timedelta(days=due) if due is not None else None,
                "parent": self._goals[part["parent"]] if "parent" in part else None,
                "tags": part.get("tags", ()),
            }
            if "steps" in part:
                goal, _ = await goals.create_goal_with_plan(
                    part["description"], part["criteria"], part["steps"], **fields
                )
            else:
                goal = await goals.create(part["description"], criteria=part["criteria"], **fields)
            self._goals[part["id"]] = goal.id

        self._at(part["days"], create)
        for deed in part.get("acts", ()):
            arguments = {name: value for name, value in deed.items() if name not in ("days", "do")}

            async def act(name: str = deed["do"], arguments: dict[str, Any] = arguments) -> None:
                await getattr(goals, name)(self._goals[part["id"]], **arguments)

            self._at(deed["days"], act)

    def _plan_correction(self, part: dict[str, Any]) -> None:
        memory = self._memory(part["user"])
        stored: list[str] = []

        async def remember() -> None:
            stored.append((await memory.remember(part["text"])).id)

        async def change() -> None:
            if part["to"] is None:
                await memory.forget(stored[0], reason=part["reason"])
            else:
                await memory.update(stored[0], content=part["to"], reason=part["reason"])

        self._at(part["days"], remember)
        self._at(part["days"] - part["changed_after"], change)

    async def _keep_in_mind(self, part: dict[str, Any]) -> None:
        working = self._memory(part["user"]).working
        await working.begin_task(part["task"]["name"], goal=part["task"]["goal"], variables=part["task"]["variables"])
        for key, content, importance in part["items"]:
            await working.put(key, content, importance)
        await working.focus(part["focus"])
        await working.converse(**part["conversation"])
