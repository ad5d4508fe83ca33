"""What the user prefers. These are facts with validity, as the rules are."""

from typing import Literal

from pydantic import ValidationError

from longmind import InvalidInput
from taat.models import Frozen

PREFERENCES = "user preferences"
"""The subject of the preferences' facts."""


class Preferences(Frozen):
    """How the user wants to work."""

    confirm_orders: bool = False
    """Ask before every order, as ``taat run --confirm`` does."""
    report_by: Literal["announcer", "symbol", "strategy"] = "announcer"
    """What the figures of a report are told by."""

    draft_messages: bool = False
    """Draft a message when a position opens or closes. Nothing is ever sent."""

    def text(self, name: str) -> str:
        """Return a preference as text."""
        value = getattr(self, name)
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def preference_text(name: str, value: str) -> tuple[str, str]:
    """Return a preference's predicate, and its value as it is stored; ``InvalidInput`` if there is no such one."""
    field = name.strip().lower().replace("-", "_").replace(" ", "_")
    if field not in Preferences.model_fields:
        known = ", ".join(known.replace("_", "-") for known in Preferences.model_fields)
        raise InvalidInput(f"There is no preference {name!r}.", hint=f"The preferences are: {known}.")
    try:
        stored = Preferences.model_validate({field: value.strip().lower()}).text(field)
    except ValidationError as error:
        raise InvalidInput(f"{name} cannot be {value!r}: {error.errors()[0]['msg']}.") from None
    return field.replace("_", " "), stored
