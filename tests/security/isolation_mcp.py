"""Random requests of MCP for the test of isolation: any tool, resource, prompt or completion, with ids of anybody."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from longmind.model_tools.tools import TOOLS
from longmind.server.mcp.prompts import PROMPTS
from longmind.server.mcp.resources import RESOURCES, TEMPLATES

JsonObject = dict[str, Any]
HEADERS = {"Accept": "application/json, text/event-stream"}
_MOMENTS = ("2026-05-31T18:30:00Z", "2027-01-01T00:00:00Z")
_NAMES = ("Alice", "Lisbon", "dinner", "lives in")
_COMPLETED = (
    {"ref": {"type": "ref/prompt", "name": "what_do_you_know_about"}, "argument": {"name": "subject", "value": ""}},
    {
        "ref": {"type": "ref/resource", "uri": "longmind://concepts/{name}"},
        "argument": {"name": "name", "value": ""},
    },
)
_PROCEDURE = {"name": "greet", "purpose": "Greet somebody.", "steps": [{"name": "hello", "use": "say", "args": {}}]}


@dataclass(frozen=True)
class McpRequest:
    """A request of MCP, and what it is called in the findings."""

    name: str
    body: JsonObject


class McpRequests:
    """Makes random requests. ``anybody`` returns an id of some tenant, ``word`` the word of some tenant."""

    def __init__(self, source: random.Random, anybody: Callable[[], str], word: Callable[[], str]) -> None:
        self._random, self._anybody, self._word = source, anybody, word

    def next(self, own_word: str) -> McpRequest:
        """Return a request of the tenant with a word. In what is written only its own word occurs."""
        chance = self._random.random()
        if chance < 0.75:
            tool = self._random.choice(TOOLS)
            word = own_word if tool.permission != "read" else self._word()
            arguments = self._value("", tool.schema, word)
            return request(f"mcp.{tool.name}", "tools/call", {"name": tool.name, "arguments": arguments})
        if chance < 0.9:
            return request("mcp.read_resource", "resources/read", {"uri": self._uri()})
        if chance < 0.95:
            prompt = self._random.choice(PROMPTS)
            arguments = {name: f"What of {self._word()}?" for name in prompt.arguments}
            return request("mcp.get_prompt", "prompts/get", {"name": prompt.name, "arguments": arguments})
        return request("mcp.complete", "completion/complete", self._random.choice(_COMPLETED))

    def _uri(self) -> str:
        if self._random.random() < 0.3:
            return self._random.choice(RESOURCES).uri
        template = self._random.choice(TEMPLATES)
        argument = self._random.choice([self._anybody(), self._word(), "user", *_NAMES])
        return template.uri + quote(argument, safe="")

    def _value(self, name: str, schema: JsonObject, word: str) -> Any:
        """Return a value of a JSON schema: ids of anybody, the word, or a name that all tenants use."""
        if "anyOf" in schema:
            return self._value(name, self._random.choice(schema["anyOf"]), word)
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                if name == "procedure":
                    return {**_PROCEDURE, "purpose": f"Greet {word}."}
                required = schema.get("required", ())
                return {
                    key: self._value(key, part, word)
                    for key, part in schema.get("properties", {}).items()
                    if key in required or self._random.random() < 0.3
                }
            case "array":
                return [self._value(name, schema["items"], word) for _ in range(self._random.randint(1, 3))]
            case "integer":
                return self._random.randint(1, 20)
            case "number":
                return self._random.random()
            case "boolean":
                return self._random.random() < 0.5
            case "null":
                return None
        if schema.get("format") == "date-time":
            return self._random.choice(_MOMENTS)
        if name == "criterion":
            return "c1"
        return self._random.choice([self._anybody(), f"It is {word}.", word, *_NAMES])


def request(name: str, method: str, params: JsonObject) -> McpRequest:
    """Return a request with a method and parameters of the protocol."""
    return McpRequest(name, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def code_of(answer: JsonObject) -> str:
    """Return how a request ended: ``ok``, the code of our error, or the number of an error of the protocol."""
    if error := answer.get("error"):
        return str((error.get("data") or {}).get("code", error["code"]))
    return str((answer["result"].get("_meta") or {}).get("longmind/error", "ok"))
