"""Working memory: what is in mind now, with its scores and attention, live while the agent runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nicegui import ui

from longmind.agent_memory import AgentMemory
from longmind.console.parts.elements import attributes, box, button, icon_button, text
from longmind.console.parts.figures import count, legend, meter, stacked_bar
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import grid, pairs, panel, title
from longmind.console.parts.people import choose_person, person_of
from longmind.console.parts.times import time_ago
from longmind.console.view import View
from longmind.systems.working import Item, WorkingContext

_SECONDS = 3.0
_IMPORTANCE, _RECENCY = 0.7, 0.3
_COLOURS = {"importance": "var(--arm-1)", "recency": "var(--arm-7)", "fits the focus": "var(--arm-3)"}
_EXAMPLE = 'await mem.working.put("flight", "The flight leaves at nine.", 0.9)'


async def build(view: View) -> None:
    """Build the page."""
    title("Working memory", "What is in mind now, and what gets the attention. It is read every few seconds.")
    memory, user = person_of(view)
    choose_person(view, user)
    await WorkingPage(view, memory).show()


class WorkingPage:
    """The parts of the page, which are built anew whenever working memory has changed."""

    def __init__(self, view: View, memory: AgentMemory) -> None:
        self._view = view
        self._memory = memory
        self._shown: object = None

    async def show(self) -> None:
        """Build everything, and begin to look for changes."""
        with grid():
            with panel("In mind", "most attention first", "lm-span-8 lm-top"):
                self._items = box("div")
                attributes(self._items, aria_live="polite")
                if self._view.may_write:
                    self._form()
            with box("div", "lm-stack lm-span-4"):
                with panel("Room"):
                    self._room = box("div", "lm-stack")
                with panel("Focus and task"):
                    self._task = box("div", "lm-stack")
                with panel("Conversation"):
                    self._conversation = box("div", "lm-stack")
        await self.refresh()
        ui.timer(_SECONDS, self.refresh)

    async def refresh(self) -> None:
        """Read working memory, and show it if it is not what is shown."""
        context = WorkingContext.model_validate(await self._memory.working.context("dict"))
        items = [item for slot in context.slots for item in slot.items]
        seen = (
            [(item.id, item.content, item.chunk, f"{item.attention:.2f}", f"{item.recency:.2f}") for item in items],
            context.model_dump(exclude={"slots"}),
        )
        if seen == self._shown:
            return
        self._shown = seen
        for place, fill in (
            (self._items, partial(self._show_items, sorted(items, key=lambda item: -item.attention), context.focus)),
            (self._room, partial(self._show_room, context)),
            (self._task, partial(self._show_task, context)),
            (self._conversation, partial(self._show_conversation, context)),
        ):
            place.clear()
            with place:
                fill()

    def _show_items(self, items: Sequence[Item], focus: str) -> None:
        if not items:
            empty(
                "Nothing is in mind", "An agent that runs puts things here by itself. A program does so too:", _EXAMPLE
            )
            return
        with box("ul", "lm-items"):
            for item in items:
                with box("li"):
                    self._show_item(item, bool(focus))
        legend(_COLOURS if focus else {name: _COLOURS[name] for name in ("importance", "recency")})

    def _show_item(self, item: Item, focused: bool) -> None:
        half = 0.5 if focused else 1.0
        parts = {
            "importance": half * _IMPORTANCE * item.importance,
            "recency": half * _RECENCY * item.recency,
            "fits the focus": 0.5 * item.relevance if focused else 0.0,
        }
        with box("div", "lm-item-text"):
            text(item.content)
            with box("div", "lm-row lm-note"):
                text(item.key, "lm-mono")
                if item.chunk:
                    text(f"together with {item.chunk}", "lm-text")
                text(f"{item.tokens:,} tokens", "")
                time_ago(item.attended_at)
        with box("div", "lm-item-score"):
            with box("div", "lm-slider-head"):
                text("attention", "")
                text(f"{item.attention:.2f}", "lm-num lm-strong")
            stacked_bar(parts, _COLOURS, 1.0)
        if self._view.may_write:
            icon_button("close", f"Let go of {item.key}", partial(self._release, item.key))

    def _show_room(self, context: WorkingContext) -> None:
        for name, used, limit in (
            ("Slots", len(context.slots), context.limits.items),
            ("Tokens", context.tokens, context.limits.tokens),
        ):
            with box("div"):
                with box("div", "lm-slider-head"):
                    text(name, "")
                    text(f"{count(used)} of {count(limit)}", "lm-num")
                meter(used / limit, f"{name}: {used} of {limit}")
        text("What no longer fits goes to episodic memory and can be fetched back.", "lm-note", "p")

    def _show_task(self, context: WorkingContext) -> None:
        rows = {
            "Focus": context.focus,
            "Task": context.task.name or "",
            "Goal": context.task.goal,
            **{name: str(value) for name, value in context.task.variables.items()},
        }
        said = {name: value for name, value in rows.items() if value}
        if said:
            pairs(said)
        else:
            text("No focus and no task are set.", "lm-note", "p")

    def _show_conversation(self, context: WorkingContext) -> None:
        state = context.conversation
        rows = {
            "Topic": state.topic,
            "Intent": state.intent,
            "Open questions": "\n".join(state.questions),
            "User said": state.last_user,
            "Agent said": state.last_assistant,
            "Turns": str(state.turns) if state.turns else "",
        }
        said = {name: value for name, value in rows.items() if value}
        if said:
            pairs(said)
        else:
            text("No conversation is going on.", "lm-note", "p")

    def _form(self) -> None:
        with box("div", "lm-put"):
            key = ui.input("Key").props("outlined dense maxlength=200").classes("lm-form-short")
            content = ui.input("What to keep in mind").props("outlined dense").classes("lm-grow")

            async def put() -> None:
                placed = await self._memory.working.put(key.value.strip(), content.value.strip(), 0.7)
                key.value = content.value = ""
                gone = ", ".join(evicted.key for evicted in placed.evicted)
                say(f"In mind. {gone} had to leave." if gone else "In mind.")
                await self.refresh()

            go = button("Keep in mind", put, look="primary")
            go.bind_enabled_from(key, "value", backward=lambda value: bool((value or "").strip()))
            focus = ui.input("Focus").props("outlined dense").classes("lm-grow")

            async def turn() -> None:
                await self._memory.working.focus(focus.value.strip() or None)
                say("The focus is set." if focus.value.strip() else "There is no focus any more.")
                await self.refresh()

            button("Set the focus", turn)

    async def _release(self, key: str) -> None:
        await self._memory.working.release(key)
        say(f"{key} is no longer in mind; episodic memory keeps it.")
        await self.refresh()
