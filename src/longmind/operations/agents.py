"""Agents, what they hold, and the users of each."""

from longmind.operations.faces import AGENT, LONGMIND
from longmind.operations.operation import Noun

_tenant = Noun("agents", LONGMIND)
_agent = Noun("agents", AGENT)

OPERATIONS = (
    _tenant.get("/agents", "agents", name="agents.list"),
    _agent.get("/stats", "stats"),
    _agent.get("/growth", "growth"),
)
