"""The options of ``longmind serve``, each with its type, bounds and help."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

Host = Annotated[str | None, typer.Option(help="The address to listen on. Default: 127.0.0.1.")]
Port = Annotated[
    int | None, typer.Option(min=0, max=65_535, help="The port to listen on; 0 takes a free one. Default: 8484.")
]
Workers = Annotated[int | None, typer.Option(min=1, max=256, help="How many processes answer. Default: 1.")]
Consolidation = Annotated[
    bool | None,
    typer.Option("--consolidation/--no-consolidation", help="Consolidate agents in this process. Default: yes."),
]
Sample = Annotated[
    bool, typer.Option("--sample", help="Store sample data first, unless it is there: agent demo, user alice.")
]
RequestSeconds = Annotated[
    float | None,
    typer.Option(min=0.1, max=3600, metavar="SECONDS", help="How long a request may take. Default: 60."),
]
BodyMegabytes = Annotated[
    float | None,
    typer.Option("--body-mb", min=0.001, max=1000, metavar="MB", help="The largest body. Default: 32."),
]
Authentication = Annotated[
    Literal["none", "keys", "oidc"] | None,
    typer.Option(help="How callers are known. Default: by keys if there are any; else not, on this machine only."),
]
OidcIssuer = Annotated[
    str | None, typer.Option(metavar="URL", help="Accept tokens of this OpenID provider, beside keys.")
]
OidcAudience = Annotated[str | None, typer.Option(help="The audience that tokens must be for.")]
OidcKeys = Annotated[
    str | None, typer.Option(metavar="URL", help="Where its public keys are. Default: its discovery document says.")
]
OidcTenantClaim = Annotated[str | None, typer.Option(help="The claim with the tenant. Default: tenant.")]
OidcPermissionsClaim = Annotated[
    str | None,
    typer.Option(help="The claim with longmind:read, longmind:write or longmind:admin. Default: scope."),
]
OidcAgentsClaim = Annotated[str | None, typer.Option(help="The claim with the agents it may reach. Default: agents.")]
OidcUserClaim = Annotated[
    str | None, typer.Option(help="The claim with the only user it may reach. Default: every user.")
]
SingleTenant = Annotated[
    bool | None,
    typer.Option("--single-tenant", help="Serve only the tenant of LONGMIND_TENANT, whatever a key says."),
]
Rate = Annotated[
    float | None,
    typer.Option(
        min=0.001, max=1_000_000, metavar="N", help="Requests a second of a key, in each process. Default: 100."
    ),
]
Burst = Annotated[int | None, typer.Option(min=1, max=1_000_000, help="Requests of a key at once. Default: 500.")]
Mem0Routes = Annotated[
    bool | None,
    typer.Option("--mem0", help="Offer the routes of mem0's server too: /memories, /search and /reset."),
]
Tools = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:NAME",
        help="The functions that procedures may call: a ToolRegistry in a module that Python can import from here.",
    ),
]
ListeningSocket = Annotated[
    int | None,
    typer.Option(hidden=True, help="A socket that listens already: of the process that started this one."),
]
