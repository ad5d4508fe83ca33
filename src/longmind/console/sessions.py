"""Who is signed in: the keys of the browsers that gave one, kept in this process and nowhere else."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

COOKIE = "longmind_console"
LIFETIME_SECONDS = 12 * 3600
_KEPT = 1_000


@dataclass(eq=False, slots=True)
class Session:
    """A browser that is signed in, or with no key one on the machine of a server that asks for none."""

    key: str | None
    ends_at: float
    """On the monotonic clock."""
    signed_out: bool = False


class Sessions:
    """The sessions of a server. A browser knows its own by a random id in a cookie; the key never leaves the server."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def sign_in(self, key: str) -> str:
        """Return the id of a new session."""
        id = secrets.token_urlsafe(32)
        self._sessions[id] = Session(key, self._now() + LIFETIME_SECONDS)
        while len(self._sessions) > _KEPT:
            self._sessions.popitem(last=False)[1].signed_out = True
        return id

    def get(self, id: str | None) -> Session | None:
        """Return a session that has not ended."""
        session = self._sessions.get(id) if id else None
        if id and session is not None and session.ends_at <= self._now():
            self.sign_out(id)
            return None
        return session

    def sign_out(self, id: str | None) -> None:
        """End a session. Pages that are open with it reach nothing any more."""
        if id and (session := self._sessions.pop(id, None)) is not None:
            session.signed_out = True
            session.key = None
