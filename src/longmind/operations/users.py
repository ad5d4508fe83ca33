"""The users with whom an agent has memories."""

from longmind.operations.faces import AGENT
from longmind.operations.operation import Noun

_agent = Noun("users", AGENT)

OPERATIONS = (_agent.get("/users", "users", name="users.list", result_name="users"),)
