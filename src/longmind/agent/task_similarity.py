"""Similar tasks (a family) and similar calls (a shape).

Tasks of one family differ only in their subject ("refund order 17", "refund order 23"), and so do the arguments of
their calls. An argument that occurs in the task is therefore not part of a call's shape, and its words are not part of
the family. So what was learnt with one order applies to the next.
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
    """Return a call with the arguments from the task replaced: ``refund({"order": "<given in the task>"})``."""
    return f"{tool}({json.dumps(_without_task_values(args, task), sort_keys=True, ensure_ascii=False)})"


def task_family(task: str, calls: Iterable[Mapping[str, Any]] = ()) -> tuple[str, ...]:
    """Return the words that identify a kind of task: without numbers, and without the arguments of its calls."""
    taken = {term for args in calls for value in _values(args) if _occurs(value, task) for term in terms(str(value))}
    words = {term for term in terms(task) if term not in taken and not any(map(str.isdigit, term))}
    return tuple(sorted(words))


def in_family(task: str, words: Collection[str]) -> bool:
    """Whether a task belongs to the family with these words."""
    own, known = set(task_family(task)), set(words)
    shared = len(own & known)
    return bool(known) and shared / len(known) >= _CONTAINED and shared / len(own | known) >= _ALIKE


def _without_task_values(value: Any, task: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_task_values(item, task) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_task_values(item, task) for item in value]
    return FROM_TASK if _occurs(value, task) else value


def _values(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _values(item)
    else:
        yield value


def _occurs(value: Any, task: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    if len(text) < 2 and not text.isdigit():
        return False
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", task, re.IGNORECASE) is not None
