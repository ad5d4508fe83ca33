"""``longmind serve``: the server, until told to stop."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from longmind import console
from longmind.cli import demo_story, screen
from longmind.cli.command import Invocation, store_command
from longmind.cli.keys import open_access
from longmind.cli.procedures import tool_registry
from longmind.cli.serve_options import (
    Authentication,
    BodyMegabytes,
    Burst,
    Consolidation,
    Host,
    ListeningSocket,
    Mem0Routes,
    OidcAgentsClaim,
    OidcAudience,
    OidcIssuer,
    OidcKeys,
    OidcPermissionsClaim,
    OidcTenantClaim,
    OidcUserClaim,
    Port,
    Rate,
    RequestSeconds,
    Sample,
    SingleTenant,
    Tools,
    Workers,
)
from longmind.errors import InvalidSetting

if TYPE_CHECKING:
    from longmind.server.settings import ServerSettings

_SAMPLE_AGENT, _SAMPLE_USER = "demo", "alice"


@store_command
async def serve(
    call: Invocation,
    host: Host = None,
    port: Port = None,
    workers: Workers = None,
    consolidation: Consolidation = None,
    sample: Sample = False,
    request_seconds: RequestSeconds = None,
    body_mb: BodyMegabytes = None,
    auth: Authentication = None,
    oidc_issuer: OidcIssuer = None,
    oidc_audience: OidcAudience = None,
    oidc_jwks: OidcKeys = None,
    oidc_tenant_claim: OidcTenantClaim = None,
    oidc_permissions_claim: OidcPermissionsClaim = None,
    oidc_agents_claim: OidcAgentsClaim = None,
    oidc_user_claim: OidcUserClaim = None,
    single_tenant: SingleTenant = None,
    rate: Rate = None,
    burst: Burst = None,
    mem0: Mem0Routes = None,
    tools: Tools = None,
    fd: ListeningSocket = None,
) -> None:
    """Serve the store over HTTP: REST under /v1, MCP at /mcp, /healthz, /readyz and /metrics, and the console at /.

    Callers are known by their API keys once there are any; then every access is noted in the audit. Without
    authentication it listens on this machine only. The log is JSON lines on stderr. SIGTERM or Ctrl-C ends it
    cleanly: requests under way are finished first. A second one ends it at once. Each option, and more, can be set in
    the environment as LONGMIND_SERVER_*; an option wins.
    """
    from longmind.server.settings import ServerSettings
    from longmind.server.starting import without_garbage_collection

    settings = ServerSettings.load(
        host=host,
        port=port,
        workers=workers,
        consolidation=consolidation,
        request_seconds=request_seconds,
        body_bytes=None if body_mb is None else int(body_mb * 1_000_000),
        auth=auth,
        tokens={
            "issuer": oidc_issuer,
            "audience": oidc_audience,
            "jwks_url": oidc_jwks,
            "tenant_claim": oidc_tenant_claim,
            "permissions_claim": oidc_permissions_claim,
            "agents_claim": oidc_agents_claim,
            "user_claim": oidc_user_claim,
        },
        single_tenant=single_tenant,
        rate_per_second=rate,
        rate_burst=burst,
        mem0=mem0,
    )
    with without_garbage_collection() as started:
        if "auth" not in settings.model_fields_set:
            settings = settings.model_copy(update={"auth": await _authentication(call)})
        if sample:
            await _store_sample(call)
        await _run(call, settings, started, sample=sample, tools=tools, fd=fd)


async def _run(
    call: Invocation,
    settings: ServerSettings,
    started: Callable[[], None],
    *,
    sample: bool,
    tools: str | None,
    fd: int | None,
) -> None:
    """Listen, and serve in this process or in several until told to stop; ``started`` is called once it serves."""
    from longmind.server.listening import address_of, listen
    from longmind.server.logs import logging_as_json
    from longmind.server.workers import READY, supervise

    registry = None if tools is None else tool_registry(tools)
    listening = socket.socket(fileno=fd) if fd is not None else listen(settings.host, settings.port, settings)
    address = address_of(listening)
    # A page lives in the process that served it, so a server of several processes has no console.
    with_console = fd is None and settings.workers == 1 and console.installed()

    def ready() -> None:
        started()
        if fd is None:
            answer = {"address": address, "console": f"{address}/" if with_console else None}
            call.answer(answer, lambda: _announce(address, sample=sample, with_console=with_console))
        else:
            os.write(sys.stdout.fileno(), READY)

    with listening:
        if settings.workers > 1:
            _require_shared_store(call)
            with logging_as_json(sys.stderr):
                await supervise(settings.workers, listening, _arguments(call, settings, tools), ready)
            return
        from longmind.server.serve import serve as serve_until_stopped  # not loaded by one that only supervises

        with logging_as_json(sys.stderr):
            await serve_until_stopped(
                listening,
                call.settings,
                settings,
                ready,
                supervised=fd is not None,
                extend=console.mount if with_console else None,
                tools=registry,
            )


async def _authentication(call: Invocation) -> Literal["none", "keys"]:
    """Return how callers are known where nobody said it: by keys if there are any."""
    async with open_access(call) as access:
        return "keys" if await access.any_key() else "none"


def _require_shared_store(call: Invocation) -> None:
    if call.settings.store_url().startswith(("memory:", ":memory:")):
        raise InvalidSetting("A store in memory belongs to one process.", hint="Leave --workers out, or give a file.")


def _arguments(call: Invocation, settings: ServerSettings, tools: str | None) -> list[str]:
    """Return the options for another process of the same server."""
    options = ["--workers", "1", "--request-seconds", str(settings.request_seconds)]
    options += ["--body-mb", str(settings.body_bytes / 1_000_000)]
    options += ["--auth", settings.auth, "--rate", str(settings.rate_per_second), "--burst", str(settings.rate_burst)]
    if (tokens := settings.tokens) is not None:
        named = {
            "issuer": tokens.issuer,
            "audience": tokens.audience,
            "jwks": tokens.jwks_url,
            "tenant-claim": tokens.tenant_claim,
            "permissions-claim": tokens.permissions_claim,
            "agents-claim": tokens.agents_claim,
            "user-claim": tokens.user_claim,
        }
        options += [word for name, value in named.items() if value for word in (f"--oidc-{name}", value)]
    options += ["--single-tenant"] if settings.single_tenant else []
    options += ["--mem0"] if settings.mem0 else []
    options += ["--tools", tools] if tools is not None else []
    options += ["--consolidation" if settings.consolidation else "--no-consolidation"]
    return options + (["--url", call.url] if call.url is not None else [])


async def _store_sample(call: Invocation) -> None:
    """Store a conversation, a document and a goal, once."""
    async with call.store(create=True) as longmind:
        mem = longmind.agent(_SAMPLE_AGENT, _SAMPLE_USER)
        if _SAMPLE_AGENT in {scope.agent for scope in await longmind.agents()}:
            return
        await mem.remember(demo_story.CONVERSATION, session="may")
        await mem.remember(demo_story.DOCUMENT)
        await mem.goals.create(demo_story.GOAL, criteria=demo_story.CRITERIA)
        await mem.consolidate()


def _announce(address: str, *, sample: bool, with_console: bool) -> None:
    out = screen.console()
    out.print(f"Longmind serves at {address} ; Ctrl-C stops it.", highlight=False)
    if with_console:
        out.print(f"  console        {address}/", highlight=False)
    out.print(f"  documentation  {address}/v1/openapi.json", highlight=False)
    if sample:
        path = f"{address}/v1/agents/{_SAMPLE_AGENT}/recall?user={_SAMPLE_USER}"
        body = '{"query": "who is coming to dinner?"}'
        out.print("  try            ", end="", highlight=False)
        out.print(
            f"curl -s '{path}' -H 'Content-Type: application/json' -d '{body}'",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
