"""Counting the supporters of a statement by fingerprints, which cannot be read back.

Different users are independent, whichever agent they talk to, and so are agents that know something by themselves. An
agent is not counted in addition to its users.
"""

from __future__ import annotations

from hashlib import sha256
from hmac import new as keyed

from longmind.systems.shared.models import SharedBody, Supporter
from longmind.types import Json, Scope

_DIGITS = 24


def fingerprint_scope(scope: Scope, salt: str) -> Supporter:
    """Return the fingerprints of a scope. The salt is the candidate's own, so candidates cannot be compared."""
    user = None if scope.user is None else _fingerprint(salt, "user", scope.user)
    return Supporter(agent=_fingerprint(salt, "agent", scope.agent), user=user)


def is_supporter(supporter: Supporter, salt: str, *, user: str | None, agent: str | None) -> bool:
    """Return whether a supporter is this user, with whichever agent, or this agent, with whichever user."""
    if user is not None:
        return supporter.user == _fingerprint(salt, "user", user)
    return agent is not None and supporter.agent == _fingerprint(salt, "agent", agent)


def is_supported(body: Json | None, *, user: str | None, agent: str | None) -> bool:
    """Return whether a body, as the journal keeps it, counts this user or agent as a supporter."""
    if not body or "salt" not in body:
        return False
    supporters = [Supporter.model_validate(s) for s in body.get("supporters", ())]
    return any(is_supporter(s, body["salt"], user=user, agent=agent) for s in supporters)


def _fingerprint(salt: str, what: str, name: str) -> str:
    return keyed(salt.encode(), f"{what}:{name}".encode(), sha256).hexdigest()[:_DIGITS]


def count_users(body: SharedBody) -> int:
    """Return the number of users that support it."""
    return len({supporter.user for supporter in body.supporters if supporter.user is not None})


def count_agents(body: SharedBody) -> int:
    """Return the number of agents that support it, by themselves or with a user."""
    return len({supporter.agent for supporter in body.supporters})


def count_independent(body: SharedBody) -> int:
    """Return the number of independent scopes that support it."""
    with_users = {supporter.agent for supporter in body.supporters if supporter.user is not None}
    alone = {supporter.agent for supporter in body.supporters if supporter.user is None} - with_users
    return count_users(body) + len(alone)
