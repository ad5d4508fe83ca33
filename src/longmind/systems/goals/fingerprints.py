"""What makes two calls, two errors or two plans the same: short prints that can be compared and kept.

A print leaves out what changes from one attempt to the next (numbers of attempts, times, ids inside a message), so that
going round in a circle shows.
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
    """What a step does: the tool or procedure with its arguments or, where it names neither, its description."""
    if step.tool is None and step.procedure is None:
        return _digest(["text", _plain(step.description)])
    return _digest(["tool" if step.tool else "procedure", step.tool or step.procedure, step.args])


def step_fingerprint(step: PlanStep) -> str:
    """What a step says and does; not how it went, and not what it is called."""
    return _digest([_plain(step.description), step.tool, step.procedure, step.args, sorted(step.criteria)])


def plan_fingerprint(steps: Sequence[PlanStep]) -> str:
    """What a plan says: its steps in their order and what each comes after. How far it has come does not count."""
    place = {step.id: n for n, step in enumerate(steps)}
    return _digest([[step_fingerprint(step), sorted(place.get(name, -1) for name in step.after)] for step in steps])


def error_fingerprint(error: str) -> str:
    """An error without what differs between two of the same kind: numbers, ids, spaces."""
    return _VARIABLE.sub("#", _plain(error))[:500]


def result_fingerprint(result: Any) -> str:
    """A result as something to compare."""
    return _digest(result)


def error_outlook(error: str) -> ErrorOutlook:
    """Whether the same call may work later: the error says so (``passing``), says it cannot, or says neither.

    What says both (a connection that was refused) may pass.
    """
    if _PASSING.search(error):
        return "passing"
    return "lasting" if _LASTING.search(error) else "unknown"


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().lower()


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
