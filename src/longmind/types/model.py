"""The base of the public types."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from longmind.types.fields import Json


class Model(BaseModel):
    """The base of every public type: frozen, and strict about unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, ser_json_inf_nan="null", defer_build=True
    )

    def to_dict(self) -> Json:
        """Return the fields as a plain dict that is ready for JSON: times are texts, tuples are lists."""
        return self.model_dump(mode="json")


M = TypeVar("M", bound=Model)
_set = object.__setattr__


def construct_unvalidated(kind: type[M], fields: Json) -> M:
    """Construct a model without validation, from all of its fields.

    For fields that are known to be valid: those of a row that was validated when it was written, or parts that were
    validated one by one. Validating a memory again would cost ten times as much.
    """
    model = kind.__new__(kind)
    _set(model, "__dict__", fields)
    _set(model, "__pydantic_fields_set__", _all_fields(kind))
    _set(model, "__pydantic_extra__", None)
    _set(model, "__pydantic_private__", None)
    return model


@cache
def _all_fields(kind: type[Model]) -> set[str]:
    """Return the set of field names, shared by all instances: a frozen model never changes it."""
    return set(kind.model_fields)
