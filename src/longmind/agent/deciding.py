"""One decision of a run: the policy is asked, its answer is checked, and the critic may object once.

An answer that cannot be used is told to the policy, which then decides again, a limited number of times.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from longmind.agent.critics import Critic
from longmind.agent.models import Action, Call, Critique, Ending, Policy, Say, StreamingPolicy, Turn
from longmind.agent.policies import action_problem
from longmind.agent.toolbox import Toolbox
from longmind.errors import BudgetSpent, InvalidAnswer, ModelError
from longmind.systems.procedural import error_message

Emit = Callable[[str], Awaitable[None]]
_log = logging.getLogger("longmind")


class RunEnded(Exception):
    """The run ends without an answer."""

    def __init__(self, ending: Ending, text: str) -> None:
        super().__init__(text)
        self.ending: Ending = ending
        self.text = text


@dataclass(slots=True)
class Decider:
    """Makes the decisions of one run."""

    policy: Policy
    toolbox: Toolbox
    critic: Critic | None
    attempts: int
    """How often in a row the policy may answer something that cannot be used."""
    check_budget: Callable[[], None]
    """Raises ``RunEnded`` if the run may use no more tokens."""
    problem: Callable[[str], None]
    emit: Emit | None = None
    critique: Critique | None = None
    """The critique that preceded the last decision."""
    said: list[str] = field(default_factory=list)
    """The text that was streamed of the last decision."""

    async def decide(self, turn: Turn) -> Action:
        """Return a valid action for a turn. ``RunEnded`` if there is none."""
        attempt, problem, critique = 1, "", None
        while attempt <= self.attempts:
            self.check_budget()
            asked = replace(turn, attempt=attempt, problem=problem, critique=critique)
            action, problem = await self._ask_policy(asked)
            if action is None:
                self.problem(f"An answer of the policy could not be used: {problem}")
                attempt += 1
                continue
            self.critique = critique
            critique = None if critique else await self._objection(asked, action)
            if critique is None:
                return action
        raise RunEnded("failed", f"The policy gave no usable answer in {attempt - 1} attempts. The last: {problem}")

    def why_invalid(self, action: Action) -> str:
        """Return why an action cannot be carried out, or an empty text if it can."""
        return action_problem(action) or (self.toolbox.problem(action) if isinstance(action, Call) else "")

    async def _ask_policy(self, turn: Turn) -> tuple[Action | None, str]:
        """Ask the policy. Return its action, or None and the reason why the answer cannot be used."""
        try:
            action = await self._decide_streaming(turn)
        except BudgetSpent as error:
            raise RunEnded("out_of_budget", str(error)) from error
        except InvalidAnswer as error:
            return None, error.message
        except ModelError as error:
            raise RunEnded("failed", f"The model failed: {error}") from error
        except Exception as error:
            _log.warning("The policy of an agent failed.", exc_info=error)
            raise RunEnded("failed", f"The policy failed: {type(error).__name__}: {error_message(error)}") from error
        problem = self.why_invalid(action)
        return (None, problem) if problem else (action, "")

    async def _decide_streaming(self, turn: Turn) -> Action:
        self.said.clear()
        if self.emit is None or not isinstance(self.policy, StreamingPolicy):
            return await self.policy.decide(turn)
        async with aclosing(self.policy.speak(turn)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                if not isinstance(piece, str):
                    return piece
                self.said.append(piece)
                await self.emit(piece)
        raise InvalidAnswer("The policy ended without an action.")

    async def _objection(self, turn: Turn, action: Action) -> Critique | None:
        if self.critic is None or (self.said and isinstance(action, Say)):
            return None  # what was streamed cannot be withdrawn
        try:
            return await self.critic.before(turn, action)
        except Exception as error:
            self.problem(f"The critic failed: {error}")
            return None
