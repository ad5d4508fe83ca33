"""Policies: small objects that choose, for a question, the systems to ask and the weight of each arm.

A policy has a ``name``, a ``priority``, ``applies(query)`` and ``choose(query, plan)``. All that apply have their say,
the lowest priority first, each on the plan the one before it left; so the highest priority decides. This is the only
routing there is: the built-in policies are made of the same stuff as a user's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from longmind.errors import InvalidInput
from longmind.recall.query import Query


@dataclass(frozen=True, slots=True)
class Weights:
    """What each arm and each prior may add. Only their relations matter.

    The first group is for texts that lean on their surroundings (turns of a talk), the second for texts that speak for
    themselves (long messages, passages); a row gets a mixture by how long the texts of its thread are.
    """

    window: float = 4.6
    """Words, of the turn and those around it."""
    session: float = 3.5
    """Words, of the whole thread."""
    near_vector: float = 2.5
    """Meaning, of the turn and those around it."""
    fullness: float = 5.3
    """A turn that says something, against one that only answers "wow"."""

    own: float = 5.1
    """Words, of a text that speaks for itself."""
    vector: float = 7.0
    """Meaning, of such a text."""
    reply: float = 4.3
    """How much less an assistant's words count than what it was told, when they are not asked for."""

    speaker: float = 1.5
    question: float = -0.9
    dated: float = 0.0
    counted: float = 0.0
    time: float = 3.2
    link: float = 0.6
    """Share of a hit's score that what it is linked to gets."""
    importance: float = 0.2
    trust: float = 0.2
    recency: float = 0.1


@dataclass(frozen=True, slots=True)
class RecallPlan:
    """What recall will do for a question."""

    weights: Weights = field(default_factory=Weights)
    kinds: tuple[str, ...] | None = None
    """Ask only these kinds of memory; None asks all."""
    boosts: Mapping[str, float] = field(default_factory=dict)
    """More, or less, for a kind of memory."""
    fusion: str = "scores"
    """``scores`` adds what the arms say; ``ranks`` is reciprocal-rank fusion."""
    policies: tuple[str, ...] = ()
    """The names of those that had their say."""

    def weigh(self, **changes: float) -> RecallPlan:
        """This plan with some weights changed."""
        return replace(self, weights=replace(self.weights, **changes))


@runtime_checkable
class RecallPolicy(Protocol):
    """Something that has a say in how a question is answered."""

    @property
    def name(self) -> str: ...

    @property
    def priority(self) -> int: ...

    def applies(self, query: Query) -> bool: ...

    def choose(self, query: Query, plan: RecallPlan) -> RecallPlan: ...


@dataclass(frozen=True, slots=True)
class KindOfQuestion:
    """A policy for one kind of question."""

    name: str
    kind: str
    chosen: Callable[[RecallPlan], RecallPlan]
    priority: int = 0

    def applies(self, query: Query) -> bool:
        return self.kind in query.kinds

    def choose(self, query: Query, plan: RecallPlan) -> RecallPlan:
        return self.chosen(plan)


def _boosted(plan: RecallPlan, **boosts: float) -> RecallPlan:
    return replace(plan, boosts={**plan.boosts, **boosts})


@dataclass(frozen=True, slots=True)
class AssistantSaid:
    """A question for what the assistant said does not hold it against a memory that the assistant said it."""

    name: str = "what the assistant said"
    priority: int = 0

    def applies(self, query: Query) -> bool:
        return query.asks_assistant

    def choose(self, query: Query, plan: RecallPlan) -> RecallPlan:
        return plan.weigh(reply=0.0)


BUILT_IN: tuple[RecallPolicy, ...] = (
    KindOfQuestion("when", "when", lambda plan: plan.weigh(dated=1.1)),
    KindOfQuestion("how many", "count", lambda plan: plan.weigh(counted=0.65)),
    KindOfQuestion("latest", "latest", lambda plan: plan.weigh(recency=1.0)),
    AssistantSaid(),
    KindOfQuestion("preference", "preference", lambda plan: _boosted(plan, trait=1.0, knowledge=0.5)),
    KindOfQuestion("procedure", "procedure", lambda plan: _boosted(plan, procedure=1.5)),
)


def check(policy: Any) -> RecallPolicy:
    """The policy, if it is one."""
    if not isinstance(policy, RecallPolicy) or not isinstance(policy.name, str) or not isinstance(policy.priority, int):
        raise InvalidInput(
            f"{type(policy).__name__} is no recall policy.",
            hint="A policy has name (text), priority (whole number), applies(query) and choose(query, plan).",
        )
    return policy


def planned(query: Query, policies: Sequence[RecallPolicy]) -> RecallPlan:
    """What the policies that apply make of a question."""
    plan = RecallPlan()
    for policy in sorted(policies, key=lambda p: p.priority):
        if policy.applies(query):
            chosen = policy.choose(query, plan)
            if not isinstance(chosen, RecallPlan):
                raise InvalidInput(
                    f"The recall policy {policy.name!r} chose {type(chosen).__name__}, not a plan.",
                    hint="choose(query, plan) must return a Plan, such as plan.weigh(recency=1.0).",
                )
            plan = replace(chosen, policies=(*plan.policies, policy.name))
    return plan
