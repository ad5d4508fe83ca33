"""State that workers share in the database of the jobs: watermarks of agents, pauses, and which workers are alive.

DBOS keeps attributes with every workflow and changes them atomically, key by key. A named state is a workflow that
never runs: it is put on a queue that nobody serves, cancelled at once, and keeps its attributes. So there is no
second schema beside that of DBOS, and the same code serves PostgreSQL and SQLite.

All functions here block; call them in a thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longmind.worker.engine import DBOSClient

_KIND = "longmind.note"
_UNSERVED_QUEUE = "longmind-notes"
_BATCH = 500


class SharedState:
    """Small dictionaries of values, by name."""

    def __init__(self, client: DBOSClient) -> None:
        self._client = client
        self._known: set[str] = set()

    def read(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the values of those names that exist."""
        asked = list(dict.fromkeys(names))
        found: dict[str, dict[str, Any]] = {}
        for start in range(0, len(asked), _BATCH):
            for row in self._rows(asked[start : start + _BATCH]):
                found[row.workflow_id] = dict(row.attributes or {})
        self._known.update(found)
        return found

    def merge(self, name: str, values: Mapping[str, Any]) -> None:
        """Set these values of a name and leave its others as they are."""
        self._ensure(name)
        self._client.update_workflow_attributes(name, dict(values), merge=True)

    def replace(self, name: str, values: Mapping[str, Any]) -> None:
        """Replace all values of a name."""
        self._ensure(name)
        self._client.update_workflow_attributes(name, dict(values))

    def _ensure(self, name: str) -> None:
        if name in self._known:
            return
        if not self._rows([name]):
            self._client.enqueue({"workflow_name": _KIND, "queue_name": _UNSERVED_QUEUE, "workflow_id": name})
            self._client.cancel_workflow(name)
        self._known.add(name)

    def _rows(self, names: Sequence[str]) -> Sequence[Any]:
        return self._client.list_workflows(workflow_ids=list(names), load_input=False, load_output=False)
