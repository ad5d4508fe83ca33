"""The webhook: what it takes and refuses, and that an accepted post is delivered once, whatever happens."""

import asyncio
import hashlib
import hmac
import http.client
import json
import os
import random
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from longmind import Conflict, InvalidInput, InvalidSetting
from taat.feeds import Delivery, open_feed
from taat.feeds.webhook import WebhookFeed
from taat.feeds.webhook.receiver import LARGEST_BODY, MOST_POSTS
from taat.feeds.webhook.spool import Spool
from taat.models import Post

ROOT = Path(__file__).parents[3]
JSON = {"Content-Type": "application/json"}
SECRET = "0123456789abcdef0123"


def fields(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": str(number),
        "author": "ann",
        "text": f"post {number}",
        "created_at": "2026-03-02T15:04:00Z",
        **changes,
    }


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def sent(
    port: int, body: bytes, headers: dict[str, str] | None = None, method: str = "POST", path: str = "/posts"
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body, JSON if headers is None else headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"{}")
    finally:
        connection.close()


async def send(port: int, data: Any, headers: dict[str, str] | None = None, **more: str) -> tuple[int, dict[str, Any]]:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    return await asyncio.to_thread(sent, port, body, headers, **more)


@pytest.fixture
def feed(tmp_path: Path) -> WebhookFeed:
    return WebhookFeed(free_port(), folder=tmp_path)


async def listening(
    feed: WebhookFeed, after: str | None = None
) -> tuple[AsyncGenerator[Delivery, None], "asyncio.Task[Delivery]"]:
    """Return the deliveries, with the first of them awaited, once the port answers."""
    source = feed.deliveries(after)
    first = asyncio.ensure_future(anext(source))
    while not first.done():
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", feed.port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        break
    return source, first


async def test_one_post_or_a_list_is_delivered_in_order_and_a_restart_goes_on(feed: WebhookFeed) -> None:
    source, first = await listening(feed)
    async with aclosing(source):
        assert await send(feed.port, fields(1, reply_to="9")) == (200, {"accepted": 1, "known": 0})
        delivered = [await first]
        assert await send(feed.port, [fields(2), fields(3), fields(1, reply_to="9")]) == (
            200,
            {"accepted": 2, "known": 1},
        )
        assert await send(feed.port, fields(2, text="other")) == (200, {"accepted": 1, "known": 0})
        delivered += [await anext(source) for _ in range(2)]
    assert delivered[0].post.reply_to == "9"
    source, first = await listening(feed, delivered[-1].position)
    async with aclosing(source):
        delivered.append(await first)
        assert await send(feed.port, fields(2)) == (200, {"accepted": 0, "known": 1})
        assert await send(feed.port, fields(4)) == (200, {"accepted": 1, "known": 0})
        delivered.append(await anext(source))
    posts = [post for post, _ in delivered]
    assert [(post.id, post.text, post.edited) for post in posts] == [
        ("1", "post 1", False),
        ("2", "post 2", False),
        ("3", "post 3", False),
        ("2", "other", True),
        ("4", "post 4", False),
    ]
    assert {post.feed for post in posts} == {feed.name}


@pytest.mark.parametrize(
    ("body", "options", "status", "words"),
    [
        (b"{", {}, 400, "not JSON"),
        (b"\xff", {}, 400, "not JSON"),
        (b'{"a":' * 100_000, {}, 400, "not JSON"),
        (b"3", {}, 422, "Post 1 is not a JSON object"),
        ([fields(1), {"id": "2"}], {}, 422, "Post 2 has no author and no text"),
        (fields(1, created_at="yesterday"), {}, 422, "wrong created_at"),
        (fields(1, reply_to=3), {}, 422, "wrong reply_to"),
        ([fields(1)] * (MOST_POSTS + 1), {}, 413, "more than 1,000 posts"),
        (fields(1), {"headers": {"Content-Type": "text/plain"}}, 415, "not JSON"),
        (fields(1), {"headers": {**JSON, "Content-Length": str(LARGEST_BODY + 1)}}, 413, "larger than"),
        (fields(1), {"headers": {**JSON, "Content-Length": "-1"}}, 411, "how long"),
        (fields(1), {"headers": {**JSON, "Host": "evil.example:80"}}, 403, "own names"),
        (fields(1), {"path": "/other"}, 404, "nothing at"),
        (b"", {"method": "GET"}, 405, "GET is not taken"),
        (b"", {"method": "OPTIONS"}, 405, "OPTIONS is not taken"),
    ],
)
async def test_what_is_wrong_is_told_and_nothing_of_it_is_kept(
    feed: WebhookFeed, body: Any, options: dict[str, Any], status: int, words: str
) -> None:
    source, first = await listening(feed)
    async with aclosing(source):
        told, answer = await send(feed.port, body, **options)
        assert (told, set(answer)) == (status, {"error", "message", "hint"})
        assert words in answer["message"]
        assert (await send(feed.port, fields(77)))[0] == 200
        assert (await first).post.id == "77"


async def test_with_a_secret_only_what_is_signed_is_taken(feed: WebhookFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAAT_WEBHOOK_SECRET", SECRET)
    source, first = await listening(feed)
    async with aclosing(source):
        body = json.dumps(fields(1)).encode()
        right = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        for wrong in ({}, {"X-Hub-Signature-256": right[:-1]}, {"X-Hub-Signature-256": "sha256=é"}):
            status, answer = await send(feed.port, body, {**JSON, **wrong})
            assert (status, answer["error"]) == (401, "wrong_signature")
            assert SECRET not in json.dumps(answer)
        assert (await send(feed.port, body + b" ", {**JSON, "X-Hub-Signature-256": right}))[0] == 401
        assert (await send(feed.port, body, {**JSON, "X-Hub-Signature-256": right, "Host": "taat.example"}))[0] == 200
        assert (await first).post.id == "1"


def test_beyond_loopback_there_must_be_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAAT_WEBHOOK_SECRET", raising=False)
    for host in ("0.0.0.0", "::", "192.0.2.1", "taat.example"):
        with pytest.raises(InvalidSetting, match="TAAT_WEBHOOK_SECRET is not set"):
            WebhookFeed(8080, host, folder=tmp_path)
    for host in ("127.0.0.1", "::1", "localhost"):
        WebhookFeed(8080, host, folder=tmp_path)
    monkeypatch.setenv("TAAT_WEBHOOK_SECRET", "short")
    with pytest.raises(InvalidSetting, match="shorter than 16"):
        WebhookFeed(8080, folder=tmp_path)
    monkeypatch.setenv("TAAT_WEBHOOK_SECRET", SECRET)
    assert SECRET not in repr(vars(WebhookFeed(8080, "0.0.0.0", folder=tmp_path)))


async def test_a_port_or_a_spool_that_is_taken(feed: WebhookFeed, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", feed.port))
        other.listen()
        with pytest.raises(InvalidInput, match="Nothing can listen"):
            await anext(feed.deliveries())
    spool = Spool(feed.path)
    with pytest.raises(Conflict, match="Another program receives"):
        await anext(feed.deliveries())
    spool.close()


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    plain, host, six = (open_feed(f"webhook:{rest}") for rest in ("8080", "localhost:8081", "[::1]:8082"))
    assert isinstance(plain, WebhookFeed)
    assert isinstance(host, WebhookFeed)
    assert isinstance(six, WebhookFeed)
    assert (plain.host, plain.port, plain.name) == ("127.0.0.1", 8080, "webhook:8080")
    assert plain.path == tmp_path / "taat" / "webhook-8080.spool"
    assert (host.host, host.port) == ("127.0.0.1", 8081)
    assert (six.host, six.port) == ("::1", 8082)
    for rest in ("x", "0", "70000", "localhost:", ":8080", "a:b:80"):
        with pytest.raises((InvalidInput, InvalidSetting)):
            open_feed(f"webhook:{rest}")


def posts(*numbers: int) -> list[Post]:
    return [Post(**fields(number)) for number in numbers]


def kept(path: Path) -> list[str]:
    spool = Spool(path)
    try:
        found = []
        for item in spool.posts("webhook", 0):
            if item is None:
                return found
            found.append(item[1].id)
        return found
    finally:
        spool.close()


def test_a_spool_that_was_cut_anywhere_keeps_what_was_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.spool"
    spool = Spool(path)
    spool.append(posts(1))
    spool.append(posts(2, 3))
    spool.close()
    whole = path.read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    for length in {*range(0, len(whole), 5), *ends, *(end - 1 for end in ends)}:
        path.write_bytes(whole[:length])
        lines = sum(end <= length for end in ends)
        assert kept(path) == ["1", "2", "3"][: [0, 0, 1, 3][lines]]
        assert kept(path) == ["1", "2", "3"][: [0, 0, 1, 3][lines]]
    path.write_bytes(whole[: ends[1] - 10] + b"\n" + whole[ends[1] :])
    with pytest.raises(InvalidInput, match=r"Line 2 of .* is damaged"):
        Spool(path)


async def test_a_position_of_another_or_an_older_spool(feed: WebhookFeed) -> None:
    spool = Spool(feed.path)
    spool.append(posts(1, 2))
    spool.close()
    async with aclosing(feed.deliveries()) as source:
        delivered = [await anext(source), await anext(source)]
    position = delivered[-1].position
    lines = feed.path.read_bytes().splitlines(keepends=True)
    feed.path.write_bytes(lines[0])
    with pytest.raises(InvalidInput, match="ends at post 0"):
        await anext(feed.deliveries(position))
    with pytest.raises(InvalidInput, match="is not a position of a webhook"):
        await anext(feed.deliveries("1:2"))
    feed.path.unlink()
    spool = Spool(feed.path)
    spool.append(posts(7))
    spool.close()
    async with aclosing(feed.deliveries(position)) as source:
        assert (await anext(source)).post.id == "7"


async def test_what_cannot_be_kept_is_not_acknowledged(feed: WebhookFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    source, first = await listening(feed)
    async with aclosing(source):
        with monkeypatch.context() as full:

            def no_space(file: int) -> None:
                raise OSError(28, "No space left on device")

            full.setattr(os, "fsync", no_space)
            status, answer = await send(feed.port, fields(1))
        assert (status, answer["error"]) == (503, "not_kept")
        assert (await send(feed.port, fields(2)))[0] == 200
        assert (await send(feed.port, fields(1)))[0] == 200
        assert [(await first).post.id, (await anext(source)).post.id] == ["2", "1"]


PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from taat.feeds.webhook import WebhookFeed

async def run(port, folder):
    log = os.open(f"{folder}/delivered", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    lines = os.read(log, 10_000_000).decode().splitlines()
    after = lines[-1].split()[1] if lines else None
    async for post, position in WebhookFeed(port, folder=Path(folder)).deliveries(after):
        os.write(log, f"{post.id} {position}\\n".encode())

asyncio.run(run(int(sys.argv[1]), sys.argv[2]))
"""


async def test_killed_at_any_moment_every_acknowledged_post_is_delivered_once(tmp_path: Path) -> None:
    port, chance = free_port(), random.Random(5)
    command = [sys.executable, "-c", PROGRAM, str(port), str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    acknowledged: list[int] = []
    number = 0
    unsure: list[int] = []
    log = tmp_path / "delivered"

    async def accepted(numbers: list[int]) -> bool:
        try:
            return (await send(port, [fields(n) for n in numbers]))[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    async def written(count: int) -> None:
        while True:
            if len(log.read_text().splitlines()) >= count:
                return
            await asyncio.sleep(0.02)

    for last in [False] * 6 + [True]:
        process = await asyncio.create_subprocess_exec(*command, env=env)
        try:
            while not await accepted(unsure or [number]):  # what was not acknowledged is sent again
                assert process.returncode is None
                await asyncio.sleep(0.02)
            acknowledged += unsure or [number]
            unsure = []
            number += 1
            kill_at = chance.randint(1, 40)
            for count in range(60):
                batch = list(range(number, number + chance.randint(1, 4)))
                number = batch[-1] + 1
                sending = asyncio.ensure_future(accepted(batch))
                if count == kill_at and not last:
                    await asyncio.sleep(chance.random() / 200)
                    process.send_signal(signal.SIGKILL)
                if not await sending:
                    unsure = batch
                    break
                acknowledged += batch
            if last:
                await written(len(acknowledged))
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
    delivered = [int(line.split()[0]) for line in log.read_text().splitlines()]
    assert len(delivered) == len(set(delivered))
    assert sorted(delivered) == sorted(acknowledged)
    assert len(acknowledged) > 100
