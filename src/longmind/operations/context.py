"""Context: what matters for a task, ready for a prompt."""

from longmind.operations.faces import AGENT
from longmind.operations.operation import Noun

_context = Noun("context", AGENT)

OPERATIONS = (
    _context.post("/context", "context", permission="read", example={"task": "plan her trip", "tokens": 1500}),
    _context.post(
        "/context/lines",
        "context_lines",
        permission="read",
        result_name="lines",
        example={"task": "plan her trip", "tokens": 1500},
    ),
)
