"""Export and import: one JSON object a line, the same from every backend.

The first line says what the file is. Then memories in the order the agent learnt them, then links:

    {"longmind": 1, "exported_at": "...", "tenant": "default"}
    {"memory": {...}}
    {"link": {"tenant": "...", "agent": "...", ...}}
    {"end": {"memories": 3, "links": 1, "content_hash": {"agent": "..."}}}

The last line counts and hashes what came before it, so that a file that was cut short is noticed. Vectors are not
exported: the importing store makes its own.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from longmind.errors import Forbidden, InvalidInput
from longmind.problems import first_problem
from longmind.store.base import AddLink, Put
from longmind.store.store import Store
from longmind.types import Link, Memory, Scope

if TYPE_CHECKING:
    from longmind.store.store import Embed

FORMAT = 1
M = TypeVar("M", Memory, Link)
_BATCH = 500
_EXPORT = "Is this a Longmind export?"


@dataclass(slots=True)
class Imported:
    """What an import did."""

    memories: int = 0
    already_there: int = 0
    links: int = 0
    agents: set[tuple[str, str]] = field(default_factory=set)


async def export_lines(store: Store, scopes: Sequence[Scope]) -> AsyncIterator[str]:
    """Yield the lines of an export of these scopes."""
    yield _line({"longmind": FORMAT, "exported_at": store.clock.now().isoformat()})
    memories = links = 0
    hashes: dict[str, str] = {}
    for scope in scopes:
        ids: list[str] = []
        async for memory in store.scan_all(scope):
            ids.append(memory.id)
            yield _line({"memory": memory.model_dump(mode="json", exclude_defaults=True)})
        memories += len(ids)
        for start in range(0, len(ids), _BATCH):
            for link in await store.all_links(scope, ids[start : start + _BATCH]):
                links += 1
                fields = {
                    "tenant": scope.tenant,
                    "agent": scope.agent,
                    **link.model_dump(mode="json", exclude_defaults=True),
                }
                yield _line({"link": fields})
        hashes[f"{scope.tenant}/{scope.agent}"] = await store.content_hash(scope)
    yield _line({"end": {"memories": memories, "links": links, "content_hash": hashes}})


async def import_lines(
    store: Store,
    lines: Iterable[str],
    embed: Embed,
    *,
    tenant: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Imported:
    """Store what an export holds. A memory that exists already is left as it is, so an import can be repeated.

    With a tenant, a line of another tenant or of an agent that is Longmind's own is ``Forbidden``.
    """
    done = Imported()
    waiting: list[Memory] = []
    links: dict[tuple[str, str], list[Link]] = {}
    ended = False
    for number, record in _parse(lines):
        if ended:
            raise InvalidInput(f"Line {number} comes after the end of the export.")
        if "memory" in record:
            memory = _validated(Memory, record["memory"], number)
            _require_tenant(tenant, (memory.tenant, memory.agent), number)
            waiting.append(memory)
            if len(waiting) >= _BATCH:
                await _store(store, waiting, embed, done)
                progress(len(waiting))
                waiting = []
        elif "link" in record:
            if not isinstance(record["link"], dict):
                raise InvalidInput(f"Line {number}: link: must be a JSON object.", hint=_EXPORT)
            link = dict(record["link"])
            owner = (str(link.pop("tenant", "")), str(link.pop("agent", "")))
            _require_tenant(tenant, owner, number)
            links.setdefault(owner, []).append(_validated(Link, link, number))
        elif "end" in record:
            ended = True
    await _store(store, waiting, embed, done)
    progress(len(waiting))
    for owner, agent_links in links.items():
        scope = _scope_of(*owner)
        for start in range(0, len(agent_links), _BATCH):
            await store.apply(scope, [AddLink(link) for link in agent_links[start : start + _BATCH]], reason="import")
        done.links += len(agent_links)
    if not ended:
        raise InvalidInput(
            f"The export was cut short: its last line is missing. Imported before that: {done.memories}.",
            hint="Export it again; importing again adds only what is missing.",
        )
    return done


def _parse(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, dict[str, object]]]]:
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise InvalidInput(f"Line {number} is not text but {type(line).__name__}.", hint=_EXPORT)
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
            raise InvalidInput(f"Line {number} is not JSON: {why}.", hint=_EXPORT) from None
        if not isinstance(record, dict):
            raise InvalidInput(f"Line {number} is not a JSON object.", hint=_EXPORT)
        if number == 1:
            if record.get("longmind") != FORMAT:
                raise InvalidInput("The first line does not say that this is a Longmind export of format 1.")
            continue
        yield number, record


def _require_tenant(tenant: str | None, owner: tuple[str, str], number: int) -> None:
    """Refuse a line of another tenant, or of an agent that is Longmind's own, unless all are allowed (None)."""
    if tenant is not None and (owner[0] != tenant or owner[1].startswith("@")):
        raise Forbidden(
            f"Line {number} is of the agent {owner[1]!r} of the tenant {owner[0]!r}; this import is for {tenant!r}.",
            hint="An administrator can load it with across_tenants=True (--across-tenants).",
            line=number,
        )


def _scope_of(tenant: str, agent: str) -> Scope:
    try:
        return Scope(tenant=tenant, agent=agent, all_users=True)
    except ValidationError:
        raise InvalidInput("A link names no usable tenant and agent.", hint=_EXPORT) from None


def _validated(model: type[M], record: object, number: int) -> M:
    try:
        return model.model_validate(record)
    except ValidationError as error:
        where, reason = first_problem(error)
        raise InvalidInput(f"Line {number}: {where}: {reason}.", field=where) from None


async def _store(store: Store, memories: list[Memory], embed: Embed, done: Imported) -> None:
    for owner in {(m.tenant, m.agent): None for m in memories}:
        scope = Scope(tenant=owner[0], agent=owner[1], all_users=True)
        own = [m for m in memories if (m.tenant, m.agent) == owner]
        there = {m.id for m in await store.get_all(scope, [m.id for m in own])}
        new = [m for m in own if m.id not in there]
        receipt = await store.apply(scope, [Put(m) for m in new], embed=embed, reason="import")
        done.memories += sum(receipt.created)
        done.already_there += len(own) - sum(receipt.created)
        done.agents.add(owner)


def _line(record: dict[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
