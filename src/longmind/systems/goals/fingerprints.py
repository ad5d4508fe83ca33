"""Fingerprints that tell whether two calls, errors or plans are the same.

A fingerprint leaves out what changes between attempts (attempt numbers, times, ids inside a message), so that loops
become visible.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from longmind.systems.goals.models import PlanStep

ErrorOutlook = Literal["passing", "lasting", "unknown"]

_VARIABLE = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+(?:[.:]\d+)*")
_SPACE = re.compile(r"\s+")
_PASSING = re.compile(
    r"time[d]?[ -]?out|did not finish within|lease|temporar|unavailable|try again|retry|rate.?limit|too many requests|"
    r"overload|busy|locked|throttl|connection|network|unreachable|reset by peer|broken pipe|"
    r"\b(?:408|425|429|500|502|503|504)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"not registered|no function is|no procedure|does not take this|not valid|invalid|unknown|no such|not found|"
    r"forbidden|denied|unauthori[sz]ed|not allowed|refused|unsupported|not supported|missing|"
    r"(?:Type|Value|Key|Attribute|Import|Index|NotImplemented|Permission|FileNotFound)Error|\b(?:400|401|403|404|422)\b",
    re.IGNORECASE,
)


def call_fingerprint(step: PlanStep) -> str:
    """Return the fingerprint of what a step calls with which arguments, or of its description if it calls nothing."""
    if step.tool is None and step.procedure is None:
        return _digest(["text", _plain(step.description)])
    return _digest(["tool" if step.tool else "procedure", step.tool or step.procedure, step.args])


def step_fingerprint(step: PlanStep) -> str:
    """Return the fingerprint of a step's content, without its id and its outcome."""
    return _digest([_plain(step.description), step.tool, step.procedure, step.args, sorted(step.criteria)])


def plan_fingerprint(steps: Sequence[PlanStep]) -> str:
    """Return the fingerprint of a plan: its steps, their order and dependencies, without their outcomes."""
    place = {step.id: n for n, step in enumerate(steps)}
    return _digest([[step_fingerprint(step), sorted(place.get(name, -1) for name in step.after)] for step in steps])


def error_fingerprint(error: str) -> str:
    """Return an error text without numbers, ids and spacing, so that errors of the same kind are equal."""
    return _VARIABLE.sub("#", _plain(error))[:500]


def result_fingerprint(result: Any) -> str:
    """Return the fingerprint of a result."""
    return _digest(result)


def error_outlook(error: str) -> ErrorOutlook:
    """Return whether the same call may work later (``passing``), cannot (``lasting``), or the error does not say.

    An error that says both, such as a refused connection, counts as passing.
    """
    if _PASSING.search(error):
        return "passing"
    return "lasting" if _LASTING.search(error) else "unknown"


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().lower()


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
