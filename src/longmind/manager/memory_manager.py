"""``MemoryManager``: one interface to all memory systems of an agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput
from longmind.manager.built_in import (
    BuiltInSystem,
    DialogueSystem,
    EpisodicSystem,
    GoalSystem,
    PersonaSystem,
    ProceduralSystem,
    Remember,
    RememberedSystem,
    SemanticSystem,
    SharedSystem,
    WorkingSystem,
    check_fields,
)
from longmind.manager.experience_store import find_experience, write_experience
from longmind.manager.fact_learning import Extract, FactLearner
from longmind.manager.models import (
    Experience,
    ExperienceResult,
    OutcomeResult,
    RetrieveResult,
    SearchResult,
    StoreResult,
    SystemFailure,
    SystemHit,
    experience_of,
)
from longmind.manager.registry import MemorySystem, Names, SystemRegistry, hits_of
from longmind.manager.run_experience import OUTCOMES, experience_of_run, run_key
from longmind.systems.dialogue import DialogueMemory
from longmind.systems.episodic import Episode, EpisodicMemory, Event
from longmind.systems.goals import GoalMemory
from longmind.systems.persona import PersonaMemory
from longmind.systems.procedural import ProceduralMemory, Run
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.systems.semantic import SemanticMemory
from longmind.systems.shared import SharedMemory
from longmind.systems.working import WorkingMemory
from longmind.types import Filter, Hit, Model, Name

Recall = Callable[..., Awaitable[list[Hit]]]
TIMEOUT = 30.0
MAX_K = 1_000


class _Key(Model):
    key: Name


@checked_arguments
class MemoryManager:
    """Stores to, retrieves from and searches all memory systems of an agent, and those a user registers.

    ``recall`` and ``remember`` are the agent's own verbs. ``extract`` finds at once what the texts of an experience
    state; without it consolidation does so later. A system of the user's has ``timeout`` seconds for each call. What is
    registered belongs to this object and this process; nothing of it is stored.
    """

    def __init__(
        self,
        scoped: ScopedStore,
        *,
        working: WorkingMemory,
        episodic: EpisodicMemory,
        semantic: SemanticMemory,
        procedural: ProceduralMemory,
        goals: GoalMemory,
        persona: PersonaMemory,
        dialogue: DialogueMemory,
        shared: SharedMemory,
        recall: Recall,
        remember: Remember,
        extract: Extract | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._scoped = scoped
        self._working = working
        self._episodic = episodic
        self._semantic = semantic
        self._procedural = procedural
        self._recall = recall
        self._remember = remember
        self._extract = extract
        self._remembered = RememberedSystem(scoped, remember, self._claimed)
        self._built_in: dict[str, BuiltInSystem] = {
            system.name: system
            for system in (
                WorkingSystem(scoped, working),
                EpisodicSystem(scoped),
                SemanticSystem(scoped, semantic),
                ProceduralSystem(scoped, procedural),
                GoalSystem(scoped, goals),
                PersonaSystem(scoped, persona),
                DialogueSystem(scoped, dialogue),
                SharedSystem(scoped, shared),
                self._remembered,
            )
        }
        self._registry = SystemRegistry(self._built_in.values(), timeout=timeout)

    # -- the systems ---------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The registered systems, the built-in ones first."""
        return self._registry.names

    def register(self, system: MemorySystem) -> None:
        """Register a memory system of yours. See ``MemorySystem`` for what it must offer."""
        self._registry.add(system)

    def unregister(self, name: str) -> None:
        """Remove a registered system; what it holds is not touched."""
        self._registry.remove(name)

    async def store(self, data: Any, into: Names | None = None) -> StoreResult:
        """Store something in one system, in several, or without ``into`` in every system that takes it.

        A text is taken by working memory and remembered. A mapping is taken by the systems whose fields it has: a fact
        by semantic memory, a title by episodic, steps by procedural, a goal by goals. A registered system takes
        everything unless it has a method ``takes(data)``. Nothing is shared without naming ``shared``.

        A built-in system reads from a mapping the fields it knows; a registered one gets the data as it is. With one
        system an error is raised. With several each is on its own, and ``failed`` lists those that could not
        (``check()`` raises then). What one system stored is kept even if others fail.
        """
        names = self._registry.takers(data) if into is None else self._registry.chosen(into)
        if all(self._registry.built_in(name) for name in names):
            check_fields(data, [self._built_in[name] for name in names])
        if len(names) == 1:
            return StoreResult(stored={names[0]: await self._registry.ask(names[0], "store", data)})
        stored, failed = await self._registry.ask_all(names, "store", data, report_all=True)
        return StoreResult(stored=stored, failed=failed)

    async def retrieve(self, key: str, systems: Names | None = None) -> RetrieveResult:
        """Return what the systems hold under a key or id: all systems, or those named."""
        checked_key = validated(_Key, {"key": key}).key
        answers, failed = await self._registry.ask_all(self._registry.chosen(systems), "retrieve", checked_key)
        by_system = {name: value for name, value in answers.items() if value is not None}
        return RetrieveResult(key=key, by_system=by_system, failed=failed)

    async def search(
        self,
        query: str,
        k: int = 10,
        *,
        systems: Names | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        explain: bool = False,
    ) -> SearchResult:
        """Return the best k hits of all systems, or of those named, each with the name of its system.

        What is kept in this store is found by one recall; its policies choose among the systems unless some are named.
        Registered systems that keep their memories elsewhere are asked one by one; ``where`` does not reach those.
        """
        if not 1 <= k <= MAX_K:
            raise InvalidInput(f"k must be from 1 to {MAX_K}, not {k}.")
        names = self._registry.chosen(systems)
        own, kinds = self._recalled(names, every=systems is None)
        hits: list[SystemHit] = []
        if own:
            recalled = await self._recall(query, k, kinds=kinds, where=where, explain=explain)
            hits = [self._with_owner(hit) for hit in recalled]
        elsewhere = [name for name in names if name not in own]
        answers, failed = await self._registry.ask_all(elsewhere, "search", query, k)
        for name, answer in answers.items():
            try:
                hits += [_with_system(hit, name) for hit in hits_of(answer, k)]
            except InvalidInput as error:
                failed += (SystemFailure.of(name, error),)
        return SearchResult(query=query, hits=tuple(_best(hits)[:k]), failed=failed)

    # -- experience and knowledge --------------------------------------------------------------------------------

    async def store_experience(
        self, data: Experience | Mapping[str, Any] | str, *, extract: Extract | None = None
    ) -> ExperienceResult:
        """Store something that happened, and learn its facts.

        The episode, its events and what was said are stored together. ``facts`` are learnt with the episode as their
        evidence. Free text is remembered for consolidation to extract from, or extracted from now if there is an
        ``extract``. Facts that cannot be learnt are listed in ``refused``.
        """
        experience = experience_of(data)
        written = await write_experience(self._scoped, experience)
        learner = FactLearner(self._scoped, self._semantic, written)
        await learner.learn(experience, extract or self._extract)
        return ExperienceResult(
            episode=Episode.of(written.episode),
            events=tuple(Event.of(event) for event in written.events),
            messages=written.messages,
            facts=tuple(learner.learned),
            refused=tuple(learner.refused),
        )

    async def execute_procedure(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        *,
        task: str | None = None,
        version: int | str | None = None,
        key: str | None = None,
    ) -> Run:
        """Run a procedure and store an episode of it, titled by the task, with an event for each step.

        ``retrieve(f"run:{run.id}")`` returns the episode. A run that waits for an approval has none yet; with a
        ``key``, the same call after the approval writes it. ``procedural.execute`` only runs.
        """
        run = await self._procedural.execute(name, params, version=version, key=key)
        if run.finished:
            await self._record_run(run, task)
        return run

    async def learn_from_outcome(
        self,
        procedure: str | None = None,
        outcome: bool | None = None,
        metrics: Mapping[str, float] | None = None,
        *,
        run: str | None = None,
        episode: str | None = None,
        note: str | None = None,
    ) -> OutcomeResult:
        """Report how something came out: it succeeded, failed, or is unknown (None).

        The procedure's statistics count it, and may decide about a version on trial. The episode, the one named or the
        one that ``execute_procedure`` wrote of the run, is judged anew, with ``note`` saying why.
        """
        if procedure is None and run is None and episode is None:
            raise InvalidInput("An outcome of what?", hint="Name a procedure, a run or an episode.")
        if procedure is None and run is not None:
            procedure = (await self._procedural.run(run)).procedure
        learned = None
        if procedure is not None:
            learned = await self._procedural.learn(procedure, outcome, metrics, run=run)
        if (
            episode is None
            and run is not None
            and (known := await find_experience(self._scoped, run_key(run))) is not None
        ):
            episode = known.id
        judged = None
        if episode is not None:
            judged = await self._episodic.judge(episode, OUTCOMES[outcome], note=note)
        return OutcomeResult(learned=learned, episode=judged)

    # -- inside --------------------------------------------------------------------------------------------------

    async def _record_run(self, run: Run, task: str | None) -> None:
        if await find_experience(self._scoped, run_key(run.id)) is None:
            await write_experience(self._scoped, experience_of_run(run, task), derived_from=[run.id])

    def _claimed(self) -> frozenset[str]:
        return frozenset(kind for name in self._registry.names for kind in self._registry.kinds(name))

    def _recalled(self, names: Iterable[str], *, every: bool) -> tuple[list[str], tuple[str, ...] | None]:
        """Which of these systems one recall answers for, and the kinds to ask it for; None lets its policies choose."""
        own = [name for name in names if self._registry.kinds(name) or name == self._remembered.name]
        if every:
            return own, None
        kinds = [kind for name in own for kind in self._registry.kinds(name)]
        return own, (*kinds, *(self._remembered.unclaimed() if self._remembered.name in own else ()))

    def _with_owner(self, hit: Hit) -> SystemHit:
        owners = (name for name in self._registry.names if hit.memory.kind in self._registry.kinds(name))
        return _with_system(hit, next(owners, self._remembered.name))


def _with_system(hit: Hit, name: str) -> SystemHit:
    return SystemHit(memory=hit.memory, score=hit.score, why=hit.why, parts=hit.parts, system=name)


def _best(hits: Iterable[SystemHit]) -> list[SystemHit]:
    """Each memory once, the best first. One that a registered system found belongs to that system."""
    kept: dict[str, SystemHit] = {}
    for hit in hits:
        known = kept.get(hit.memory.id)
        best = hit if known is None or hit.score > known.score else known
        kept[hit.memory.id] = best.model_copy(update={"system": hit.system})
    return sorted(kept.values(), key=lambda hit: -hit.score)
