"""Procedures, their versions, and their runs. A run calls the tools that are registered in the server's process."""

from longmind.operations.faces import PROCEDURAL
from longmind.operations.operation import Noun

_procedures = Noun("procedures", PROCEDURAL)

OPERATIONS = (
    _procedures.post(
        "/procedures",
        "store",
        status=201,
        expected_version="expected",
        version="number",
        example={"procedure": {"name": "greet", "purpose": "Greet a guest.", "steps": [{"name": "a", "use": "say"}]}},
    ),
    _procedures.get("/procedures", "list"),
    _procedures.delete("/procedures", "clear"),
    _procedures.post("/procedures/search", "search", permission="read", result_name="hits", example={"query": "greet"}),
    _procedures.post("/procedures/check", "check", example={"procedure": "greet"}),
    _procedures.get("/procedures/{name}", "retrieve", version="number"),
    _procedures.delete("/procedures/{name}", "delete", status=204),
    _procedures.get("/procedures/{name}/versions", "versions"),
    _procedures.get("/procedures/{name}/diff", "diff"),
    _procedures.post("/procedures/{name}/rollback", "rollback", example={"why": "the new one fails"}),
    _procedures.put("/procedures/{name}/tags/{label}", "tag", example={"version": 1}),
    _procedures.delete("/procedures/{name}/tags/{label}", "untag"),
    _procedures.get("/procedures/{name}/statistics", "statistics"),
    _procedures.get("/procedures/{name}/decisions", "decisions"),
    _procedures.post("/procedures/{procedure}/outcomes", "learn", example={"outcome": True}),
    _procedures.post("/procedures/{name}/propose", "propose", example={"patch": {"purpose": "Greet a guest by name."}}),
    _procedures.post("/procedures/{name}/improve", "improve"),
    _procedures.post("/procedures/{name}/promote", "promote", example={"why": "it is better"}),
    _procedures.post("/procedures/{name}/withdraw", "withdraw", example={"why": "it is worse"}),
    _procedures.post("/procedures/{name}/distill", "distill", example={"task": "greet a guest"}),
    _procedures.post("/procedure-decisions/{decision}/undo", "undo"),
    _procedures.post(
        "/procedures/{name}/runs", "execute", status=201, idempotency="key", example={"params": {"guest": "Alice"}}
    ),
    _procedures.get("/procedures/{name}/runs/by-key/{key}", "find_run", none_is_missing=True),
    _procedures.get("/runs", "runs"),
    _procedures.get("/runs/{run}", "run"),
    _procedures.post("/runs/{run}/resume", "resume"),
    _procedures.post("/runs/{run}/cancel", "cancel"),
    _procedures.post("/runs/{run}/approval", "approve", example={"approved": True, "by": "alice"}),
)
