"""Small facts kept between jobs, in the database of the jobs: an agent's watermark, who is paused, who is at work.

DBOS keeps attributes with every workflow and changes them atomically, key by key. A note is a workflow that never runs:
it is put on a queue that nobody serves and cancelled at once, and from then on only carries its attributes. So there is
no second schema beside that of DBOS, and the same code serves PostgreSQL and SQLite.

All functions here block; call them in a thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longmind.worker.engine import DBOSClient

_KIND = "longmind.note"
_SHELF = "longmind-notes"
_AT_ONCE = 500


class Notes:
    """Notes by name."""

    def __init__(self, client: DBOSClient) -> None:
        self._client = client
        self._known: set[str] = set()

    def read(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Those of these notes that exist."""
        asked = list(dict.fromkeys(names))
        found: dict[str, dict[str, Any]] = {}
        for start in range(0, len(asked), _AT_ONCE):
            for row in self._rows(asked[start : start + _AT_ONCE]):
                found[row.workflow_id] = dict(row.attributes or {})
        self._known.update(found)
        return found

    def merge(self, name: str, values: Mapping[str, Any]) -> None:
        """Set these values of a note and leave its others as they are."""
        self._ensure(name)
        self._client.update_workflow_attributes(name, dict(values), merge=True)

    def replace(self, name: str, values: Mapping[str, Any]) -> None:
        """Let a note say this and nothing else."""
        self._ensure(name)
        self._client.update_workflow_attributes(name, dict(values))

    def _ensure(self, name: str) -> None:
        if name in self._known:
            return
        if not self._rows([name]):
            self._client.enqueue({"workflow_name": _KIND, "queue_name": _SHELF, "workflow_id": name})
            self._client.cancel_workflow(name)
        self._known.add(name)

    def _rows(self, names: Sequence[str]) -> Sequence[Any]:
        return self._client.list_workflows(workflow_ids=list(names), load_input=False, load_output=False)
