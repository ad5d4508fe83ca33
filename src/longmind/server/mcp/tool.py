"""How a tool is listed for a client of MCP, and how its result is written."""

from __future__ import annotations

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from longmind.errors import LongmindError
from longmind.model_tools.tool import MemoryTool, ToolResult, error_text


def listed(tool: MemoryTool) -> Tool:
    """Return a tool as a client sees it in the list."""
    reads = tool.permission == "read"
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        output_schema=tool.output,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=reads,
            destructive_hint=tool.destructive,
            idempotent_hint=reads or tool.idempotent,
            open_world_hint=False,
        ),
    )


def succeeded(result: ToolResult) -> CallToolResult:
    """Return the result of a call."""
    return CallToolResult(content=[TextContent(text=result.text)], structured_content=result.data)


def failed(error: LongmindError) -> CallToolResult:
    """Return an error as the result of a call, so that the model reads it and can do better."""
    return CallToolResult(
        content=[TextContent(text=error_text(error))], is_error=True, _meta={"longmind/error": error.code}
    )
