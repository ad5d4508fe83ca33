"""Figures of a server under load, beside those of the same recalls in this process.

The overhead of the server is the CPU time of its process for a recall, less that of a recall in this process on the
same store: everything between the socket and the method, and back. The reranker is off, unless ``LONGMIND_RERANK_MS``
says otherwise: its budget of CPU time is many times that of all the rest, and its spread hides what the server adds.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from benchmarks.quality import Figure, Progress
from benchmarks.scale import texts
from benchmarks.serve.clients import Clients, Load
from benchmarks.serve.database import LocalServer
from benchmarks.serve.server import ServerProcess, served
from longmind.memory import Longmind
from longmind.types import Scope

AGENTS, MEMORIES = 8, 1_000
CLIENTS = 32
WRITE_EVERY = 5
"""One request in five remembers, four recall."""
RECALLS = 400


async def measure(
    url: str,
    folder: Path,
    seconds: float,
    progress: Progress,
    *,
    workers: int = 1,
    memories: int = MEMORIES,
    database: LocalServer | None = None,
) -> list[Figure]:
    """Fill a store, ask it in this process and through a server, and kill the server, then the database if given."""
    os.environ.setdefault("LONGMIND_RERANK_MS", "0")  # the server inherits it
    agents, questions = [f"agent {number}" for number in range(AGENTS)], await _fill(url, memories)
    progress(0.1)
    inside = await _in_process(url, agents, questions, seconds)
    progress(0.4)
    options = ["--no-consolidation", "--rate", "1000000", "--burst", "1000000"]
    options += ["--workers", str(workers)] if workers > 1 else []
    log = folder / "server.log"
    with served(url, log, *options) as server:
        alone = await _recall_cpu(server, agents, questions, clients=1)
        many = await _recall_cpu(server, agents, questions, clients=CLIENTS)
        clients = Clients(server.address, agents, questions, clients=CLIENTS, write_every=WRITE_EVERY)
        load = await clients.run(seconds)
        progress(0.8)
        killed = await _killed_under_load(server, agents, questions)
    loads, of_database = [load, killed], []
    if database is not None:
        with served(url, log, *options) as server:
            outage = await _database_killed_under_load(database, server, agents, questions)
        loads.append(outage.load)
        of_database = outage.figures()
    missing = await lost_writes(url, loads)
    progress(1.0)
    asked = sorted(load.recalls)
    return [
        ("clients", CLIENTS, ""),
        ("errors", len(load.errors) + load.lost, ""),
        ("requests a second", round(load.requests / load.seconds, 1), "1/s"),
        ("requests a second in this process", round(inside.load.requests / inside.load.seconds, 1), "1/s"),
        (f"recall, {CLIENTS} clients, p50", _ms(asked, 50), "ms"),
        (f"recall, {CLIENTS} clients, p99", _ms(asked, 99), "ms"),
        (f"recall, {CLIENTS} tasks in this process, p50", _ms(inside.load.recalls, 50), "ms"),
        (f"recall, {CLIENTS} tasks in this process, p99", _ms(inside.load.recalls, 99), "ms"),
        ("recall in this process, CPU", inside.cpu, "ms"),
        ("recall through the server, one client, CPU of the server", alone, "ms"),
        (f"recall through the server, {CLIENTS} clients, CPU of the server", many, "ms"),
        ("server overhead of a recall, one client, CPU", round(alone - inside.cpu, 2), "ms"),
        (f"server overhead of a recall, {CLIENTS} clients, CPU", round(many - inside.cpu, 2), "ms"),
        *of_database,
        ("writes acknowledged, the last of them until kill -9", sum(map(_count, loads)), ""),
        ("acknowledged writes lost", missing, ""),
    ]


class InProcess:
    """The same load without a server."""

    def __init__(self, cpu: float, load: Load) -> None:
        self.cpu = cpu
        """CPU milliseconds of a recall."""
        self.load = load


@dataclass
class Outage:
    """What clients saw while the database was killed and started again."""

    load: Load
    back: float
    """Seconds from the start of the database until requests were carried out again, its recovery included."""

    def figures(self) -> list[Figure]:
        return [
            ("database killed: answers of 503, each with Retry-After", len(self.load.unavailable), ""),
            ("database killed: longest wait for a 503", round(max(self.load.unavailable, default=0.0), 2), "s"),
            (
                "database killed: other errors and requests without an answer",
                len(self.load.errors) + self.load.lost,
                "",
            ),
            ("database started: until every client was answered again", round(self.back, 2), "s"),
        ]


async def _database_killed_under_load(
    database: LocalServer, server: ServerProcess, agents: list[str], questions: list[str]
) -> Outage:
    """Kill the database while clients ask and write; start it once all were told, and go on until all were answered."""
    clients = Clients(server.address, agents, questions, clients=CLIENTS, write_every=WRITE_EVERY)
    running = asyncio.create_task(clients.run())
    await clients.until(lambda load: load.requests >= 2 * CLIENTS)
    await asyncio.to_thread(database.kill)
    clients.database_lost_at = time.perf_counter()
    await clients.until(lambda load: len(load.unavailable) >= 2 * CLIENTS)
    began, before = time.perf_counter(), clients.load.requests
    await asyncio.to_thread(database.start)
    await clients.until(lambda load: load.requests >= before + CLIENTS)
    back = time.perf_counter() - began
    clients.stop()
    return Outage(await running, back)


async def _fill(url: str, memories: int) -> list[str]:
    """Fill the store. Return questions: the beginnings of some texts."""
    questions: list[str] = []
    generated = texts(AGENTS * memories)
    async with Longmind.open(url) as longmind:
        for number in range(AGENTS):
            sentences = [next(generated) for _ in range(memories)]
            await longmind.agent(f"agent {number}").remember(sentences, session="before")
            questions += [" ".join(sentence.split()[:6]) for sentence in sentences[::25]]
    return questions


async def _in_process(url: str, agents: Sequence[str], questions: Sequence[str], seconds: float) -> InProcess:
    async with Longmind.open(url) as longmind:
        faces = [longmind.agent(agent) for agent in agents]
        for mem in faces:
            await mem.recall(questions[0], k=10)
        began = time.process_time()
        for turn in range(RECALLS):
            await faces[turn % len(faces)].recall(questions[turn % len(questions)], k=10)
        await (await longmind.recaller()).flush()
        cpu = round(1_000 * (time.process_time() - began) / RECALLS, 2)
        load, until = Load(), time.perf_counter() + seconds

        async def client(turn: int) -> None:
            while time.perf_counter() < until:
                mem, question = faces[turn % len(faces)], questions[turn % len(questions)]
                started = time.perf_counter()
                await asyncio.sleep(0)  # the tasks before it have their turn, as requests wait for each other
                if turn % WRITE_EVERY == 0:
                    await mem.remember(f"{question} {uuid4()}")
                    load.writes += 1
                else:
                    await mem.recall(question, k=10)
                    load.recalls.append(time.perf_counter() - started)
                turn += 1

        began = time.perf_counter()
        await asyncio.gather(*(client(number) for number in range(CLIENTS)))
        load.seconds = time.perf_counter() - began
        return InProcess(cpu, load)


async def _recall_cpu(server: ServerProcess, agents: list[str], questions: list[str], clients: int) -> float:
    """Return the CPU milliseconds of the server for each recall, once every agent is loaded."""
    asking = Clients(server.address, agents, questions, clients=clients, write_every=0)
    running = asyncio.create_task(asking.run())
    await asking.until(lambda load: len(load.recalls) >= 4 * len(agents))
    before, began = len(asking.load.recalls), server.cpu_seconds()
    await asking.until(lambda load: len(load.recalls) >= before + RECALLS)
    spent, answered = server.cpu_seconds() - began, len(asking.load.recalls) - before
    asking.stop()
    await running
    return round(1_000 * spent / answered, 2)


async def _killed_under_load(server: ServerProcess, agents: list[str], questions: list[str]) -> Load:
    """Kill the server while clients write."""
    clients = Clients(server.address, agents, questions, clients=CLIENTS, write_every=2)
    running = asyncio.create_task(clients.run())
    await clients.until(lambda load: load.writes >= 2 * CLIENTS)
    server.kill()
    clients.stop()
    return await running


async def lost_writes(url: str, loads: Sequence[Load]) -> int:
    """Return how many memories whose storing was acknowledged are not in the store."""
    lost = 0
    async with Longmind.open(url) as longmind:
        for load in loads:
            for agent, ids in load.acknowledged.items():
                stored = await longmind.store.backend.get(Scope(tenant=longmind.settings.tenant, agent=agent), ids)
                lost += len(set(ids) - {memory.id for memory in stored})
    return lost


def _count(load: Load) -> int:
    return sum(len(ids) for ids in load.acknowledged.values())


def _ms(seconds: Sequence[float], percent: int) -> float:
    ordered = sorted(seconds)
    return round(1_000 * ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 1) if ordered else 0.0
