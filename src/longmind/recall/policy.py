"""Policies: small objects that choose the kinds of memory to search and the weight of each arm for a question.

A policy has a ``name``, a ``priority``, ``applies(query)`` and ``choose(query, plan)``. The policies that apply change
the plan one after another, the lowest priority first, so the highest priority decides. There is no other routing: the
built-in policies use the same interface as a user's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from longmind.errors import InvalidInput
from longmind.recall.query import Query


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each arm and each prior. Only the ratios between them matter.

    The first group is for texts that depend on their surroundings (short turns of a conversation), the second for
    self-contained texts (long messages, passages). The two are mixed by the mean length of the texts in a row's thread.
    """

    window: float = 4.6
    """Lexical score of the turn and the turns around it."""
    session: float = 3.5
    """Lexical score of the whole thread."""
    near_vector: float = 2.5
    """Vector similarity of the turn and the turns around it."""
    fullness: float = 5.3
    """A turn with content, against one that only says "wow"."""

    own: float = 5.1
    """Lexical score of a self-contained text."""
    vector: float = 7.0
    """Vector similarity of a self-contained text."""

    reply: float = 4.3
    """The penalty for an assistant's messages, short or long, unless the question asks for them."""
    speaker: float = 1.5
    question: float = -0.9
    dated: float = 0.0
    counted: float = 0.0
    time: float = 3.2
    link: float = 0.6
    """The share of a hit's score that memories linked to it get."""
    importance: float = 0.2
    trust: float = 0.2
    recency: float = 0.1


@dataclass(frozen=True, slots=True)
class RecallPlan:
    """How recall answers a question: kinds of memory, weights, boosts and fusion."""

    weights: Weights = field(default_factory=Weights)
    kinds: tuple[str, ...] | None = None
    """Search only these kinds of memory; None searches all."""
    boosts: Mapping[str, float] = field(default_factory=dict)
    """A bonus, or with a negative number a penalty, for a kind of memory."""
    answering: tuple[str, ...] = ()
    """Kinds of memory that answer the question by being of that kind: found though no word or meaning matches."""
    fusion: str = "scores"
    """``scores`` adds the scores of the arms; ``ranks`` is reciprocal-rank fusion."""
    policies: tuple[str, ...] = ()
    """The names of the policies that applied."""

    def weigh(self, **changes: float) -> RecallPlan:
        """Return this plan with some weights changed."""
        return replace(self, weights=replace(self.weights, **changes))


@runtime_checkable
class RecallPolicy(Protocol):
    """Changes the plan of the questions it applies to."""

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
    adjust: Callable[[RecallPlan], RecallPlan]
    priority: int = 0

    def applies(self, query: Query) -> bool:
        return self.kind in query.kinds

    def choose(self, query: Query, plan: RecallPlan) -> RecallPlan:
        return self.adjust(plan)


def _boosted(chosen: RecallPlan, **boosts: float) -> RecallPlan:
    return replace(chosen, boosts={**chosen.boosts, **boosts})


@dataclass(frozen=True, slots=True)
class AssistantSaid:
    """A policy for questions about what the assistant said: its messages get no penalty."""

    name: str = "what the assistant said"
    priority: int = 0

    def applies(self, query: Query) -> bool:
        return query.asks_assistant

    def choose(self, query: Query, plan: RecallPlan) -> RecallPlan:
        return plan.weigh(reply=0.0)


BUILT_IN: tuple[RecallPolicy, ...] = (
    KindOfQuestion("when", "when", lambda plan: plan.weigh(dated=1.1)),
    # what is like a statement was said in any session: the words of a whole session say little, meaning says more
    KindOfQuestion("statement", "statement", lambda plan: plan.weigh(session=0.0, near_vector=6.0)),
    KindOfQuestion("how many", "count", lambda plan: plan.weigh(counted=0.65)),
    KindOfQuestion("latest", "latest", lambda plan: plan.weigh(recency=1.0)),
    AssistantSaid(),
    KindOfQuestion("preference", "preference", lambda plan: _boosted(plan, trait=1.0, knowledge=0.5)),
    KindOfQuestion("procedure", "procedure", lambda plan: _boosted(plan, procedure=1.5)),
    KindOfQuestion("goal", "goal", lambda plan: replace(_boosted(plan, goal=12.0), answering=("goal",))),
)


def checked_policy(policy: Any) -> RecallPolicy:
    """Return the policy; raise ``InvalidInput`` if it is none."""
    if not isinstance(policy, RecallPolicy) or not isinstance(policy.name, str) or not isinstance(policy.priority, int):
        raise InvalidInput(
            f"{type(policy).__name__} is no recall policy.",
            hint="A policy has name (text), priority (whole number), applies(query) and choose(query, plan).",
        )
    return policy


def make_plan(query: Query, policies: Sequence[RecallPolicy]) -> RecallPlan:
    """Return the plan for a question, made by the policies that apply."""
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
