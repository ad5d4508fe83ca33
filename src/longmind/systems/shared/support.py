"""Counting the supporters of a statement by fingerprints, which cannot be read back.

Support counts only what a caller cannot invent at will. An agent is one supporter, whatever user ids it names. Where an
administrator said that user ids are authenticated, different users are independent, whichever agent they talk to, and
so are agents that know something by themselves; then an agent is not counted in addition to its users.
"""

from __future__ import annotations

from hashlib import sha256
from hmac import new as keyed

from longmind.systems.shared.models import MAX_SUPPORT, SharedBody, Supporter
from longmind.types import Json, Scope

_DIGITS = 24
MAX_USERS_OF_AGENT = 1_000
"""User ids of one agent that are kept for a statement, so that no agent alone can use up the room for supporters."""


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


def has_room(body: SharedBody, supporter: Supporter) -> bool:
    """Return whether a further supporter is kept."""
    of_agent = sum(other.agent == supporter.agent for other in body.supporters)
    return of_agent < MAX_USERS_OF_AGENT and len(body.supporters) < MAX_SUPPORT


def _fingerprint(salt: str, what: str, name: str) -> str:
    return keyed(salt.encode(), f"{what}:{name}".encode(), sha256).hexdigest()[:_DIGITS]


def count_users(body: SharedBody) -> int:
    """Return the number of user ids that support it."""
    return len({supporter.user for supporter in body.supporters if supporter.user is not None})


def count_agents(body: SharedBody) -> int:
    """Return the number of agents that support it, by themselves or with a user."""
    return len({supporter.agent for supporter in body.supporters})


def count_independent(body: SharedBody, *, authenticated_users: bool) -> int:
    """Return how many support it independently of each other."""
    if not authenticated_users:
        return count_agents(body)
    with_users = {supporter.agent for supporter in body.supporters if supporter.user is not None}
    alone = {supporter.agent for supporter in body.supporters if supporter.user is None} - with_users
    return count_users(body) + len(alone)
