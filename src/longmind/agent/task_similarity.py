"""Similar tasks (a family) and similar calls (a shape).

Tasks of one family differ only in their subject ("refund order 17", "refund order 23"), and so do the arguments of
their calls. So the subject of a task is left out before tasks are compared: paths, addresses, ids, numbers, dates,
quoted texts, and long passages to work on. An argument that occurs in the task is not part of a call's shape either. So
what was learnt with one order, or one file, applies to the next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from longmind.text.analysis import terms, words
from longmind.text.vocabulary import CALENDAR_WORDS

FROM_TASK = "<given in the task>"
_CONTAINED, _ALIKE = 0.75, 0.4
_PASSAGE = 25
"""A paragraph of more words than this, beside a shorter one, is something to work on and no instruction."""
_READ = 20_000
"""Characters of a task that are read."""

_QUOTED = re.compile(
    r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|(?<!\w)'[^'\n]*'(?!\w)",
    re.DOTALL,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_TOKEN = re.compile(r"\S+")
_FILE = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,9}")
_ROOTED = re.compile(r"(?:[A-Za-z]:|~|\.{1,2})?[\\/]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_EDGES = " \t\n,;:!?()[]{}<>\"'“”"
_PARTS = re.compile(r"\n+|:\s+")


def call_shape(tool: str, args: Mapping[str, Any], task: str) -> str:
    """Return a call with the arguments from the task replaced: ``refund({"order": "<given in the task>"})``."""
    return f"{tool}({json.dumps(_without_task_values(args, task), sort_keys=True, ensure_ascii=False)})"


def without_subject(task: str) -> str:
    """Return what a task asks for, without what it is about; the task itself if nothing else is in it.

    Left out are quoted texts, addresses, paths and file names, ids, numbers and dates, and passages of text.
    """
    read = task[:_READ]
    asked = _ADDRESS.sub(" ", _QUOTED.sub(" ", read))
    asked = " ".join(token for token in _TOKEN.findall(_without_passages(asked)) if not _is_argument(token))
    return asked if terms(asked) else " ".join(read.split())


def task_family(task: str, calls: Iterable[Mapping[str, Any]] = ()) -> tuple[str, ...]:
    """Return the words that identify a kind of task: without its subject, and without the arguments of its calls."""
    taken = {term for args in calls for value in _values(args) if _occurs(value, task) for term in terms(str(value))}
    kept = {term for term in terms(without_subject(task)) if not any(map(str.isdigit, term))}
    return tuple(sorted(kept - taken or kept))


def in_family(task: str, words: Collection[str]) -> bool:
    """Whether a task belongs to the family with these words."""
    own, known = set(task_family(task)), set(words)
    shared = len(own & known)
    return bool(known) and shared / len(known) >= _CONTAINED and shared / len(own | known) >= _ALIKE


def _without_passages(text: str) -> str:
    """Leave out long paragraphs, unless there is nothing else; then keep the beginning of the first."""
    parts = [part for part in _PARTS.split(text) if part.strip()]
    short = [part for part in parts if len(part.split()) <= _PASSAGE]
    if short or not parts:
        return "\n".join(short)
    return " ".join(parts[0].split()[:_PASSAGE])


def _is_argument(token: str) -> bool:
    """Whether a word of a task is a path, a file, an id, a number or a part of a date."""
    bare = token.strip(_EDGES).rstrip(".")
    if any(map(str.isdigit, bare)) or "_" in bare or _CAMEL.search(bare):
        return True
    if "/" in bare or "\\" in bare:  # and not "and/or"
        return bool(_ROOTED.match(bare)) or not bare.replace("/", "").isalpha() or bare.count("/") > 1
    return bool(_FILE.fullmatch(bare)) or bool(CALENDAR_WORDS.intersection(words(bare)))


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
