"""When two tasks are of one family, and two calls of one shape.

Tasks of a family differ in what they are about ("refund order 17", "refund order 23"), and so do the arguments of the
calls made for them. An argument that stands in the task itself is therefore not part of a call's shape, and its words
not part of the family: what was learnt with one order then counts for the next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from longmind.text.analysis import terms

FROM_TASK = "<given in the task>"
_CONTAINED, _ALIKE = 0.75, 0.4


def call_shape(tool: str, args: Mapping[str, Any], task: str) -> str:
    """A call without what its task gave it: ``refund({"order": "<given in the task>"})``."""
    return f"{tool}({json.dumps(_bare(args, task), sort_keys=True, ensure_ascii=False)})"


def task_family(task: str, given: Iterable[Mapping[str, Any]] = ()) -> tuple[str, ...]:
    """The words that make a task one of its kind: without numbers, and without what calls took from it."""
    taken = {term for args in given for value in _values(args) if _stands(value, task) for term in terms(str(value))}
    found = {term for term in terms(task) if term not in taken and not any(map(str.isdigit, term))}
    return tuple(sorted(found))


def in_family(task: str, words: Collection[str]) -> bool:
    """Whether a task is of the family with these words."""
    own, known = set(task_family(task)), set(words)
    shared = len(own & known)
    return bool(known) and shared / len(known) >= _CONTAINED and shared / len(own | known) >= _ALIKE


def _bare(value: Any, task: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _bare(item, task) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_bare(item, task) for item in value]
    return FROM_TASK if _stands(value, task) else value


def _values(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _values(item)
    else:
        yield value


def _stands(value: Any, task: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    if len(text) < 2 and not text.isdigit():
        return False
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", task, re.IGNORECASE) is not None
