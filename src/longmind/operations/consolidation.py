"""Consolidation: turn experience into knowledge."""

from longmind.operations.faces import AGENT
from longmind.operations.operation import Noun

_consolidation = Noun("consolidation", AGENT)

OPERATIONS = (
    _consolidation.post(
        "/consolidation", "consolidate", progress={"stage": str, "share": float}, example={"dry_run": True}
    ),
)
