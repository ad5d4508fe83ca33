"""API keys: how one is made, checked, listed and revoked."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from longmind.clock import Clock, SystemClock, as_utc
from longmind.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from longmind.security.principal import Credentials, Permission, Principal
from longmind.types import Model, Name

if TYPE_CHECKING:
    from longmind.security.access_store import AccessStore

PREFIX = "lm_"
MAX_KEYS = 1_000
"""How many keys of a tenant can be valid at the same time."""
_KEY = re.compile(r"lm_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_CACHED = 10_000
_USED_EVERY = timedelta(minutes=1)
_NO_DIGEST = "0" * 64


class ApiKey(Model):
    """A key as it is stored: whose it is and what it allows. The key itself is not kept."""

    id: str
    name: Name
    tenant: Name
    permissions: frozenset[Permission]
    agents: frozenset[str] | None = None
    """The agents that it may reach; None for all of the tenant."""
    created_at: datetime
    created_by: str | None = None
    """The id of the key that made it; None if it was made on the command line."""
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """When it was last used, to about a minute."""

    def is_valid(self, now: datetime) -> bool:
        """Return whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class NewKey(ApiKey):
    """A key that was just made."""

    key: str
    """The key itself. It is shown this once."""


def digest_of(key: str) -> str:
    """Return what is stored of a key. It is random and long, so a plain hash cannot be guessed."""
    return hashlib.sha256(key.encode()).hexdigest()


class KeyAdministration:
    """The keys of a tenant.

    ``principal`` is who asks, and gives no more than it has; None is the operator of the store.
    """

    def __init__(
        self, store: AccessStore, tenant: str, principal: Principal | None = None, clock: Clock | None = None
    ) -> None:
        self._store = store
        self._tenant = tenant
        self._principal = principal
        self._clock = clock or SystemClock()

    async def create(
        self,
        name: Name,
        *,
        permissions: Collection[Permission] = ("read", "write"),
        agents: Collection[Name] | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Make a key. The result holds the key itself, which is shown this once.

        ``agents`` are those that it may reach, all by default. It cannot have more than the key that makes it.
        """
        now = self._clock.now()
        until = None if expires_at is None else as_utc(expires_at)
        if not permissions:
            raise InvalidInput("A key needs a permission.", hint="Give read, write or admin.", field="permissions")
        if agents is not None and not agents:
            raise InvalidInput("A key needs an agent.", hint="Leave agents out to allow all.", field="agents")
        if until is not None and until <= now:
            raise InvalidInput("The key would have expired already.", field="expires_at")
        self._require_own(permissions, agents, until)
        valid = [key for key in await self._store.list_keys(self._tenant) if key.is_valid(now)]
        if len(valid) >= MAX_KEYS:
            raise InvalidInput(f"The tenant has {MAX_KEYS:,} valid keys.", hint="Revoke some that are not used.")
        id = secrets.token_hex(8)
        key = f"{PREFIX}{id}_{secrets.token_urlsafe(32)}"
        record = ApiKey(
            id=id,
            name=name,
            tenant=self._tenant,
            permissions=frozenset(permissions),
            agents=None if agents is None else frozenset(agents),
            created_at=now,
            created_by=self._principal.key_id if self._principal else None,
            expires_at=until,
        )
        await self._store.add_key(record, digest_of(key))
        return NewKey(**dict(record), key=key)

    async def list(self) -> list[ApiKey]:
        """List the keys of the tenant, the newest first, with those that were revoked."""
        return await self._store.list_keys(self._tenant)

    async def get(self, id: str) -> ApiKey:
        """Return a key by its id."""
        for key in await self._store.list_keys(self._tenant):
            if key.id == id:
                return key
        raise NotFound("There is no such key here.", hint="`longmind keys list` shows them.")

    async def revoke(self, id: str) -> ApiKey:
        """Make a key invalid for good, in every process within seconds. It stays in the list."""
        key = await self._store.revoke_key(self._tenant, id, self._clock.now())
        if key is None:
            raise NotFound("There is no such key here.", hint="`longmind keys list` shows them.")
        return key

    def _require_own(
        self, permissions: Collection[Permission], agents: Collection[str] | None, until: datetime | None
    ) -> None:
        """Refuse to give what the principal does not have."""
        own = self._principal
        if own is None:
            return
        if not all(map(own.allows, permissions)):
            raise Forbidden("A key cannot give permissions that it does not have.")
        if own.agents is not None and (agents is None or not own.agents.issuperset(agents)):
            raise Forbidden("A key cannot reach agents that the one that makes it does not reach.")
        if own.expires_at is not None and (until is None or until > own.expires_at):
            raise Forbidden("A key cannot be valid longer than the one that makes it.", hint="Set expires_at.")


class KeyAuthenticator:
    """Knows who makes a request by its API key.

    What was read of a key is trusted for ``cache_seconds``: so long a revoked key may still work in another process.
    """

    def __init__(self, store: AccessStore, *, cache_seconds: float = 2.0, clock: Clock | None = None) -> None:
        self._store = store
        self._seconds = cache_seconds
        self._clock = clock or SystemClock()
        self._known: OrderedDict[str, tuple[float, ApiKey | None, str]] = OrderedDict()

    async def authenticate(self, credentials: Credentials) -> Principal:
        scheme, _, text = (credentials.authorization or "").partition(" ")
        matched = _KEY.fullmatch(text.strip()) if scheme.lower() == "bearer" else None
        if matched is None:
            raise Unauthenticated(hint="Send the header Authorization: Bearer KEY.")
        key, digest = await self._find(matched[1])
        same = hmac.compare_digest(digest, digest_of(matched[0]))  # also for an id that does not exist
        if key is None or not same or not key.is_valid(self._clock.now()):
            raise Unauthenticated(hint="The key is not valid here: check it, or ask for a new one.")
        return Principal.model_construct(
            tenant=key.tenant,
            permissions=key.permissions,
            agents=key.agents,
            key_id=key.id,
            expires_at=key.expires_at,
            subject=None,
            user=None,
        )

    async def _find(self, id: str) -> tuple[ApiKey | None, str]:
        now = time.monotonic()
        cached = self._known.get(id)
        if cached is not None and now - cached[0] < self._seconds:
            return cached[1], cached[2]
        key, digest = await self._store.find_key(id) or (None, _NO_DIGEST)
        self._known[id] = (now, key, digest)
        self._known.move_to_end(id)
        while len(self._known) > _CACHED:
            self._known.popitem(last=False)
        if key is not None:
            await self._note_use(key)
        return key, digest

    async def _note_use(self, key: ApiKey) -> None:
        now = self._clock.now()
        if key.is_valid(now) and (key.last_used_at is None or now - key.last_used_at > _USED_EVERY):
            await self._store.touch_key(key.tenant, key.id, now)
