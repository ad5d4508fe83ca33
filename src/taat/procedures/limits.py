"""What is learnt from outcomes: how large and how fresh the announcements of one announcer may be.

The limits are the default of a parameter of ``execute_trade``. Learning them stores a new version of it, so they have
a history with reasons, and a rollback brings the former ones back.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from longmind import AgentMemory
from taat.memory import TradeOutcome
from taat.models import Frozen
from taat.procedures.definitions import EXECUTE_TRADE, PROCEDURES

JUDGED_AFTER = 5
"""With fewer closed trades nothing is learnt."""
LATEST = 20
"""How many of the latest trades count."""
_SHORTEST_AGE = 30


class Limits(Frozen):
    """What was learnt of one announcer."""

    size: Decimal = Decimal(1)
    """The part of the usual size that is traded on their word."""
    maximum_age_seconds: int | None = None
    """Announcements that are older are not followed."""


def learnt_limits(outcomes: Sequence[TradeOutcome]) -> Limits:
    """Return the limits that the closed trades of an announcer speak for. The same trades give the same limits.

    Who loses on average over the latest trades is followed with half the size, and with a quarter after twice as many
    trades. When what was entered late loses and what was entered early wins, late announcements are not followed.
    """
    latest = outcomes[-LATEST:]
    if len(latest) < JUDGED_AFTER:
        return Limits()
    average = _average(latest)
    size = Decimal(1)
    if average < 0:
        size = Decimal("0.25") if len(latest) >= 2 * JUDGED_AFTER else Decimal("0.5")
    return Limits(size=size, maximum_age_seconds=_age_limit(latest))


def _age_limit(outcomes: Sequence[TradeOutcome]) -> int | None:
    ordered = sorted(outcomes, key=lambda outcome: outcome.delay_seconds)
    half = len(ordered) // 2
    early, late = ordered[:half], ordered[half:]
    if len(early) < JUDGED_AFTER or early[-1].delay_seconds >= late[0].delay_seconds:
        return None
    if _average(early) > 0 > _average(late):
        return max(_SHORTEST_AGE, int(early[-1].delay_seconds) + 1)
    return None


def _average(outcomes: Sequence[TradeOutcome]) -> Decimal:
    return sum((outcome.return_percent for outcome in outcomes), Decimal(0)) / len(outcomes)


async def install(agent: AgentMemory) -> None:
    """Store the procedures that are not there yet; what was learnt or changed since stays."""
    present = {version.name for version in (await agent.procedural.list("taat", limit=200)).items}
    for definition in PROCEDURES:
        if definition["name"] not in present:
            await agent.procedural.store(definition, why="as TAAT comes")


class LearntLimits:
    """The limits in the version of ``execute_trade`` that is in use."""

    def __init__(self, agent: AgentMemory) -> None:
        self._procedural = agent.procedural
        self.version = 0
        self._limits: Mapping[str, Limits] = {}

    async def load(self) -> None:
        """Read the version in use."""
        current = await self._procedural.retrieve(EXECUTE_TRADE)
        default = _limits_parameter(current.procedure.model_dump(mode="json")).get("default") or {}
        self.version = current.number
        self._limits = {name: Limits.model_validate(fields) for name, fields in default.items()}

    def of(self, announcer: str) -> Limits:
        """Return the limits of an announcer."""
        return self._limits.get(announcer, Limits())

    def all(self) -> Mapping[str, Limits]:
        """Return the limits of all announcers of whom something was learnt."""
        return self._limits

    async def learn(self, announcer: str, outcomes: Sequence[TradeOutcome]) -> str | None:
        """Store what the closed trades of an announcer speak for; return what changed, in words."""
        before, after = self.of(announcer), learnt_limits(outcomes)
        if before == after:
            return None
        why = _reason(announcer, before, after, outcomes[-LATEST:])
        current = await self._procedural.retrieve(EXECUTE_TRADE)
        definition = current.procedure.model_dump(mode="json")
        parameter = _limits_parameter(definition)
        learnt = dict(parameter.get("default") or {})
        learnt[announcer] = after.model_dump(mode="json")
        parameter["default"] = learnt
        await self._procedural.store(definition, why=why)
        await self.load()
        return why


def _limits_parameter(definition: dict[str, Any]) -> dict[str, Any]:
    parameter: dict[str, Any] = definition["parameters"]["properties"]["limits"]
    return parameter


def _reason(announcer: str, before: Limits, after: Limits, latest: Sequence[TradeOutcome]) -> str:
    said = [f"The latest {len(latest)} trades after {announcer} brought {_average(latest):.2f} % on average"]
    if before.size != after.size:
        said.append(f"the size goes from {before.size} to {after.size} of the usual one")
    if before.maximum_age_seconds != after.maximum_age_seconds:
        limit = after.maximum_age_seconds
        said.append("announcements of any age are followed" if limit is None else f"the oldest followed is {limit} s")
    return ": ".join((said[0], ", and ".join(said[1:]))) + "."
