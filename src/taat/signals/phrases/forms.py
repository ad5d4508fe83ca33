"""What a rule for a phrase is made of."""

from typing import Literal

from taat.models import Action, Side

Form = Literal["code", "past", "ongoing", "base", "state", "side", "none"]
"""How a phrase speaks: a brokerage code, what was done, what is being done, an order, a state, a bare side, none."""

Rule = tuple[str, Action | None, Side | None, Form, str]
"""A pattern, the action and side it means, how it speaks, and marks for what else it says."""
