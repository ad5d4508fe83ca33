"""The settings of a server, from defaults, the environment (``LONGMIND_SERVER_*``) and the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError

from longmind.config import PREFIX
from longmind.errors import InvalidSetting
from longmind.problems import first_problem
from longmind.security.token_settings import TokenSettings
from longmind.types import Model

SERVER_PREFIX = f"{PREFIX}SERVER_"
TOKENS_PREFIX = f"{SERVER_PREFIX}OIDC_"


class ServerSettings(Model):
    """How a server works, whatever it serves. Every field can be set as ``LONGMIND_SERVER_<FIELD>`` in the environment,
    those of ``tokens`` as ``LONGMIND_SERVER_OIDC_<FIELD>``."""

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """The address to listen on; beyond this machine only with authentication."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8484
    """The port to listen on; 0 takes a free one."""
    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """How many processes answer."""
    body_bytes: Annotated[int, Field(ge=1_000)] = 32_000_000
    """The largest body of a request."""
    request_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """How long a request may take; a stream has no limit."""
    retry_after_seconds: Annotated[int, Field(ge=1, le=3600)] = 2
    """When a client that was answered 503 may try again."""
    heartbeat_seconds: Annotated[float, Field(gt=0, le=3600)] = 15.0
    """How often a silent stream sends a comment, so that nothing between takes it for dead."""
    tenants_open: Annotated[int, Field(ge=1, le=10_000)] = 64
    """How many stores of tenants are open at the same time, where each tenant has a store of its own."""
    auth: Literal["none", "keys", "oidc"] = "none"
    """How callers are known: not at all, on this machine only; by API keys; or by API keys and tokens of a provider.
    Unless it is set, ``longmind serve`` asks for keys as soon as there is one."""
    tokens: TokenSettings | None = None
    """The provider of tokens, with ``auth="oidc"``."""
    single_tenant: bool = False
    """Whether only the tenant of the settings is served. Then the database need not keep tenants apart."""
    key_cache_seconds: Annotated[float, Field(ge=0, le=60)] = 2.0
    """How long what was read of a key is trusted; a revoked key may work so long."""
    rate_per_second: Annotated[float, Field(gt=0, le=1_000_000)] = 100.0
    """How many requests a second a key may make, in each process."""
    rate_burst: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    """How many requests a key may make at once."""
    failures_per_minute: Annotated[float, Field(gt=0, le=1_000_000)] = 60.0
    """How many requests without a valid key an address may make in a minute."""
    mem0: bool = False
    """Whether the routes of mem0's server are offered too: ``/memories``, ``/search`` and ``/reset``."""
    metrics_key: SecretStr | None = None
    """The bearer token that ``/metrics`` asks for. Without one the figures are given on this machine only."""
    consolidation: bool = True
    """Whether agents are consolidated in this process."""

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: object) -> ServerSettings:
        """Load the settings: defaults, then the environment, then ``overrides`` that are not None.

        ``tokens`` are given as a mapping, of which the values that are None are left to the environment, too.
        """
        environment = os.environ if environment is None else environment
        values: dict[str, Any] = _values_in(environment, SERVER_PREFIX, set(cls.model_fields) - {"tokens"})
        tokens: dict[str, Any] = _values_in(environment, TOKENS_PREFIX, set(TokenSettings.model_fields))
        if "algorithms" in tokens:
            tokens["algorithms"] = [name.strip() for name in tokens["algorithms"].split(",")]
        given = overrides.pop("tokens", None)
        tokens |= _given(given if isinstance(given, Mapping) else {})
        values |= _given(overrides)
        if tokens or values.get("auth") == "oidc":
            if not (tokens.get("issuer") and tokens.get("audience")):
                raise InvalidSetting(
                    "Tokens need an issuer and an audience.",
                    hint="Give --oidc-issuer and --oidc-audience, or set"
                    f" {TOKENS_PREFIX}ISSUER and {TOKENS_PREFIX}AUDIENCE.",
                )
            values = {"auth": "oidc", **values, "tokens": tokens}
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            where, reason = first_problem(error)
            raise InvalidSetting(
                f"The setting {where} of the server is not usable: {reason}.",
                hint=f"Check {SERVER_PREFIX}* in the environment.",
            ) from error


def _values_in(environment: Mapping[str, str], prefix: str, fields: set[str]) -> dict[str, str]:
    """Return what the environment sets, by field. An empty variable sets nothing."""
    return {field: value for field in fields if (value := environment.get(prefix + field.upper()))}


def _given(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}
