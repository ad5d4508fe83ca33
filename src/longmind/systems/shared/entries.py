"""The records of shared memory: their keys, their stored fields, and how support decides their status."""

from __future__ import annotations

from dataclasses import replace
from secrets import token_hex

from longmind.store.base import Delete, Put, Update, Write
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.shared.models import (
    AGENT,
    KNOWLEDGE,
    About,
    SharedBody,
    SharedKnowledge,
    SharedSettings,
    Status,
    Supporter,
)
from longmind.systems.shared.support import (
    count_agents,
    count_independent,
    count_users,
    fingerprint_scope,
    has_room,
)
from longmind.types import Json, Memory, Scope, Source, State

NAME = "shared"
_STATES: dict[Status, State] = {"pending": "quarantined", "approved": "active", "rejected": "quarantined"}
_TRUST = 0.6
_SOURCE = Source(role="system")


def shared_store(scoped: ScopedStore) -> ScopedStore:
    """Return the store of the tenant's shared memory."""
    return replace(scoped, scope=Scope(tenant=scoped.scope.tenant, agent=AGENT))


def add_support(
    store: ScopedStore,
    supporter: Scope,
    text: str,
    key: str,
    about: About,
    record: Memory | None,
    settings: SharedSettings,
) -> tuple[Memory, Write | None]:
    """Return a statement with the support of a scope added, and the write that stores it; None if nothing changes."""
    now = store.now()
    if record is None:
        salt = token_hex(16)
        body = SharedBody(about=about, salt=salt, supporters=(fingerprint_scope(supporter, salt),), last_at=now)
        new = store.new(
            KNOWLEDGE, text, key=key, trust=_TRUST, source=_SOURCE, **fields(decided(body, settings), settings)
        )
        return new, Put(new, existing="fail")
    body = SharedBody.read(record)
    mine = fingerprint_scope(supporter, body.salt)
    if mine in body.supporters or not has_room(body, mine):
        return record, None
    more = body.model_copy(update={"supporters": (*body.supporters, mine), "last_at": now})
    changes = fields(decided(more, settings), settings)
    return record.model_copy(update=changes), Update(record.id, changes, expected_version=record.version)


def with_supporters(record: Memory, body: SharedBody, left: tuple[Supporter, ...], settings: SharedSettings) -> Write:
    """Return the write that keeps only these supporters; a statement that has none and was not reviewed is erased."""
    if not left and body.by != "review":
        return Delete(record.id, record.version, erase=True)
    updated = decided(body.model_copy(update={"supporters": left}), settings)
    return Update(record.id, fields(updated, settings), expected_version=record.version)


def decided(body: SharedBody, settings: SharedSettings) -> SharedBody:
    """Return the body with the status that its support gives it, unless a review decided it."""
    if body.by == "review":
        return body
    enough = count_independent(body, authenticated_users=settings.authenticated_users) >= settings.support
    if body.status == "approved" and not enough:
        return body.model_copy(update={"status": "pending", "by": None})
    if body.status == "pending" and enough and not settings.approval:
        return body.model_copy(update={"status": "approved", "by": "support"})
    return body


def fields(body: SharedBody, settings: SharedSettings) -> Json:
    """Return the fields of a record that depend on its body."""
    support = count_independent(body, authenticated_users=settings.authenticated_users)
    return {
        "body": body.model_dump(mode="json"),
        "state": _STATES[body.status],
        "metadata": {"status": body.status, "support": support, "about": body.about},
    }


def as_shared(record: Memory) -> SharedKnowledge:
    """Return a record as callers see it."""
    body = SharedBody.read(record)
    return SharedKnowledge(
        id=record.id,
        text=record.content,
        about=body.about,
        status=body.status,
        by=body.by,
        note=body.note,
        support=record.metadata["support"],
        agents=count_agents(body),
        users=count_users(body),
        first_at=record.recorded_at,
        last_at=body.last_at,
    )
