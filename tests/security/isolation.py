"""Random requests of many tenants through REST and MCP, each with a word of its own that nobody else may ever see.

``python -m tests.security.isolation --requests 20000 --tenants 50`` runs it at length (``make isolation``).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
from tests.security.isolation_mcp import HEADERS, McpRequest, McpRequests, code_of, request

from longmind import Settings
from longmind.operations import OPERATIONS, Operation
from longmind.security import KeyAdministration
from longmind.server import ServerSettings, create_app

AGENTS = ("assistant", "helper")
COUNTED = "counted"
"""An agent to whom nothing is written after the beginning: what it holds can be counted."""
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=\")[0-9a-f]{16}(?=\")")
_ID_SENT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16}")
CANARY = re.compile(r"zq[0-9a-f]{16}qz")
"""The word of a tenant."""
_LEFT_OUT = {"transfer", "erasure"}
"""Nouns that would end what the others are about; erasure is tried in tests of its own."""
_DESTRUCTIVE = {"keys.revoke", "keys.create"}
_CONCURRENT = 8
_MCP_SHARE = 0.4
"""Of the requests, how many go through MCP."""
_FAULTS = {"internal", "-32603"}
"""How a request of MCP ends that the server failed to answer."""


@dataclass
class Tenant:
    """A tenant, its key, its word, and every id that it was shown."""

    name: str
    number: int
    canary: str
    key: str = ""
    ids: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    """Ids of others that it wrote itself, as the name of a slot or in a text: these may come back to it."""


@dataclass
class Findings:
    """What came of the requests."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    """How the requests of MCP ended: ``ok`` or the code of an error."""
    operations: set[str] = field(default_factory=set)
    foreign_bytes: list[str] = field(default_factory=list)
    foreign_ids: list[str] = field(default_factory=list)
    foreign_counts: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not (self.foreign_bytes or self.foreign_ids or self.foreign_counts or self.failures)

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests of {len(self.operations)} operations: {len(self.foreign_ids)} foreign ids,"
            f" {len(self.foreign_bytes)} foreign words, {len(self.foreign_counts)} foreign counts,"
            f" {len(self.failures)} server errors; statuses {dict(sorted(self.statuses.items()))};"
            f" {self.endings.total():,} through MCP {dict(sorted(self.endings.items()))}"
        )


class Isolation:
    """Makes the requests and looks at every response."""

    def __init__(self, client: httpx2.AsyncClient, tenants: list[Tenant], seed: int) -> None:
        self._client, self._tenants = client, tenants
        self._random = random.Random(seed)
        self._owner: dict[str, str] = {}
        self._offered = [o for o in OPERATIONS if o.noun not in _LEFT_OUT and not o.streams]
        self._mcp = McpRequests(
            self._random, lambda: self._value("id"), lambda: self._random.choice(self._tenants).canary
        )
        self.findings = Findings()

    async def prepare(self) -> None:
        """Give each tenant memories with its word, and one agent with a number of memories of its own."""
        for tenant in self._tenants:
            for agent in AGENTS:
                await self._send(tenant, "POST", f"/v1/agents/{agent}/memories", _remembered(tenant))
            for number in range(tenant.number + 1):
                content = {"content": f"{tenant.canary} has the number {number}."}
                await self._send(tenant, "POST", f"/v1/agents/{COUNTED}/memories", content)

    async def run(self, requests: int) -> Findings:
        """Make random requests, several at the same time."""
        left = iter(range(requests))

        async def work() -> None:
            for _ in left:
                await self._request(self._random.choice(self._tenants))

        await asyncio.gather(*(work() for _ in range(_CONCURRENT)))
        return self.findings

    async def _request(self, tenant: Tenant) -> None:
        if self._random.random() < _MCP_SHARE:
            await self._through_mcp(tenant)
        else:
            await self._through_rest(tenant)

    async def _through_mcp(self, tenant: Tenant) -> None:
        if self._random.random() < 0.1:
            counted = request("mcp.read_resource", "resources/read", {"uri": "longmind://memories"})
            answer = await self._send_mcp(tenant, COUNTED, counted)
            memories = len(answer["result"]["contents"][0]["text"].splitlines())
            self._compare(tenant, memories)
        else:
            await self._send_mcp(tenant, self._random.choice(AGENTS), self._mcp.next(tenant.canary))

    async def _send_mcp(self, tenant: Tenant, agent: str, mcp_request: McpRequest) -> dict[str, Any]:
        self.findings.operations.add(mcp_request.name)
        response = await self._send(tenant, "POST", f"/mcp?agent={agent}", mcp_request.body, HEADERS)
        answer: dict[str, Any] = response.json()
        ending = code_of(answer) if response.status_code == 200 else str(response.status_code)
        self.findings.endings[ending] += 1
        if ending in _FAULTS:
            self.findings.failures.append(f"{mcp_request.body}: {response.text[:300]}")
        return answer

    async def _through_rest(self, tenant: Tenant) -> None:
        chance = self._random.random()
        if chance < 0.15:
            agent = self._random.choice(AGENTS)
            await self._send(tenant, "POST", f"/v1/agents/{agent}/memories", _remembered(tenant))
        elif chance < 0.35:
            other = self._random.choice(self._tenants)
            query = {"query": f"What of {other.canary}?", "k": 20}
            await self._send(tenant, "POST", f"/v1/agents/{self._random.choice(AGENTS)}/recall?all_users=true", query)
        elif chance < 0.45:
            await self._count(tenant)
        else:
            await self._offered_operation(tenant)

    async def _count(self, tenant: Tenant) -> None:
        response = await self._send(tenant, "GET", f"/v1/agents/{COUNTED}/stats")
        self._compare(tenant, response.json().get("memories"))

    def _compare(self, tenant: Tenant, memories: int | None) -> None:
        """Compare how many memories a tenant was told of with how many it has."""
        if memories != tenant.number + 1:
            self.findings.foreign_counts.append(f"{tenant.name}: {memories} memories, not {tenant.number + 1}")

    async def _offered_operation(self, tenant: Tenant) -> None:
        """Ask for any operation, with ids of anybody."""
        operation = self._random.choice(self._offered)
        if operation.name in _DESTRUCTIVE:
            return
        path = re.sub(r"{(\w+)}", lambda part: quote(self._value(part[1]), safe=""), operation.path)
        everyone = "all_users" in operation.query.model_fields and self._random.random() < 0.5
        query = {"all_users": "true"} if everyone else {}
        body = None if operation.body is None else self._body(operation, tenant)
        self.findings.operations.add(operation.name)
        await self._send(tenant, operation.http, f"/v1{path}?{urlencode(query)}", body)

    def _value(self, name: str) -> str:
        if name == "agent":
            return self._random.choice(AGENTS)
        owned = self._random.choice(self._tenants).ids
        return self._random.choice(sorted(owned)) if owned else "none"

    def _body(self, operation: Operation, tenant: Tenant) -> dict[str, Any]:
        """Return the example of an operation, with ids of anybody and the tenant's own word."""
        body = dict(operation.example or {})
        for name, value in body.items():
            if name in ("id", "memory", "source", "target"):
                body[name] = self._value(name)
            elif name in ("ids", "memories") and isinstance(value, list):
                body[name] = [self._value(name)]
            elif name in ("content", "text") and isinstance(value, str):
                body[name] = f"{value} {tenant.canary}"
        return body

    async def _send(
        self,
        tenant: Tenant,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        headers = {**(headers or {}), "Authorization": f"Bearer {tenant.key}"}
        response = await self._client.request(method, path, json=body, headers=headers)
        self.findings.requests += 1
        self.findings.statuses[response.status_code] += 1
        if response.status_code >= 500:
            self.findings.failures.append(f"{method} {path}: {response.status_code} {response.text[:300]}")
        self._examine(tenant, f"{method} {path} {body}", response)
        return response

    def _examine(self, tenant: Tenant, sent: str, response: httpx2.Response) -> None:
        """Look for words and ids of others. What the request itself said may come back."""
        if not sent.startswith("GET"):
            tenant.written.update(_ID_SENT.findall(sent))
        text = response.text + str(dict(response.headers))
        for other in self._tenants:
            if other is not tenant and other.canary in text and other.canary not in sent:
                self.findings.foreign_bytes.append(f"{tenant.name} saw the word of {other.name}: {sent[:200]}")
        own_request = response.headers.get("x-request-id")
        for id in set(_ID.findall(response.text)):
            if id in sent or id == own_request or id in tenant.written:
                continue
            if (owner := self._owner.setdefault(id, tenant.name)) != tenant.name:
                self.findings.foreign_ids.append(f"{tenant.name} saw {id} of {owner}: {sent[:200]}")
            tenant.ids.add(id)


def _remembered(tenant: Tenant) -> dict[str, Any]:
    return {"content": f"The word is {tenant.canary}, and nobody else knows it."}


def make_tenants(count: int, seed: int = 1) -> list[Tenant]:
    """Return tenants with a word each."""
    words = (random.Random(f"{seed} {n}").getrandbits(64) for n in range(count))
    return [Tenant(f"tenant-{n}", n, f"zq{word:016x}qz") for n, word in enumerate(words)]


async def examine(url: str, tenants: list[Tenant], *, requests: int, seed: int = 1) -> Findings:
    """Serve a store to many tenants with a key each, and make random requests."""
    library = Settings.load({"LONGMIND_EMBEDDER": "none"})
    settings = ServerSettings(
        auth="keys", consolidation=False, tenants_open=16, rate_per_second=1_000_000, rate_burst=1_000_000
    )
    app = create_app(url, settings, library=library)
    async with app.router.lifespan_context(app):
        for tenant in tenants:
            keys = KeyAdministration(app.state.server.access, tenant.name)
            tenant.key = (await keys.create("test", permissions=["admin"])).key
        transport = httpx2.ASGITransport(app, client=("203.0.113.7", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="https://memory.example") as client:
            isolation = Isolation(client, tenants, seed)
            await isolation.prepare()
            return await isolation.run(requests)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--tenants", type=int, default=50)
    parser.add_argument("--url", help="a store; by default a new file. For PostgreSQL as the role of an application")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.url or str(Path(folder) / "memory.db")
        findings = asyncio.run(examine(url, make_tenants(options.tenants), requests=options.requests))
    sys.stdout.write(f"{findings}\n")
    for line in (findings.foreign_bytes + findings.foreign_ids + findings.foreign_counts + findings.failures)[:20]:
        sys.stdout.write(f"{line}\n")
    raise SystemExit(0 if findings.clean else 1)


if __name__ == "__main__":
    main()
