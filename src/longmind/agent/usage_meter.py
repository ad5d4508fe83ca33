"""What the models of a run have used."""

from __future__ import annotations

from dataclasses import dataclass, field

from longmind.agent.models import Metered
from longmind.models.chat import Usage


@dataclass(slots=True)
class UsageMeter:
    """Counts what a policy and a critic use from its creation on. Both may serve several runs."""

    policy: object
    critic: object
    _before: tuple[Usage, Usage] = field(init=False)

    def __post_init__(self) -> None:
        self._before = _usage_of(self.policy), _usage_of(self.critic)

    def total(self) -> Usage:
        """Return what both have used."""
        return _difference(_usage_of(self.policy), self._before[0]) + self.of_critic()

    def of_critic(self) -> Usage:
        """Return what the critic has used."""
        return _difference(_usage_of(self.critic), self._before[1])


def _usage_of(part: object) -> Usage:
    return part.usage if isinstance(part, Metered) else Usage()


def _difference(now: Usage, before: Usage) -> Usage:
    return Usage(
        input_tokens=now.input_tokens - before.input_tokens,
        output_tokens=now.output_tokens - before.output_tokens,
        cached_tokens=now.cached_tokens - before.cached_tokens,
        requests=now.requests - before.requests,
        cost=None if now.cost is None else now.cost - (before.cost or 0.0),
    )
