"""Pydantic's validation errors in our words: which field, and what is wrong with it, never what it held."""

from __future__ import annotations

from pydantic import ValidationError

_PREFIXES = ("Value error, ", "Assertion failed, ")


def first_problem(error: ValidationError) -> tuple[str, str]:
    """Return the first invalid field, as a path with dots, and the reason; '' where it is the whole record."""
    return problems(error)[0]


def problems(error: ValidationError) -> list[tuple[str, str]]:
    """Return every invalid field, as a path with dots, and the reason."""
    listed = error.errors(include_input=False, include_url=False, include_context=False)
    return [(".".join(map(str, problem["loc"])), _reason(problem["msg"])) for problem in listed]


def _reason(message: str) -> str:
    for prefix in _PREFIXES:
        message = message.removeprefix(prefix)
    return message
