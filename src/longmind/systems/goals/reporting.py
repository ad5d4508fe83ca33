"""Record what monitoring finds as events of episodic memory, each problem once for as long as it lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from longmind.store.base import AddLink, Put, Write
from longmind.systems.episodic import EpisodeBody, EpisodeWriter, EventDraft, begin_writes
from longmind.systems.goals.models import Finding, Goal
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Link, Model

_KEY = "goals:findings"
_TITLE = 150
_GRAVITY = {"deadline_risk": 0.7, "stall": 0.7}


class OpenFindings(Model):
    """The problems that were there when monitoring last looked."""

    fingerprints: tuple[str, ...] = ()


async def report_findings(
    scoped: ScopedStore, goals: Sequence[Goal], findings: Sequence[Finding]
) -> tuple[Finding, ...]:
    """Record the problems that were not there before, for the user of each goal; return these."""
    users = {goal.id: goal.user for goal in goals}
    new: list[Finding] = []
    for user in dict.fromkeys(users.values()):
        own = replace(scoped, scope=scoped.scope.of_user(user))
        of_user = [finding for finding in findings if users[finding.goal] == user]
        new += await _report(own, {goal.id: goal for goal in goals}, of_user)
    return tuple(new)


async def _report(scoped: ScopedStore, goals: dict[str, Goal], findings: Sequence[Finding]) -> list[Finding]:
    async def attempt() -> list[Finding]:
        record = KeyedRecord.of_user(scoped, _KEY, OpenFindings())
        known = frozenset((await record.read()).fingerprints)
        new = [finding for finding in findings if _fingerprint(finding) not in known]
        there = record.write(OpenFindings(fingerprints=tuple(sorted({_fingerprint(each) for each in findings}))))
        writes: list[Write] = [] if there is None else [there]
        for goal, of_goal in groupby(new, key=lambda finding: finding.goal):
            writes += _episode(scoped, goals[goal], list(of_goal))
        if writes:
            await scoped.rewrite(writes, "goals monitored")
        return new

    return await retry_on_conflict(attempt)


def _episode(scoped: ScopedStore, goal: Goal, findings: Sequence[Finding]) -> list[Write]:
    """Return the writes of an episode with one event for each problem of a goal."""
    now = max(finding.at for finding in findings)
    writer = EpisodeWriter(scoped)
    details = " ".join(finding.detail for finding in findings)
    body = validated(
        EpisodeBody,
        {
            "title": f"Problems with the goal: {goal.description[:_TITLE]}",
            "type": "monitoring",
            "description": details,
            "end": now,
            "recorded": len(findings),
            "latest": now,
            "covers": now,
            "attributes": {"goal": goal.id},
        },
    )
    episode = writer.new_episode(body, min(finding.at for finding in findings))
    writes: list[Write] = [*begin_writes(episode)]
    for finding in findings:
        draft = EventDraft(
            what=finding.detail,
            type="finding",
            at=finding.at,
            data=finding.model_dump(mode="json", exclude={"at"}),
            importance=_GRAVITY.get(finding.kind, 0.8),
            valence=-0.5,
        )
        event = writer.new_event(episode, draft)
        writes += [Put(event), AddLink(Link(source=event.id, relation="part_of", target=episode.id))]
    return [*writes, AddLink(Link(source=episode.id, relation="about", target=goal.id))]


def _fingerprint(finding: Finding) -> str:
    return ":".join((finding.goal, finding.plan, finding.kind, finding.step or ""))
