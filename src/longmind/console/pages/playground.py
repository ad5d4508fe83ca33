"""Playground: talk with an agent, beside the context that it was given and why each line is there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, cast

from nicegui import ui

from longmind.console.parts.elements import attributes, box, button, link, text
from longmind.console.parts.figures import plural
from longmind.console.parts.kinds import kind_badge
from longmind.console.parts.messages import empty, problem
from longmind.console.parts.panels import title
from longmind.console.view import View
from longmind.errors import LongmindError
from longmind.operations import faces
from longmind.tokens import estimate
from longmind.types import ContextLine

if TYPE_CHECKING:
    from longmind.agent import Agent
    from longmind.agent_memory import AgentMemory

_SESSION = "console"
_SHOWN = 20


async def build(view: View) -> None:
    """Build the page."""
    title(
        "Playground",
        "Talk with the agent. What is said here is remembered like any conversation; beside it is what the agent was"
        " given to read, and why.",
    )
    await Playground(view).build()


class Playground:
    """A conversation and the context of its last answer."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._session = view.query.get("session") or _SESSION

    @property
    def _memory(self) -> AgentMemory:
        """What the agent knows with the user who talks. With everyone chosen, that is nobody in particular."""
        return self._view.longmind.agent(self._view.agent or "", self._view.user)

    async def build(self) -> None:
        """Build the conversation with its last messages."""
        with box("div", "lm-grid"):
            with box("section", "lm-panel lm-span-6 lm-chat"):
                with box("header"):
                    text("Conversation", "", "h2")
                    who = self._view.user or "nobody in particular; choose a user above to talk as one"
                    text(f"as {who}", "lm-note")
                self._log = box("div", "lm-chat-log")
                attributes(self._log, role="log", aria_label="Messages", tabindex=0)
                self._writing()
            self._context = box("section", "lm-panel lm-span-6")
            attributes(self._context, aria_label="Context")
        await self._show_past()
        with self._context:
            _heading("Context", "")
            empty(
                "Nothing was asked yet",
                "Send a message: here appears each line that the agent reads before it answers, with its reason.",
            )

    def _writing(self) -> None:
        if not self._view.may_write:
            text("This key does not allow to write, so there is nothing to send.", "lm-note", "p")
            return
        with box("div", "lm-row lm-chat-input"):
            self._message = ui.input(placeholder="Write to the agent").props("outlined dense").classes("lm-grow")
            attributes(self._message, aria_label="Message")
            self._message.on("keydown.enter", self._send)
            self._button = button("Send", self._send, look="primary")

    async def _show_past(self) -> None:
        past = await self._memory.conversation(self._session).history(_SHOWN)
        with self._log:
            for message in past:
                _bubble(message.content, mine=message.source.role == "user")
            if not past:
                empty("Say something", "Without a language model the agent answers from memory alone, and says so.")
        self._first = not past

    async def _send(self) -> None:
        task = (self._message.value or "").strip()
        if not task or not self._button.enabled:
            return
        self._message.value = ""
        self._button.disable()
        if self._first:
            self._log.clear()
            self._first = False
        with self._log:
            _bubble(task, mine=True)
            answer = _bubble("…", mine=False)
        ui.run_javascript("document.querySelector('.lm-chat-log').scrollTop = 1e9")
        try:
            lines = await self._memory.context_lines(task)
            self._show_context(task, lines)
            binding = {"agent": self._view.agent or ""} | ({"user": self._view.user} if self._view.user else {})
            agent = cast("Agent", self._view.face(faces.AGENT_AT_WORK, **binding))
            outcome = await agent.run(task, session=self._session)
            answer.set_text(outcome.text or "The agent gave no answer.")
            with self._log:
                used = outcome.usage.tokens
                model = f"{used:,} tokens of the model" if used else "from memory alone, without a model"
                text(f"{model}, {outcome.seconds:.1f} s", "lm-note lm-chat-note")
                for said in outcome.problems:
                    text(said, "lm-note lm-chat-note")
        except LongmindError as error:
            answer.delete()
            with self._log:
                problem(error)
        finally:
            self._button.enable()
            ui.run_javascript("document.querySelector('.lm-chat-log').scrollTop = 1e9")

    def _show_context(self, task: str, lines: Sequence[ContextLine]) -> None:
        self._context.clear()
        with self._context:
            tokens = sum(estimate(line.text) + 1 for line in lines)
            _heading("Context", f"{plural(len(lines), 'line')}, about {tokens:,} tokens")
            text(f"for: {task}", "lm-note lm-clip-2", "p")
            if not lines:
                empty("The agent was given nothing", "No memory fits, and none stands in every context yet.")
            for heading, group in groupby(lines, lambda line: line.heading):
                text(heading, "lm-context-heading", "h3")
                for line in group:
                    self._show_line(line)

    def _show_line(self, line: ContextLine) -> None:
        with box("article", "lm-source"):
            text(line.text.removeprefix("- "), "lm-text lm-mono")
            with box("div", "lm-row"):
                kind_badge(line.kind)
                if line.score is not None:
                    text(f"{line.score:.2f}", "lm-num lm-strong")
                text(line.why, "lm-note lm-grow")
                link("Open", self._view.link("/explorer", id=line.memory_id), "lm-note")


def _heading(name: str, note: str) -> None:
    with box("header"):
        text(name, "", "h2")
        text(note, "lm-note")


def _bubble(said: str, *, mine: bool) -> ui.label:
    with box("div", "lm-bubble lm-mine" if mine else "lm-bubble"):
        text("You: " if mine else "Agent: ", "lm-hidden")
        return text(said)
