"""MCP in an editor: the configuration that gives an editor a memory, and what the editor does with it.

The configuration below goes into `.mcp.json` (Claude Code), `.cursor/mcp.json` (Cursor) or `.vscode/mcp.json`
(VS Code, under `servers`). This program starts the same server and talks to it as an editor would.

    python examples/mcp_in_an_editor.py

Expected output:

    command: longmind mcp --agent editor
    tools: context, forget, recall, remember
    recalled: The build needs Node 22.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CONFIGURATION = {"mcpServers": {"longmind": {"command": "longmind", "args": ["mcp", "--agent", "editor"]}}}
WANTED = {"context", "forget", "recall", "remember"}


async def main() -> None:
    server = CONFIGURATION["mcpServers"]["longmind"]
    args = list(server["args"])
    print("command:", server["command"], *args)
    with tempfile.TemporaryDirectory() as folder:
        # `python -m longmind.cli` is `longmind`, wherever the command was installed
        environment = {**os.environ, "LONGMIND_URL": str(Path(folder, "memory.db"))}
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "longmind.cli", *args], env=environment)
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            print("tools:", ", ".join(sorted(tools & WANTED)))
            await session.call_tool("remember", {"content": "The build needs Node 22."})
            result = await session.call_tool("recall", {"query": "Which Node does the build need?"})
            found = "The build needs Node 22." in str(result.content)
            print("recalled:", "The build needs Node 22." if found else "nothing")


if __name__ == "__main__":
    asyncio.run(main())
