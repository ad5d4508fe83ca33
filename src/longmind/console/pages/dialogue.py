"""Dialogue: the last pages, topics by heat as they cool, promotion, and the personas with their evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from nicegui import ui
from nicegui.element import Element

from longmind.agent_memory import AgentMemory
from longmind.console.parts.elements import attributes, box, button, sized, text
from longmind.console.parts.figures import meter, plural
from longmind.console.parts.kinds import tag
from longmind.console.parts.lists import first_and_rest
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import grid, panel, title
from longmind.console.parts.people import choose_person, person_of
from longmind.console.parts.times import time_ago
from longmind.console.view import View
from longmind.systems.dialogue import DialoguePage, DialogueSegment
from longmind.systems.persona import Knowledge, Profile, Trait

_SECONDS = 10.0
_TOPICS, _SHOWN = 40, 6
_WARMEST = 0.42
"""How opaque the colour of the hottest topic is; text on it stays readable."""
_EXAMPLE = """\
await mem.dialogue.add("The tomatoes look dry.", "Water them in the evening.")"""


async def build(view: View) -> None:
    """Build the page."""
    title("Dialogue", "What was said last, the topics of what was said before, and who is talking.")
    memory, user = person_of(view)
    choose_person(view, user)
    await DialogueView(view, memory).show()


class DialogueView:
    """The parts of the page."""

    def __init__(self, view: View, memory: AgentMemory) -> None:
        self._view = view
        self._memory = memory
        self._tiles: dict[str, ui.button] = {}
        self._shown: object = None
        self._chosen: str | None = None

    async def show(self) -> None:
        """Build everything, and begin to look how the topics cool."""
        dialogue = self._memory.dialogue
        pages, settings = await asyncio.gather(dialogue.short_term(), dialogue.configuration())
        self._hot_from = settings.hot
        with grid():
            with panel("Topics", f"the warmer the hotter; promoted from {settings.hot:g} on", "lm-span-12"):
                self._topics = box("div")
                with box("div", "lm-row lm-after"):
                    self._promotable = text("", "lm-text lm-note lm-grow", "p")
                    self._promote_button = button("Promote now", self._promote, look="primary")
                    self._promote_button.set_visibility(self._view.may_write)
            with panel("Last pages", f"newest first, at most {settings.window}", "lm-span-6 lm-top"):
                _pages(list(reversed(pages)))
            with panel("Pages of a topic", "press a topic to read its own", "lm-span-6 lm-top"):
                self._topic_pages = box("div")
            self._profiles = box("div", "lm-span-12 lm-grid")
        await self._refresh_topics()
        if self._tiles:
            await self._choose(next(iter(self._tiles)))
        else:
            with self._topic_pages:
                empty("There is nothing to read yet", "What is said before the last pages is kept by topic.")
        await self._refresh_profiles()
        ui.timer(_SECONDS, self._refresh_topics, immediate=False)

    async def _refresh_topics(self) -> None:
        segments = await self._memory.dialogue.segments()
        self._show_hot([segment for segment in segments if self._is_hot(segment)])
        seen = [(segment.id, segment.keywords, segment.length, f"{segment.heat:.2f}") for segment in segments]
        if seen == self._shown:
            return
        self._shown = seen
        self._tiles.clear()
        self._topics.clear()
        with self._topics:
            if not segments:
                empty("There are no topics yet", "Pages that leave the window of the last ones join a topic:", _EXAMPLE)
                return
            hottest = max(segment.heat for segment in segments) or 1.0
            ordered = sorted(segments, key=lambda segment: -segment.heat)
            with box("ul", "lm-heat"):
                for segment in ordered[:_TOPICS]:
                    with box("li"):
                        self._tile(segment, segment.heat / hottest)
            if len(ordered) > _TOPICS:
                text(f"and {len(ordered) - _TOPICS:,} colder ones", "lm-note", "p")

    def _is_hot(self, segment: DialogueSegment) -> bool:
        return segment.new_pages > 0 and segment.heat >= self._hot_from

    def _tile(self, segment: DialogueSegment, share: float) -> None:
        tile = ui.button(on_click=partial(self._choose, segment.id), color=None).props("flat no-caps align=left")
        attributes(tile.classes("lm-tile"), aria_pressed="true" if segment.id == self._chosen else "false")
        self._tiles[segment.id] = tile
        with tile:
            sized(box("span", "lm-tile-heat"), opacity=f"{0.04 + (_WARMEST - 0.04) * share:.3f}")
            with box("span", "lm-tile-text"):
                text(", ".join(segment.keywords[:3]) or "no words", "lm-clip-2 lm-strong")
                with box("span", "lm-tile-foot"):
                    text(plural(segment.length, "page"), "")
                    text(f"{segment.heat:.2f}", "lm-num")
                if self._is_hot(segment):
                    tag("hot", "warn")
                elif segment.analysed_at is not None:
                    tag("promoted", "good")

    def _show_hot(self, hot: Sequence[DialogueSegment]) -> None:
        if hot:
            names = ", ".join(segment.keywords[0] for segment in hot[:5] if segment.keywords)
            said = f"{plural(len(hot), 'topic')} hot: {names}. Consolidation moves what they say into the persona."
        else:
            said = "No topic is hot. Each use and each new page warms one; without them it cools."
        self._promotable.set_text(said)
        self._promote_button.set_enabled(bool(hot))

    async def _promote(self) -> None:
        before = {trait.id for about in ("user", "agent") for trait in await self._memory.persona.traits(about)}
        report = await self._memory.consolidate()
        after = {trait.id for about in ("user", "agent") for trait in await self._memory.persona.traits(about)}
        say(f"Consolidated: {plural(len(report.proposed), 'change')}, {plural(len(after - before), 'new trait')}.")
        await self._refresh_profiles()
        await self._refresh_topics()

    async def _choose(self, id: str) -> None:
        self._chosen = id
        for name, tile in self._tiles.items():
            attributes(tile, aria_pressed="true" if name == id else "false").update()
        segment, pages = await asyncio.gather(self._memory.dialogue.segment(id), self._memory.dialogue.pages(id))
        self._topic_pages.clear()
        with self._topic_pages, box("div", "lm-stack"):
            if segment.summary:
                text(segment.summary, "lm-clip-3 lm-note", "p")
            _pages(list(reversed(pages)))

    async def _refresh_profiles(self) -> None:
        user, agent = await asyncio.gather(self._memory.persona.profile("user"), self._memory.persona.profile("agent"))
        self._profiles.clear()
        with self._profiles:
            for profile, heading, note in (
                (user, "Persona of the user", "how sure, and why"),
                (agent, "Persona of the agent", "the same for all users"),
            ):
                with panel(heading, note, "lm-span-6 lm-top"):
                    self._profile(profile)

    def _profile(self, profile: Profile) -> None:
        if not profile.traits and not profile.knowledge:
            empty(
                "Nothing is known yet", "Consolidation fills it from hot topics; a program may also observe and learn."
            )
            return
        parts = [(trait.confidence, partial(self._trait, trait)) for trait in profile.traits]
        parts += [(entry.confidence, partial(self._knowledge, entry)) for entry in profile.knowledge]
        first_and_rest("lm-persona", [show for _, show in sorted(parts, key=lambda part: -part[0])], _SHOWN)

    def _trait(self, trait: Trait) -> None:
        with box("div", "lm-slider-head"):
            text(trait.dimension, "lm-text")
            text(f"{trait.confidence:.0%}", "lm-num")
        with box("div", "lm-row"):
            text(trait.value, "lm-text lm-strong")
            if not trait.established:
                tag("not established")
            for rival in trait.rivals[:3]:
                tag(f"or {rival.value}", "warn")
        meter(trait.confidence, f"Confidence {trait.confidence:.0%}")
        self._evidence(trait.evidence, f"{plural(trait.observations, 'observation')}, {trait.against} against")

    def _knowledge(self, entry: Knowledge) -> None:
        with box("div", "lm-slider-head"):
            text("knows", "")
            text(f"{entry.confidence:.0%}", "lm-num")
        text(entry.text, "lm-text lm-strong", "p")
        meter(entry.confidence, f"Confidence {entry.confidence:.0%}")
        self._evidence(entry.evidence, plural(entry.observations, "observation"))

    def _evidence(self, ids: Sequence[str], counted: str) -> None:
        with box("div", "lm-row lm-note"):
            text(counted, "")
            if ids:
                shown = button(plural(len(ids), "source"), lambda: unfold()).classes("lm-small")
        place = box("div")

        async def unfold() -> None:
            shown.set_enabled(False)
            memories = await asyncio.gather(*(self._memory.get(id) for id in ids[:10]))
            with place:
                for memory in memories:
                    text(memory.content if memory else "It was erased.", "lm-text lm-quote", "p")


def _pages(pages: Sequence[DialoguePage]) -> Element | None:
    if not pages:
        empty("Nothing was said yet", "Add what was said, or talk with the agent in the Playground:", _EXAMPLE)
        return None
    with box("ol", "lm-dialogue") as shown:
        for page in pages:
            with box("li"):
                for turn in page.turns:
                    with box("div", "lm-turn lm-user" if turn.role == "user" else "lm-turn"):
                        text(turn.who, "lm-note")
                        text(turn.text or "It was erased.", "lm-text", "p")
                with box("div", "lm-row lm-note"):
                    time_ago(page.at)
                    if page.session:
                        text(page.session, "lm-tag")
    return shown
