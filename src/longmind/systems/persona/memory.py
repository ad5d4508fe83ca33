"""The public class of the persona."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longmind.errors import InvalidInput
from longmind.systems import configuration
from longmind.systems.ownership import mine
from longmind.systems.persona import rendering
from longmind.systems.persona.knowledge import Entries, as_knowledge
from longmind.systems.persona.models import (
    KNOWLEDGE,
    PROFILE_SUBJECTS,
    Knowledge,
    KnowledgeBody,
    Label,
    Learnt,
    PersonaSettings,
    Profile,
    ProfileSubject,
    Rival,
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


class PersonaMemory:
    """Who the user is, and who the agent is: traits with their confidence and history, and knowledge entries.

    The user's profile belongs to the user of the scope. The agent's own belongs to no user.
    """

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def configuration(self) -> PersonaSettings:
        """The agent's settings as they are now."""
        return await configuration.configuration(self._scoped, NAME, PersonaSettings())

    async def configure(self, /, **changes: Any) -> PersonaSettings:
        """Change settings of this agent for good."""
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
        about: ProfileSubject = "user",
        correction: bool = False,
    ) -> Trait:
        """Take in an observation of a trait, and tell how the dimension stands now.

        The same value again makes it surer. Another value lowers the confidence of the one that holds, and takes its
        place only once it is surer and was observed often enough; with ``correction`` (somebody said so) at once. What
        lost stays as history. Evidence that was counted before does not count again.
        """
        fields = {"value": value, "score": score, "confidence": confidence, "evidence": tuple(dict.fromkeys(evidence))}
        observed = validated(Rival, fields)
        if confidence <= 0.0:
            raise InvalidInput("An observation needs some confidence: more than 0, at most 1.")
        traits = Traits(self._scoped, _about(about))
        settings = await self.configuration()
        named = validated(_Dimension, {"dimension": dimension}).dimension
        return await retry_on_conflict(lambda: traits.observe(named, observed, settings, correction))

    async def trait(self, dimension: str, about: ProfileSubject = "user") -> Trait | None:
        """What holds now for a dimension, or None."""
        return await Traits(self._scoped, _about(about)).find(dimension)

    async def traits(self, about: ProfileSubject = "user") -> tuple[Trait, ...]:
        """All that holds now, the surest first."""
        return tuple(await Traits(self._scoped, _about(about)).current())

    async def history(self, dimension: str, about: ProfileSubject = "user") -> tuple[Trait, ...]:
        """Every value a dimension ever had, the oldest first."""
        return tuple(await Traits(self._scoped, _about(about)).history(dimension))

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
        """Take in a piece of knowledge. The same again makes it surer; the least useful makes room, to the archive."""
        valid_text = validated(_KnowledgeText, {"text": text}).text
        fields = {"about": _about(about), "confidence": confidence, "evidence": tuple(dict.fromkeys(evidence))}
        body = validated(KnowledgeBody, fields)
        entries, settings = Entries(self._scoped, about), await self.configuration()
        return await retry_on_conflict(lambda: entries.learn(valid_text, body, importance, settings))

    async def knowledge(self, about: ProfileSubject = "user", *, archived: bool = False) -> tuple[Knowledge, ...]:
        """The entries, the most useful first; or those in the archive."""
        now = self._scoped.now()
        records = await Entries(self._scoped, _about(about)).all("archived" if archived else "active")
        entries = [as_knowledge(record, now) for record in records]
        return tuple(sorted(entries, key=lambda entry: (-entry.usefulness, entry.id)))

    async def entry(self, id: str) -> Knowledge:
        """One entry as it is now."""
        return as_knowledge(await self._scoped.need(id, KNOWLEDGE), self._scoped.now())

    async def search(self, query: str, *, k: int = 10) -> tuple[Knowledge, ...]:
        """The entries that fit a question best; they count as used."""
        if not query.strip():
            return ()
        scope, now = self._scoped.scope, self._scoped.now()
        where = mine(scope) if scope.user is None else None  # with a user the scope itself leaves out the others
        hits = await self._scoped.search(query, k=k, kinds=[KNOWLEDGE], where=where)
        return tuple(as_knowledge(hit.memory, now) for hit in hits)

    # -- all of it -----------------------------------------------------------------------------------------------

    async def profile(self, about: ProfileSubject = "user") -> Profile:
        """All that is known of the user, or that the agent is."""
        return Profile(about=_about(about), traits=await self.traits(about), knowledge=await self.knowledge(about))

    async def render(
        self, about: Sequence[ProfileSubject] = PROFILE_SUBJECTS, *, traits: int = 20, knowledge: int = 20
    ) -> str:
        """The profiles for a prompt, quoted as data: the surest traits and the most useful entries of each."""
        profiles = [await self.profile(subject) for subject in about]
        short = [
            p.model_copy(update={"traits": p.traits[:traits], "knowledge": p.knowledge[:knowledge]}) for p in profiles
        ]
        return rendering.render_profiles(short)


def _about(about: str) -> ProfileSubject:
    for known in PROFILE_SUBJECTS:
        if known == about:
            return known
    raise InvalidInput(
        f"A profile is of the user or of the agent, not of {about!r}.", hint=f"There are: {PROFILE_SUBJECTS}."
    )
