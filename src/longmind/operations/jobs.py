"""Durable jobs: what waits, runs and failed; and who consolidates the agents of the tenant."""

from longmind.operations.faces import JOBS
from longmind.operations.operation import Noun

_jobs = Noun("jobs", JOBS)

OPERATIONS = (
    _jobs.get("/consolidation", "status", name="consolidation.status"),
    _jobs.get("/agents/{agent}/jobs", "list", name="jobs.list_of_agent", required=("agent",)),
    _jobs.get("/jobs", "list", without=("agent",)),
    _jobs.post("/agents/{agent}/jobs", "ask", status=202),
    _jobs.get("/jobs/{id}", "get"),
    _jobs.get("/jobs/{id}/events", "watch"),
    _jobs.post("/jobs/{id}/retry", "retry", permission="admin", status=202),
    _jobs.post("/jobs/{id}/cancel", "cancel", permission="admin"),
)
