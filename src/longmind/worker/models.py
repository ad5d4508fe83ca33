"""What is remembered between jobs, and how a worker behaves."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from longmind.types import Model, Name


class Mark(Model):
    """What is remembered about an agent between its jobs."""

    head: int = 0
    """Up to where its journal has been consolidated."""
    paused: bool = False
    until: datetime | None = None
    """When to go on, though nothing was written: with what was put off, or what time alone makes necessary."""


class Swept(Model):
    """What a look at all agents found."""

    agents: int = 0
    queued: int = 0
    waiting: int = 0
    """Agents that had changed and whose job was there already."""
    paused: int = 0
    removed: int = 0
    """Old finished jobs that were removed."""


class WorkerOptions(Model):
    """How a worker behaves. ``cron``, ``at_once`` and ``poll_seconds`` hold for all workers of a store: the one that
    started last decides."""

    name: Name | None = None
    """A name that no other worker has at the same time; by default host, process and a random part."""
    cron: str = "0 */6 * * *"
    """When to look for agents that changed, in UTC: five fields, or six with the seconds first."""
    at_once: Annotated[int, Field(ge=1, le=1000)] = 8
    """How many agents a worker consolidates at the same time."""
    poll_seconds: Annotated[float, Field(ge=0.01, le=60)] = 0.2
    """How often a worker asks for waiting jobs."""
    lease_seconds: Annotated[float, Field(ge=1, le=3600)] = 15.0
    """How long a worker may be silent before the others take its jobs over."""
    attempts: Annotated[int, Field(ge=1, le=100)] = 4
    """How often a job is tried before it counts as failed."""
    wait_seconds: Annotated[float, Field(ge=0, le=3600)] = 1.0
    """How long to wait after the first attempt; each further wait is four times as long."""
    after: Annotated[int, Field(ge=1)] | None = 50
    """Changes of an agent, written in the worker's own process, that ask for a job at once; None leaves it to the
    schedule."""
    keep_days: Annotated[float, Field(ge=0)] = 30.0
    """How long finished jobs are kept."""
    grace_seconds: Annotated[int, Field(ge=1, le=86_400)] = 60
    """How long a worker that is told to stop waits for its running jobs. Others take over what is unfinished then."""
