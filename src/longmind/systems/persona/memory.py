"""``PersonaMemory``: the profiles of the user and of the agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput
from longmind.systems import configuration
from longmind.systems.ownership import mine
from longmind.systems.persona import rendering
from longmind.systems.persona.knowledge import KnowledgeEntries, as_knowledge
from longmind.systems.persona.models import (
    KNOWLEDGE,
    PROFILE_SUBJECTS,
    Knowledge,
    KnowledgeBody,
    Label,
    Learnt,
    Observation,
    PersonaSettings,
    Profile,
    ProfileSubject,
    Statement,
    Trait,
)
from longmind.systems.persona.traits import Traits
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Model

NAME = "persona"


class _KnowledgeText(Model):
    text: Statement


class _Dimension(Model):
    dimension: Label


@checked_arguments
class PersonaMemory:
    """Profiles of the user and of the agent: traits with confidence and history, and knowledge entries.

    The user's profile belongs to the user of the scope. The agent's own profile belongs to no user.
    """

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def configuration(self) -> PersonaSettings:
        """Return the agent's current settings."""
        return await configuration.configuration(self._scoped, NAME, PersonaSettings())

    async def configure(self, /, **changes: Any) -> PersonaSettings:
        """Change settings of this agent permanently and return them."""
        return await configuration.configure(self._scoped, NAME, PersonaSettings(), changes)

    # -- traits --------------------------------------------------------------------------------------------------

    async def observe(
        self,
        dimension: str,
        value: str,
        *,
        score: float | None = None,
        confidence: float = 0.5,
        evidence: Sequence[str] = (),
        count: int = 1,
        about: ProfileSubject = "user",
        correction: bool = False,
    ) -> Trait:
        """Record an observation of a trait, and return the trait as it is now.

        ``confidence`` is how sure the observation is. How sure the trait is follows from the number and the age of the
        independent observations of each value, so one is not enough. Another value lowers it, and replaces the current
        value once it has more support and was observed often enough; with ``correction`` (somebody said so) it replaces
        it at once and is as sure as the correction. Replaced values are kept as history.

        Evidence that was already counted does not count again, and what is from one conversation counts once. Without
        ``evidence``, ``count`` says how many independent pieces the observation sums up.
        """
        fields = {
            "value": value,
            "score": score,
            "confidence": confidence,
            "observations": count,
            "evidence": tuple(dict.fromkeys(evidence)),
        }
        observed = validated(Observation, fields)
        if confidence <= 0.0:
            raise InvalidInput("An observation needs some confidence: more than 0, at most 1.")
        traits = await self._traits(about)
        named = validated(_Dimension, {"dimension": dimension}).dimension
        return await retry_on_conflict(lambda: traits.observe(named, observed, correction))

    async def trait(self, dimension: str, about: ProfileSubject = "user") -> Trait | None:
        """Return the current trait of a dimension, or None."""
        return await (await self._traits(about)).find(dimension)

    async def traits(self, about: ProfileSubject = "user") -> tuple[Trait, ...]:
        """Return all current traits, the highest confidence first."""
        return tuple(await (await self._traits(about)).current())

    async def history(self, dimension: str, about: ProfileSubject = "user") -> tuple[Trait, ...]:
        """Return every value a dimension has had, the oldest first."""
        return tuple(await (await self._traits(about)).history(dimension))

    # -- knowledge -----------------------------------------------------------------------------------------------

    async def learn(
        self,
        text: str,
        *,
        confidence: float = 0.5,
        importance: float = 0.5,
        evidence: Sequence[str] = (),
        about: ProfileSubject = "user",
    ) -> Learnt:
        """Store a knowledge entry. The same text again raises its confidence.

        Beyond the limit the least useful entry is archived.
        """
        valid_text = validated(_KnowledgeText, {"text": text}).text
        fields = {"about": _about(about), "confidence": confidence, "evidence": tuple(dict.fromkeys(evidence))}
        body = validated(KnowledgeBody, fields)
        entries, settings = KnowledgeEntries(self._scoped, about), await self.configuration()
        return await retry_on_conflict(lambda: entries.learn(valid_text, body, importance, settings))

    async def knowledge(self, about: ProfileSubject = "user", *, archived: bool = False) -> tuple[Knowledge, ...]:
        """Return the entries, the most useful first, or with ``archived=True`` those in the archive."""
        now = self._scoped.now()
        records = await KnowledgeEntries(self._scoped, _about(about)).all("archived" if archived else "active")
        entries = [as_knowledge(record, now) for record in records]
        return tuple(sorted(entries, key=lambda entry: (-entry.usefulness, entry.id)))

    async def entry(self, id: str) -> Knowledge:
        """Return one entry."""
        return as_knowledge(await self._scoped.need(id, KNOWLEDGE), self._scoped.now())

    async def search(self, query: str, *, k: int = 10) -> tuple[Knowledge, ...]:
        """Return the entries that match a query best; they count as used."""
        if not query.strip():
            return ()
        scope, now = self._scoped.scope, self._scoped.now()
        where = mine(scope) if scope.user is None else None  # a scope with a user excludes the other users itself
        hits = await self._scoped.search(query, k=k, kinds=[KNOWLEDGE], where=where)
        return tuple(as_knowledge(hit.memory, now) for hit in hits)

    # -- all of it -----------------------------------------------------------------------------------------------

    async def profile(self, about: ProfileSubject = "user") -> Profile:
        """Return the whole profile of the user or of the agent."""
        return Profile(about=_about(about), traits=await self.traits(about), knowledge=await self.knowledge(about))

    async def render(
        self, about: Sequence[ProfileSubject] = PROFILE_SUBJECTS, *, traits: int = 20, knowledge: int = 20
    ) -> str:
        """Return profiles for a prompt, quoted as data: the surest traits and the most useful entries of each.

        Traits with too little evidence are left out.
        """
        profiles = [await self.profile(subject) for subject in about]
        short = [
            p.model_copy(
                update={
                    "traits": tuple(trait for trait in p.traits if trait.established)[:traits],
                    "knowledge": p.knowledge[:knowledge],
                }
            )
            for p in profiles
        ]
        return rendering.render_profiles(short)

    async def _traits(self, about: ProfileSubject) -> Traits:
        return Traits(self._scoped, _about(about), await self.configuration())


def _about(about: str) -> ProfileSubject:
    for known in PROFILE_SUBJECTS:
        if known == about:
            return known
    raise InvalidInput(
        f"A profile is of the user or of the agent, not of {about!r}.", hint=f"There are: {PROFILE_SUBJECTS}."
    )
