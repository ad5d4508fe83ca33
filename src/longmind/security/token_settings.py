"""Which OpenID provider's tokens are accepted. What checks them is in ``tokens``, and loads the libraries for it."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from longmind.errors import InvalidSetting
from longmind.security.principal import is_loopback
from longmind.types import Model, Name

Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]  # only those with a public key: with a shared one, who can check a token can make one


class TokenSettings(Model):
    """The OpenID provider whose tokens are accepted, and what their claims mean."""

    issuer: str
    """The provider's address, as it is in its tokens."""
    audience: str
    """Whom the tokens must be for."""
    jwks_url: str | None = None
    """Where its public keys are; by default its discovery document says it."""
    algorithms: Annotated[tuple[Algorithm, ...], Field(min_length=1)] = ("RS256", "PS256", "ES256", "EdDSA")
    leeway_seconds: Annotated[float, Field(ge=0, le=600)] = 30.0
    """How far the clocks may differ."""
    tenant: Name | None = None
    """The tenant of all tokens; by default the claim says it."""
    tenant_claim: str = "tenant"
    permissions_claim: str = "scope"
    """Words apart or a list; those that begin with the prefix count: ``longmind:read``."""
    permission_prefix: str = "longmind:"
    agents_claim: str = "agents"
    """A list of agents that the token may reach; without the claim, all."""
    user_claim: str | None = None
    """The claim with the only user whose memories the token may reach; by default every user's."""
    cache_seconds: Annotated[float, Field(gt=0, le=86_400)] = 600.0
    """How long the provider's keys are used before they are fetched again."""
    refetch_seconds: Annotated[float, Field(ge=0, le=3_600)] = 10.0
    """How often, at most, a token with an unknown key has the keys fetched again."""
    stale_seconds: Annotated[float, Field(ge=0, le=86_400)] = 3_600.0
    """How long keys that were fetched are used when the provider does not answer."""

    @model_validator(mode="after")
    def _addresses(self) -> TokenSettings:
        for url in (self.issuer, self.jwks_url):
            if url is not None:
                require_secure(url)
        return self


def require_secure(url: str) -> None:
    """Refuse an address at which somebody between could give us keys of their own."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "?")):
        raise InvalidSetting(f"{url[:200]} is no https:// address.", hint="Keys are fetched over TLS only.")
