"""``longmind mcp``: the memory of an agent for a client of the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from longmind.cli.command import Invocation, creating_command
from longmind.errors import InvalidSetting, Unsupported


@creating_command
async def mcp(
    call: Invocation,
    consolidation: Annotated[
        bool, typer.Option("--consolidation/--no-consolidation", help="Whether to consolidate while it runs.")
    ] = True,
) -> None:
    """Serve an agent's memory to an MCP client (Claude Code, Cursor, VS Code, ...) on the standard streams.

    The client starts this command itself; see "MCP" in the documentation for the lines to add to each client. Over HTTP
    the same is at /mcp of `longmind serve`. It ends when the client closes the standard input.
    """
    if call.all_users:
        raise Unsupported("A client works for one user.", hint="Leave --all-users out, or give --user.")
    from longmind.server.starting import without_garbage_collection

    with without_garbage_collection() as started:
        try:
            from longmind.server.mcp.stdio import serve_stdio
        except ModuleNotFoundError as error:
            if error.name not in ("mcp", "mcp_types"):
                raise
            raise InvalidSetting("The package mcp is not installed.", hint="pip install 'longmind[mcp]'") from error
        async with call.store() as longmind:
            started()
            await serve_stdio(longmind, call.settings.agent, call.user, consolidation=consolidation)
