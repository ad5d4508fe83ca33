"""Resources: memories, the profile, the context of a task, and the graph, for clients that attach them to a prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import unquote

from mcp_types import Resource, ResourceTemplate

from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput, NotFound
from longmind.model_tools.graph import graph_data, indented
from longmind.model_tools.tools import memory_line
from longmind.systems.semantic import EntityGraph

_NEWEST = 50
_MARKDOWN, _JSON = "text/markdown", "application/json"


@dataclass(frozen=True, kw_only=True)
class MemoryResource:
    """A resource with an address of its own, or all those whose address begins the same and ends with an argument."""

    uri: str
    """The address; of a template, the part before the argument."""
    name: str
    title: str
    description: str
    read: Callable[[AgentMemory, str], Awaitable[str]]
    mime_type: str = _MARKDOWN
    argument: str | None = None
    """Of a template, the name of the argument."""

    @property
    def listed(self) -> Resource:
        return Resource(
            uri=self.uri, name=self.name, title=self.title, description=self.description, mime_type=self.mime_type
        )

    @property
    def listed_template(self) -> ResourceTemplate:
        return ResourceTemplate(
            uri_template=f"{self.uri}{{{self.argument}}}",
            name=self.name,
            title=self.title,
            description=self.description,
            mime_type=self.mime_type,
        )


async def _newest(mem: AgentMemory, argument: str) -> str:
    page = await mem.list(limit=_NEWEST)
    return "\n".join(memory_line(memory) for memory in page.items)


async def _memory(mem: AgentMemory, argument: str) -> str:
    memory = await mem.get(argument)
    if memory is None:
        raise NotFound("There is no such memory here.")
    return memory.model_dump_json(indent=2)


async def _context(mem: AgentMemory, argument: str) -> str:
    return await mem.context(argument)


async def _profile(mem: AgentMemory, argument: str) -> str:
    return await mem.persona.render()


async def _profile_of(mem: AgentMemory, argument: str) -> str:
    if argument == "user":
        return await mem.persona.render(["user"])
    if argument == "agent":
        return await mem.persona.render(["agent"])
    raise InvalidInput("A profile is of the user or of the agent.", hint="longmind://profile/user")


async def _concept(mem: AgentMemory, argument: str) -> str:
    return (await mem.semantic.about(argument)).model_dump_json(indent=2)


async def _graph(mem: AgentMemory, argument: str) -> str:
    return indented(graph_data(await EntityGraph(mem.scoped).read()))


RESOURCES = (
    MemoryResource(
        uri="longmind://memories",
        name="memories",
        title="Newest memories",
        description=f"The {_NEWEST} newest memories, quoted.",
        read=_newest,
    ),
    MemoryResource(
        uri="longmind://profile",
        name="profile",
        title="Profiles",
        description="What is known of the user and of the agent themselves, quoted.",
        read=_profile,
    ),
    MemoryResource(
        uri="memory://knowledge-graph",
        name="knowledge-graph",
        title="Knowledge Graph",
        description="The full knowledge graph with all entities and relations",
        read=_graph,
        mime_type=_JSON,
    ),
)
TEMPLATES = (
    MemoryResource(
        uri="longmind://memories/",
        argument="id",
        name="memory",
        title="A memory",
        description="A memory by its id, with all its fields.",
        read=_memory,
        mime_type=_JSON,
    ),
    MemoryResource(
        uri="longmind://context/",
        argument="task",
        name="context",
        title="Context of a task",
        description="What is known that matters for a task, quoted, ready for a prompt.",
        read=_context,
    ),
    MemoryResource(
        uri="longmind://profile/",
        argument="about",
        name="profile-of",
        title="A profile",
        description="What is known of the user, or of the agent: longmind://profile/user, longmind://profile/agent.",
        read=_profile_of,
    ),
    MemoryResource(
        uri="longmind://concepts/",
        argument="name",
        name="concept",
        title="A concept",
        description="The facts about a person, thing or idea, and those that mention it.",
        read=_concept,
        mime_type=_JSON,
    ),
)


def find_resource(uri: str) -> tuple[MemoryResource, str]:
    """Return the resource at an address, and its argument; ``NotFound`` if there is none."""
    for resource in RESOURCES:
        if uri == resource.uri:
            return resource, ""
    for template in TEMPLATES:
        if uri.startswith(template.uri) and len(uri) > len(template.uri):
            return template, unquote(uri[len(template.uri) :])
    raise NotFound("There is no such resource.", hint="resources/list and resources/templates/list tell which.")
