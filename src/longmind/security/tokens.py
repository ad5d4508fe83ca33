"""Tokens of an OpenID provider: who calls is told by the claims of a signed JWT."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

import httpx2
import jwt
from pydantic import ValidationError

from longmind.errors import StoreUnavailable, Unauthenticated
from longmind.security.keys import PREFIX
from longmind.security.principal import Authenticator, Credentials, Permission, Principal
from longmind.security.token_settings import TokenSettings, require_secure

_log = logging.getLogger(__name__)
_LONGEST_TOKEN = 16_000
_LONGEST_DOCUMENT = 1_000_000
_PERMISSIONS: tuple[Permission, ...] = ("read", "write", "admin")


class PublicKeys:
    """The public keys of a provider, fetched when they are needed."""

    def __init__(
        self,
        settings: TokenSettings,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._transport, self._now = settings, transport, now
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._turn = asyncio.Lock()

    async def find(self, kid: str | None) -> jwt.PyJWK:
        """Return a key by its id; ``Unauthenticated`` if the provider has none."""
        if self._expired():
            await self._fetch(self._settings.cache_seconds)
        key = self._lookup(kid)
        if key is None:  # the provider may have changed its keys
            await self._fetch(self._settings.refetch_seconds)
            key = self._lookup(kid)
        if key is None:
            raise Unauthenticated("The token is signed with a key that its issuer does not have.")
        return key

    def _lookup(self, kid: str | None) -> jwt.PyJWK | None:
        if kid is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(kid)

    def _expired(self) -> bool:
        return self._fetched_at is None or self._now() - self._fetched_at >= self._settings.cache_seconds

    async def _fetch(self, not_within: float) -> None:
        """Fetch the keys, unless that was tried a short time ago. Keys that were fetched last for a while longer."""
        async with self._turn:
            wait = self._settings.refetch_seconds if self._expired() else not_within
            tried = self._tried_at is not None and self._now() - self._tried_at < wait
            if not tried:
                self._tried_at = self._now()
                try:
                    self._keys = await self._read()
                    self._fetched_at = self._now()
                    return
                except (httpx2.HTTPError, jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
                    _log.warning("The keys of %s cannot be fetched: %s", self._settings.issuer, type(error).__name__)
            if self._fetched_at is None or self._now() - self._fetched_at > self._settings.stale_seconds:
                self._keys = {}
                raise StoreUnavailable("The keys of the issuer of the token cannot be fetched.", hint="Try again.")

    async def _read(self) -> dict[str, jwt.PyJWK]:
        async with httpx2.AsyncClient(transport=self._transport, timeout=5.0, follow_redirects=False) as client:
            url = self._settings.jwks_url
            if url is None:
                issuer = self._settings.issuer
                document = await _json(client, issuer.rstrip("/") + "/.well-known/openid-configuration")
                if document.get("issuer") != issuer:
                    raise ValueError("the document of another issuer")
                url = str(document["jwks_uri"])
                require_secure(url)
            listed = (await _json(client, url))["keys"]
        keys = {}
        for fields in listed:
            if fields.get("use", "sig") != "sig" or fields.get("kty") == "oct":
                continue
            try:
                key = jwt.PyJWK.from_dict(fields)
            except jwt.PyJWTError:  # of a kind that is not known here; others may be
                continue
            if key.algorithm_name in self._settings.algorithms:
                keys[str(fields.get("kid", ""))] = key
        return keys


async def _json(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    response = await client.get(url)
    response.raise_for_status()
    if len(response.content) > _LONGEST_DOCUMENT:
        raise ValueError("too long")
    document = json.loads(response.content)
    if not isinstance(document, dict):
        raise TypeError("no object")
    return document


class TokenAuthenticator:
    """Knows who makes a request by the token of a provider."""

    def __init__(self, settings: TokenSettings, keys: PublicKeys | None = None) -> None:
        self._settings = settings
        self._keys = keys or PublicKeys(settings)

    async def authenticate(self, credentials: Credentials) -> Principal:
        scheme, _, token = (credentials.authorization or "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or token.count(".") != 2 or len(token) > _LONGEST_TOKEN:
            raise Unauthenticated(hint="Send the header Authorization: Bearer TOKEN.")
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in self._settings.algorithms:
                raise Unauthenticated("The token is signed in a way that is not accepted.")
            kid = header.get("kid")
            key = await self._keys.find(kid if kid is None else str(kid))
            claims = jwt.decode(
                token,
                key,
                algorithms=list(self._settings.algorithms),
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=self._settings.leeway_seconds,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("The token has expired.", hint="Get a new one.") from None
        except jwt.PyJWTError as error:  # its text may quote the token
            raise Unauthenticated("The token is not valid here.", reason=type(error).__name__) from None
        return self._principal(claims)

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        settings = self._settings
        prefix = settings.permission_prefix
        words = _words(claims.get(settings.permissions_claim))
        permissions = {p for p in _PERMISSIONS if f"{prefix}{p}" in words}
        if not permissions:
            raise Unauthenticated(f"The token has no permission: {prefix}read, write or admin.")
        agents = claims.get(settings.agents_claim)
        user = claims.get(settings.user_claim) if settings.user_claim is not None else None
        if settings.user_claim is not None and not (isinstance(user, str) and user):
            raise Unauthenticated("The token names no user.")
        try:
            return Principal(
                tenant=settings.tenant or claims.get(settings.tenant_claim),
                permissions=frozenset(permissions),
                agents=None if agents is None else frozenset(_words(agents)),
                expires_at=datetime.fromtimestamp(claims["exp"], UTC),
                subject=str(claims["sub"])[:200],
                user=user,
            )
        except (ValidationError, OverflowError, OSError, ValueError):
            raise Unauthenticated("The token names no tenant that there could be.") from None


def _words(claim: object) -> set[str]:
    if isinstance(claim, str):
        return set(claim.split())
    if isinstance(claim, list) and all(isinstance(word, str) for word in claim):
        return set(cast("list[str]", claim))
    return set()


class KeysAndTokens:
    """Knows who makes a request by its API key, or else by its token."""

    def __init__(self, keys: Authenticator, tokens: Authenticator) -> None:
        self._keys, self._tokens = keys, tokens

    async def authenticate(self, credentials: Credentials) -> Principal:
        _, _, text = (credentials.authorization or "").partition(" ")
        authenticator = self._keys if text.strip().startswith(PREFIX) else self._tokens
        return await authenticator.authenticate(credentials)
