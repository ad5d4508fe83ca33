"""The journal of a memory as people read it: one entry an operation, and what each changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from longmind.types import Change

_NEVER = {"version", "access_count", "last_accessed_at", "interaction"}


def operations(changes: Sequence[Change]) -> list[tuple[str, list[Change]]]:
    """Return the changes of a memory by operation, the newest first."""
    grouped: dict[str, list[Change]] = {}
    for change in changes:
        grouped.setdefault(change.operation, []).append(change)
    return list(reversed(grouped.items()))


def changed_fields(lines: Sequence[Change]) -> Iterator[tuple[str, str, str]]:
    """Yield the fields that an operation changed: the name, what it was and what it is; links by their relation."""
    for change in lines:
        if change.link is not None:
            verb = "linked" if change.action == "link" else "no longer linked"
            yield verb, "", change.link.relation.replace("_", " ")
        elif change.action in ("delete", "erase"):
            yield "state", "", "forgotten"
        elif change.before is None and change.after is not None:
            yield "content", "", _said(change.after.get("content"))
        elif change.before is not None and change.after is not None:
            for name in change.after:
                if name not in _NEVER and change.before.get(name) != change.after[name]:
                    yield name, _said(change.before.get(name)), _said(change.after[name])


def _said(value: Any) -> str:
    if value in (None, "", [], {}, ()):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def source_ids(body: dict[str, Any], changes: Sequence[Change]) -> dict[str, list[tuple[int, int]]]:
    """Return the ids of what a memory was drawn from, each with the ranges of characters that say it, if known."""
    sources: dict[str, list[tuple[int, int]]] = {}
    for evidence in body.get("evidence") or ():
        if isinstance(evidence, dict) and evidence.get("memory"):
            spans = sources.setdefault(evidence["memory"], [])
            if evidence.get("span"):
                spans.append((evidence["span"][0], evidence["span"][1]))
    for turn in body.get("turns") or ():
        if isinstance(turn, dict) and turn.get("memory"):
            sources.setdefault(turn["memory"], [])
    for change in changes:
        link = change.link
        if link is None or link.relation != "derived_from" or link.source != change.memory_id:
            continue
        if change.action == "link":
            sources.setdefault(link.target, [])
        elif change.action == "unlink":
            sources.pop(link.target, None)
    return sources
