"""Completions: what fits into an argument of a prompt or of a resource, while a person types."""

from __future__ import annotations

from mcp_types import Completion, PromptReference, ResourceTemplateReference

from longmind.agent_memory import AgentMemory
from longmind.errors import NotFound
from longmind.server.mcp.prompts import find_prompt
from longmind.server.mcp.resources import TEMPLATES

_MOST = 100
"""How many values a completion may have, by the protocol."""
_READ = 1_000
_CONCEPTS = {("what_do_you_know_about", "subject"), ("longmind://concepts/{name}", "name")}
_PROFILES = ("longmind://profile/{about}", "about")


async def complete(
    mem: AgentMemory, ref: PromptReference | ResourceTemplateReference, argument: str, typed: str
) -> Completion:
    """Return the values of an argument that begin with what was typed; ``NotFound`` if there is no such thing."""
    if isinstance(ref, PromptReference):
        name = find_prompt(ref.name).name
    else:
        name = ref.uri
        if name not in {template.listed_template.uri_template for template in TEMPLATES}:
            raise NotFound("There is no such resource.", hint="resources/templates/list tells which there are.")
    values: list[str] = []
    if (name, argument) in _CONCEPTS:
        page = await mem.semantic.concepts(limit=_READ)
        values = [concept.name for concept in page.items]
    elif (name, argument) == _PROFILES:
        values = ["user", "agent"]
    fitting = sorted({value for value in values if value.casefold().startswith(typed.casefold())})
    return Completion(values=fitting[:_MOST], total=len(fitting), has_more=len(fitting) > _MOST)
