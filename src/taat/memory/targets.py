"""The targets that the account is measured by. They are facts with validity, as the rules are."""

from decimal import Decimal

from pydantic import Field, ValidationError, field_validator

from longmind import InvalidInput
from taat.models import Frozen

TARGETS = "trading targets"
"""The subject of the targets' facts."""


class Targets(Frozen):
    """What the account is to reach."""

    index: str = Field("SPY", min_length=1, max_length=20)
    """The symbol whose return is to be beaten."""
    maximum_drawdown_percent: Decimal = Field(Decimal(10), gt=0, le=100)
    """How far the equity may fall below its highest value."""

    @field_validator("index")
    @classmethod
    def _symbol(cls, value: str) -> str:
        return value.strip().lstrip("$").upper()

    @property
    def goal(self) -> str:
        """The goal in one sentence."""
        return f"Beat {self.index} with at most {self.maximum_drawdown_percent:f} % drawdown"


def target_text(name: str, value: str) -> tuple[str, str]:
    """Return a target's predicate, and its value as it is stored; ``InvalidInput`` if there is no such target."""
    field = name.strip().lower().replace("-", "_").replace(" ", "_")
    if field not in Targets.model_fields:
        known = ", ".join(known.replace("_", "-") for known in Targets.model_fields)
        raise InvalidInput(f"There is no target {name!r}.", hint=f"The targets are: {known}.")
    try:
        targets = Targets.model_validate({field: value})
    except ValidationError as error:
        raise InvalidInput(f"{name} cannot be {value!r}: {error.errors()[0]['msg']}.") from None
    stored = getattr(targets, field)
    return field.replace("_", " "), f"{stored:f}" if isinstance(stored, Decimal) else stored
