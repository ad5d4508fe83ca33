"""The webhook feed: posts are received over HTTP, kept in a spool, and delivered from there."""

import asyncio
import ipaddress
import os
import re
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from longmind import InvalidInput, InvalidSetting
from taat.feeds.base import Delivery
from taat.feeds.webhook.receiver import Receiver
from taat.feeds.webhook.spool import Spool
from taat.models import Post

SECRET = "TAAT_WEBHOOK_SECRET"
_SHORTEST_SECRET = 16
_TURN = 16
"""After so many posts the event loop gets a turn."""


class WebhookFeed:
    """Posts that other programs send to a port. A position is the name of the spool and the number of a post in it."""

    live = True

    def __init__(self, port: int, host: str = "127.0.0.1", *, folder: Path | None = None) -> None:
        """The spool is in ``folder``; by default in the user's data, under ``taat``."""
        if not 1 <= port <= 65535:
            raise InvalidInput(f"{port} is no port.", hint="Say webhook:PORT with 1 to 65535.")
        self.host, self.port = ("127.0.0.1" if host.lower() == "localhost" else host), port
        self.path = (folder or _data_folder()) / f"webhook-{port}.spool"
        self._secret()

    @property
    def name(self) -> str:
        return f"webhook:{self.port}"

    async def deliveries(self, after: str | None = None) -> AsyncGenerator[Delivery, None]:
        """Listen, and yield the posts after a position: those that were received before, then each new one."""
        secret = self._secret()
        spool = await asyncio.to_thread(Spool, self.path)
        try:
            start = _number(after, spool)
            loop, arrived = asyncio.get_running_loop(), asyncio.Event()

            def keep(posts: list[Post]) -> int:
                new = spool.append(posts)
                if not loop.is_closed():
                    loop.call_soon_threadsafe(arrived.set)
                return new

            with self._listening(secret, keep), closing(spool.posts(self.name, start)) as posts:
                delivered = 0
                for kept in posts:
                    if kept is None:
                        await arrived.wait()
                        arrived.clear()
                        continue
                    yield Delivery(kept[1], f"{spool.name}:{kept[0]}")
                    delivered += 1
                    if delivered % _TURN == 0:
                        await asyncio.sleep(0)
        finally:
            spool.close()

    def _secret(self) -> bytes | None:
        """Return the secret from the environment; beyond loopback there must be one."""
        secret = os.environ.get(SECRET, "").strip()
        how = f"Put 32 random bytes (openssl rand -hex 32) into {SECRET}, and let senders sign with it."
        if not secret and not _is_loopback(self.host):
            raise InvalidSetting(f"Listening at {self.host} needs a secret, and {SECRET} is not set.", hint=how)
        if secret and len(secret) < _SHORTEST_SECRET:
            raise InvalidSetting(f"{SECRET} is shorter than {_SHORTEST_SECRET} characters.", hint=how)
        return secret.encode() or None

    @contextmanager
    def _listening(self, secret: bytes | None, keep: Callable[[list[Post]], int]) -> Iterator[None]:
        try:
            receiver = Receiver(self.host, self.port, self.name, secret, keep)
        except OSError as error:
            raise InvalidInput(
                f"Nothing can listen at {self.host} port {self.port}: {error.strerror or error}.",
                hint="Choose another port, or stop the program that has it.",
            ) from error
        thread = threading.Thread(target=receiver.serve_forever, args=(0.02,), name="taat-webhook", daemon=True)
        thread.start()
        try:
            yield
        finally:
            receiver.shutdown()
            receiver.server_close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _data_folder() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "taat"


def _number(position: str | None, spool: Spool) -> int:
    """Return the number of the last post that a position covers; of another spool it covers nothing in this one."""
    if position is None:
        return 0
    parts = re.fullmatch(r"([0-9a-f]{16}):(\d{1,18})", position)
    if parts is None:
        raise InvalidInput(f"{position!r:.80} is not a position of a webhook.", hint="Give it as the feed told it.")
    if parts[1] != spool.name:
        return 0
    if int(parts[2]) > spool.last:
        raise InvalidInput(
            f"{spool.path} ends at post {spool.last:,}, and post {int(parts[2]):,} was delivered before.",
            hint="It was put back to an older state: move it away to begin a new one.",
        )
    return int(parts[2])
