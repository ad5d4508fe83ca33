"""Who consolidates the agents of the tenant, and how that goes."""

from __future__ import annotations

from longmind.console.parts.elements import box, text
from longmind.console.parts.figures import plural
from longmind.console.parts.times import time_ago
from longmind.console.view import View
from longmind.jobs import ConsolidationStatus, Pass, QueueStatus, ServiceStatus

_SHOWN = 5


async def read_job_health(view: View) -> ConsolidationStatus | None:
    """Return how consolidation stands; None if it is not for who looks: it is of all agents and users."""
    principal = view.principal
    if principal.agents is not None or (principal.user is not None and not view.may_administer):
        return None
    return await view.longmind.jobs().status()


def job_health(status: ConsolidationStatus) -> None:
    """Show the service of the server and the durable jobs, or that there is neither."""
    with box("div", "lm-stack"):
        if status.service is None and status.queue is None:
            text(
                "Nobody consolidates by itself: this server does not, and no worker has served the store."
                " Start one: longmind worker.",
                "",
                "p",
            )
        if status.service is not None:
            _service(status.service)
        if status.queue is not None:
            _queue(status.queue)


def _row(name: str, value: str) -> None:
    with box("div", "lm-slider-head"):
        text(name, "")
        text(value, "lm-num")


def _service(service: ServiceStatus) -> None:
    text("In this server", "", "h3")
    last = service.last
    if service.agent is not None:
        _row("At work on", service.agent)
    if last is None:
        text("The first pass has not begun.", "lm-note", "p")
        return
    with box("div", "lm-slider-head"):
        text("Last pass", "")
        time_ago(last.finished_at or last.started_at)
    _row("Consolidated", plural(last.consolidated, "agent"))
    if last.paused:
        _row("Paused", plural(last.paused, "agent"))
    if last.put_off:
        _row("Put off", plural(last.put_off, "agent"))
    _failures(last)


def _failures(last: Pass) -> None:
    _row("Failed", plural(len(last.failures), "agent"))
    if last.error is not None:
        text(f"The pass ended early: {last.error.error}", "lm-note lm-wrap", "p")
    for failure in last.failures[:_SHOWN]:
        text(f"{failure.agent}: {failure.error}", "lm-note lm-wrap", "p")


def _queue(queue: QueueStatus) -> None:
    text("By workers", "", "h3")
    if queue.paused:
        text("Paused for all agents: longmind jobs resume.", "", "p")
    _row("Waiting", plural(queue.waiting, "job"))
    if queue.waiting_since is not None:
        with box("div", "lm-slider-head"):
            text("The oldest waits since", "")
            time_ago(queue.waiting_since)
    _row("Running", plural(queue.running, "job"))
    _row("Failing", plural(len(queue.failing), "agent"))
    for agent in queue.failing[:_SHOWN]:
        text(agent, "lm-note lm-wrap", "p")
