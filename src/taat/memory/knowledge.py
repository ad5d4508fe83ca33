"""What TAAT knows in semantic memory: rules and limits, announcers and how they write. All of it has its time."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime

from longmind import AgentMemory, Fact, NotFound
from taat.memory.preferences import PREFERENCES, Preferences, preference_text
from taat.memory.targets import TARGETS, Targets, target_text
from taat.signals import AnnouncerProfile

RULES = "trading rules"
ANNOUNCER = "announcer"
PATTERN = "market pattern"
PROFILE = "writes like"
Value = str | int | float | bool


class Knowledge:
    """Facts of the trading rules and of announcers."""

    def __init__(self, agent: AgentMemory) -> None:
        self._semantic = agent.semantic

    async def rules(self, at: datetime | None = None) -> dict[str, Value]:
        """Return the rules and limits that hold at a moment, by default now."""
        return await self._values(RULES, at)

    async def rule_facts(self, at: datetime | None = None) -> tuple[Fact, ...]:
        """Return the same as facts, with their validity and source."""
        return await self._facts(RULES, at)

    async def set_rule(self, name: str, value: Value, *, valid_from: datetime | None = None) -> Fact:
        """Set a rule from a moment on; what held before keeps its time."""
        return (await self._semantic.learn(RULES, name, value, valid_from=valid_from)).fact

    async def rule_history(self, name: str) -> tuple[Fact, ...]:
        """Return all values that a rule had."""
        return tuple(await self._semantic.history(RULES, name))

    async def all_rules(self, concept: str = RULES) -> tuple[Fact, ...]:
        """Return every value that a rule of a subject ever had, in the order in which they began."""
        if await self._semantic.concept(concept) is None:
            return ()
        facts = [fact async for fact in self._every_fact() if fact.subject.casefold() == concept.casefold()]
        return tuple(fact for fact in facts if not fact.retracted)

    async def _every_fact(self) -> AsyncIterator[Fact]:
        cursor: str | None = None
        while True:
            page = await self._semantic.facts(current=False, limit=500, cursor=cursor)
            for fact in page.items:
                yield fact
            cursor = page.cursor
            if cursor is None:
                return

    async def targets(self, at: datetime | None = None) -> Targets:
        """Return what the account is measured by at a moment, by default now."""
        values = await self._values(TARGETS, at)
        return Targets.model_validate({name.replace(" ", "_"): value for name, value in values.items()})

    async def set_target(self, name: str, value: str, *, valid_from: datetime | None = None) -> Fact:
        """Set a target from a moment on; what held before keeps its time."""
        predicate, text = target_text(name, value)
        return (await self._semantic.learn(TARGETS, predicate, text, valid_from=valid_from)).fact

    async def preferences(self, at: datetime | None = None) -> Preferences:
        """Return what the user prefers at a moment, by default now."""
        values = await self._values(PREFERENCES, at)
        return Preferences.model_validate({name.replace(" ", "_"): value for name, value in values.items()})

    async def set_preference(self, name: str, value: str, *, valid_from: datetime | None = None) -> Fact:
        """Set a preference from a moment on; what held before keeps its time."""
        predicate, text = preference_text(name, value)
        return (await self._semantic.learn(PREFERENCES, predicate, text, valid_from=valid_from)).fact

    async def announcer_facts(self, name: str) -> tuple[Fact, ...]:
        """Return what is known of an announcer as facts, without the profile that reading uses."""
        return tuple(fact for fact in await self._facts(subject(name), None) if fact.predicate != PROFILE)

    async def announcer(self, name: str, at: datetime | None = None) -> dict[str, Value]:
        """Return what is known of an announcer: record, limits and habits."""
        return await self._values(subject(name), at)

    async def learn_announcer(
        self, name: str, facts: Mapping[str, Value], *, valid_from: datetime, evidence: str | None = None
    ) -> None:
        """Learn facts of an announcer; a value that is known is not stated again."""
        await self._learn(subject(name), ANNOUNCER, facts, valid_from, evidence)

    async def pattern(self, name: str, at: datetime | None = None) -> dict[str, Value]:
        """Return what is usual for a symbol, or for an hour such as ``15:00 UTC``, at a moment."""
        return await self._values(f"{PATTERN} {name}", at)

    async def learn_pattern(self, name: str, facts: Mapping[str, Value], *, valid_from: datetime) -> None:
        """Learn what is usual for a symbol or an hour, from a moment on; what was usual before keeps its time."""
        await self._learn(f"{PATTERN} {name}", PATTERN, facts, valid_from)

    async def _learn(
        self, concept: str, category: str, facts: Mapping[str, Value], at: datetime, evidence: str | None = None
    ) -> None:
        known = await self._values(concept, at)
        if not known:
            await self._semantic.define(concept, category=category)
        for predicate, value in facts.items():
            if known.get(predicate) != value:
                await self._semantic.learn(concept, predicate, value, valid_from=at, evidence=evidence)

    async def profile(self, name: str) -> AnnouncerProfile | None:
        """Return how an announcer writes, if somebody has confirmed examples."""
        known = await self._semantic.know(subject(name), PROFILE)
        return AnnouncerProfile.model_validate_json(str(known[0].object)) if known else None

    async def set_profile(self, name: str, profile: AnnouncerProfile, *, valid_from: datetime | None = None) -> None:
        """Store how an announcer writes, from a moment on."""
        text = profile.model_dump_json(exclude_defaults=True)
        await self._semantic.learn(subject(name), PROFILE, text, valid_from=valid_from)

    async def _facts(self, concept: str, at: datetime | None) -> tuple[Fact, ...]:
        try:
            return (await self._semantic.about(concept, as_of=at, limit=500)).facts
        except NotFound:
            return ()

    async def _values(self, concept: str, at: datetime | None) -> dict[str, Value]:
        return {fact.predicate: fact.object for fact in await self._facts(concept, at) if fact.object is not None}


def subject(announcer: str) -> str:
    """Return the concept of an announcer."""
    return f"announcer {announcer}"
