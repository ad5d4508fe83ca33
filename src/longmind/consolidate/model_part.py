"""The language model's part in one run: what it is asked, what it costs, and when to leave it alone.

A model makes consolidation better and is never needed for it. Once its budget is spent, or it does not answer, it is
not asked again in the run; what it has not read waits, and rules do their part meanwhile. An answer that cannot be used
concerns only what was asked: it is counted, and the next question is another chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from longmind.clock import Clock
from longmind.consolidate.waiting import next_day
from longmind.errors import BudgetSpent, InvalidAnswer, ModelError
from longmind.types import Memory

if TYPE_CHECKING:
    from longmind.consolidate.asking import Extractor
    from longmind.consolidate.claims import Claim
    from longmind.consolidate.retelling import Retold, Teller

T = TypeVar("T")
REST = timedelta(minutes=10)
"""How long a model that does not answer is left alone, unless its server asks for longer."""
_REFUSED = frozenset({400, 413, 415, 422})
"""With these a server means the question, and will not take it later either."""


class Unusable(Exception):
    """Nothing can be taken from the answer. ``smaller``: less at once may work."""

    def __init__(self, why: str, *, smaller: bool) -> None:
        super().__init__(why)
        self.smaller = smaller


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the model is not asked any more, and until when."""

    why: str
    until: datetime
    rest: bool


@dataclass(slots=True)
class Answered:
    """What the model found in one memory, and what of it was refused."""

    found: list[tuple[Memory, Claim]] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class ModelPart:
    """The model in one run."""

    clock: Clock
    extractor: Extractor | None = None
    teller: Teller | None = None
    calls_left: int | None = None
    calls: int = 0
    stopped: Stop | None = None
    wanted: set[str] = field(default_factory=set)
    """The memories it should read; others of the run it has read before."""
    read: dict[str, Answered] = field(default_factory=dict)
    """By memory: what it said, kept so that a stage that is tried again does not ask again."""
    places: set[tuple[str | None, str]] = field(default_factory=set)
    """Conversations, by user and name, whose summaries wait to be told by it."""
    retold: dict[tuple[str | None, str, int], Retold] = field(default_factory=dict)
    """By user, conversation and number of turns: its summary."""

    async def ask(self, request: Callable[[], Awaitable[T]]) -> T | None:
        """The answer to one request; None once the model is not to be asked any more. ``Unusable`` is told."""
        if self.stopped is not None:
            return None
        now = self.clock.now()
        if self.calls_left is not None and self.calls >= self.calls_left:
            self.stopped = Stop("The model calls for today are used.", next_day(now), rest=False)
            return None
        self.calls += 1
        try:
            return await request()
        except BudgetSpent as error:
            if error.details.get("wanted", 0) > error.details.get("limit", 0):
                raise Unusable(error.message, smaller=True) from error
            self.stopped = Stop(error.message, _moment(error, "resumes_at") or next_day(now), rest=False)
        except InvalidAnswer as error:
            raise Unusable(error.message, smaller=error.details.get("finish") == "length") from error
        except ModelError as error:
            if error.details.get("status") in _REFUSED:
                raise Unusable(error.message, smaller=True) from error
            wait = error.details.get("retry_after")
            rest = max(REST, timedelta(seconds=float(wait))) if isinstance(wait, int | float) else REST
            self.stopped = Stop(f"{type(error).__name__}: {error.message}", now + rest, rest=True)
        return None


def _moment(error: ModelError, name: str) -> datetime | None:
    told = error.details.get(name)
    return datetime.fromisoformat(told) if isinstance(told, str) else None
