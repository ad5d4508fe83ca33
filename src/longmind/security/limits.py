"""Rate limits: a token bucket for each key, and for each address that fails to authenticate."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from longmind.errors import RateLimited
from longmind.security.principal import Credentials, Principal

_KEPT = 10_000


class TokenBuckets:
    """Buckets by name. Each holds ``burst`` tokens and gains ``per_second`` of them; a request takes one."""

    def __init__(self, per_second: float, burst: int, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._now = per_second, float(burst), now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, name: str) -> float:
        """Return in how many seconds the bucket has a token; 0 if it has one now."""
        return max(0.0, (1 - self._level(name)) / self._rate)

    def take(self, name: str) -> float:
        """Take a token and return 0, or, if there is none, return in how many seconds there is one."""
        level = self._level(name)
        if level < 1:
            return (1 - level) / self._rate
        self._buckets[name] = (level - 1, self._now())
        self._buckets.move_to_end(name)
        if len(self._buckets) > _KEPT:
            self._buckets.popitem(last=False)
        return 0.0

    def _level(self, name: str) -> float:
        level, at = self._buckets.get(name, (self._burst, self._now()))
        return min(self._burst, level + (self._now() - at) * self._rate)


class RateLimits:
    """The limits of a server process: requests of a key, and failed authentications of an address."""

    def __init__(self, keys: TokenBuckets | None, failures: TokenBuckets | None) -> None:
        self._keys, self._failures = keys, failures

    def before(self, credentials: Credentials) -> None:
        """Refuse an address that failed to authenticate too often, before its key is looked at."""
        if self._failures is not None and (seconds := self._failures.wait(credentials.address or "")):
            raise _limited(seconds, "There were too many requests without a valid key from this address.")

    def failed(self, credentials: Credentials) -> None:
        """Count a request that nobody was known by."""
        if self._failures is not None:
            self._failures.take(credentials.address or "")

    def count(self, principal: Principal) -> None:
        """Count a request of a key, or of the subject of a token; refuse it if there were too many."""
        name = principal.key_id or principal.subject
        if self._keys is not None and name is not None and (seconds := self._keys.take(f"{principal.tenant}/{name}")):
            raise _limited(seconds, None)


def _limited(seconds: float, message: str | None) -> RateLimited:
    wait = max(1, math.ceil(seconds))
    return RateLimited(message, hint=f"Try again in {wait} s.", retry_after=wait)
