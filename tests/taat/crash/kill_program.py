"""Follows a feed in a folder, and is killed on the way: at a numbered point, or by somebody outside.

    python -m tests.taat.crash.kill_program points --points 200
    python -m tests.taat.crash.kill_program replay --posts 10000 --kills 40

Points are counted in the objects that the trader is given, not in the trader: before and after each call of the
broker, of the memory's writes, of the runs of procedures and of what is learnt. The process kills itself with SIGKILL
there. Then a process finishes the feed, and what it leaves must be what a run without a kill leaves: money, positions,
executions, decisions, trades and records of announcers.

The files are in memory and are removed at the end, also after a failure, Ctrl-C or SIGTERM; with ``--folder`` they are
written there and kept.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.taat_posts import write_posts
from taat.brokers import PaperBroker, PaperSettings
from taat.feeds import open_feed
from taat.market import AnnouncedPrices
from taat.memory import open_memory
from taat.trader import Trader

_BROKER = ("place", "cancel", "advance", "fills", "order")
MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
"""A kill of the process is no power failure, so files in memory do, and are faster."""
_ENDING = {signal.SIGTERM, signal.SIGINT}
PREFIX = "taat-kill-"
"""How the names of folders in memory begin; the id of the process follows."""
_PROCEDURAL = ("execute", "learn", "store", "resume")


class Killer:
    """Counts points, and kills the process at one of them."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.count = 0

    def point(self) -> None:
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: object, name: str) -> None:
        """Make a method of an object pass a point before it and one after it."""
        original: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def passing(*arguments: Any, **named: Any) -> Any:
            self.point()
            result = await original(*arguments, **named)
            self.point()
            return result

        setattr(owner, name, passing)


async def follow(folder: Path, feed: str, kill_at: int | None = None) -> int:
    """Run the feed to its end and return how many points there were."""
    killer = Killer(kill_at)
    market = AnnouncedPrices(folder / "prices.jsonl")
    settings = PaperSettings(fee_per_unit=Decimal("0.01"), slippage_percent=Decimal("0.05"))
    broker = PaperBroker(market, folder / "paper.db", settings)
    for name in _BROKER:
        killer.around(broker, name)
    async with open_memory(folder / "memory.db") as memory:
        killer.around(memory, "write")
        for name in _PROCEDURAL:
            killer.around(memory.agent.procedural, name)
        trader = Trader(memory, broker, market, batch=20)
        await trader.start()
        await trader.run(open_feed(feed))
    await broker.close()
    await market.close()
    return killer.count


async def left(folder: Path) -> dict[str, Any]:
    """Return everything that must be the same however often the run was killed."""
    market = AnnouncedPrices(folder / "prices.jsonl")
    broker = PaperBroker(market, folder / "paper.db")
    account = await broker.account()
    state: dict[str, Any] = {
        "cash": str(account.cash),
        "equity": str(account.equity),
        "positions": sorted((str(p.instrument), str(p.quantity)) for p in await broker.positions()),
        "fills": [(fill.id, str(fill.quantity), str(fill.price), str(fill.fee)) for fill in await broker.fills()],
        "waiting": sorted(report.order.client_id for report in await broker.open_orders()),
    }
    async with open_memory(folder / "memory.db") as memory:
        state["posts"] = sorted([(post.id, post.text) async for post in memory.posts()])
        state["signals"] = [record.id async for record in memory.signals()]
        state["decisions"] = sorted([each.model_dump_json() async for each in memory.decisions()])
        state["executions"] = sorted([each.model_dump_json() async for each in memory.executions()])
        state["trades"] = sorted([each.model_dump_json(exclude={"run"}) async for each in memory.trades()])
        state["announcers"] = [each.model_dump_json() for each in await memory.announcers()]
        version = await memory.agent.procedural.retrieve("execute_trade")
        state["limits"] = version.procedure.model_dump(mode="json")["parameters"]
    await broker.close()
    await market.close()
    return json.loads(json.dumps(state))  # type: ignore[no-any-return]


def start(work: Callable[[], object]) -> int:
    """Do some work in a child process and return its id.

    Signals to end wait until it is there: Python swallows an exit out of what it calls around a fork.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    except BaseException:
        stop(child)
        raise
    return child


def stop(child: int) -> None:
    """SIGKILL to a child process; wait for its end."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def forked(work: Callable[[], object]) -> int:
    """Do some work in a child process and return its exit status, negative for a signal."""
    child = start(work)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except BaseException:  # this process is to end: the child must not go on writing
        stop(child)
        raise


def in_child(work: Callable[[], Awaitable[Any]]) -> Any:
    """Return what a coroutine comes to in a child process, so that this one keeps no threads."""
    with tempfile.NamedTemporaryFile() as answer:

        def run() -> None:
            Path(answer.name).write_text(json.dumps(asyncio.run(work())))  # type: ignore[arg-type]

        if forked(run) != 0:
            raise RuntimeError("The child failed.")
        return json.loads(Path(answer.name).read_text())


def say(text: str) -> None:
    """Tell how it goes."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextmanager
def working_folder(folder: Path | None) -> Iterator[Path]:
    """Give a folder of the caller's choice, which is kept, or one in memory that is removed at the end."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the folder is removed
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", dir=MEMORY) as made:
        yield Path(made)


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return the names of what differs, with the first difference."""
    told = []
    for name, value in expected.items():
        if found[name] != value:
            pairs = zip(value, found[name], strict=False) if isinstance(value, list) else [(value, found[name])]
            first = next((f"{one} != {other}" for one, other in pairs if one != other), "another length")
            told.append(f"{name}: {first[:300]}")
    return told


def kill_at_points(root: Path, points: int, posts: int, seed: int) -> int:
    """Kill a run at points spread over all it passes, finish it, and compare; return how many were wrong."""
    feed = f"file:{write_posts(root / 'posts.jsonl', posts, seed=seed, share=0.5, authors=4)}"
    whole = root / "whole"
    whole.mkdir()
    total = in_child(lambda: follow(whole, feed))
    expected = in_child(lambda: left(whole))
    places = sorted({1 + n * total // points for n in range(points)})
    say(f"{total} points in {posts} posts, {len(expected['executions'])} executions; {len(places)} kills")
    wrong = 0
    for place in places:
        folder = root / f"killed-{place}"
        folder.mkdir()
        status = forked(lambda folder=folder, place=place: asyncio.run(follow(folder, feed, place)))
        assert status == -signal.SIGKILL, f"point {place}: the process was not killed but ended with {status}"
        finished = forked(lambda folder=folder: asyncio.run(follow(folder, feed)))
        told = ["the second run failed"] if finished else differences(expected, in_child(lambda f=folder: left(f)))
        if told:
            wrong += 1
            say(f"point {place}: {'; '.join(told)}")
        else:
            shutil.rmtree(folder)
    say(f"{len(places) - wrong} of {len(places)} runs are equal to the cent")
    return wrong


def kill_at_random(root: Path, posts: int, kills: int, seed: int) -> int:
    """Kill a replay at random moments until it is through, and compare; return whether it was wrong."""
    feed = f"file:{write_posts(root / 'posts.jsonl', posts, seed=seed)}"
    whole, killed = root / "whole", root / "killed"
    whole.mkdir()
    killed.mkdir()
    began = time.monotonic()
    in_child(lambda: follow(whole, feed))
    seconds = time.monotonic() - began
    expected = in_child(lambda: left(whole))
    chance, done, count = random.Random(seed), False, 0
    while not done:
        child = start(lambda: asyncio.run(follow(killed, feed)))
        until = time.monotonic() + chance.uniform(0.3, 2 * seconds / kills + 0.6)
        status = None
        try:
            while status is None and (count >= kills or time.monotonic() < until):
                pid, raw = os.waitpid(child, os.WNOHANG)
                status = os.waitstatus_to_exitcode(raw) if pid else None
                time.sleep(0.01)
        finally:
            if status is None:
                stop(child)
        if status is None:
            count += 1
        else:
            assert status == 0, f"the run ended with {status}"
            done = True
    told = differences(expected, in_child(lambda: left(killed)))
    say(f"{posts} posts, {len(expected['executions'])} executions, {count} kills, cash {expected['cash']}")
    say("; ".join(told) or "equal to the cent")
    return bool(told)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["points", "replay"])
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--posts", type=int, default=None)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=None, help="write the files here and keep them")
    asked = parser.parse_args()
    with working_folder(asked.folder) as root:
        if asked.what == "points":
            wrong = kill_at_points(root, asked.points, asked.posts or 40, asked.seed)
        else:
            wrong = kill_at_random(root, asked.posts or 10_000, asked.kills, asked.seed)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
