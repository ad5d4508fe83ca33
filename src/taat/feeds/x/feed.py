"""The X feed: the filtered stream for what is new, the timelines for what it missed.

Each round connects the stream, then asks the timelines for everything after the position, delivers that oldest first,
and then what the stream brings. So nothing falls between the two, and what both bring is delivered once. While the
stream is connected the timelines are asked now and then, since a stream can lose a post without ending.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Iterable
from typing import Any

from longmind import InvalidInput
from taat.feeds.base import Delivery
from taat.feeds.x.api import Sleep, Waits, XApi, refusal, until
from taat.feeds.x.connection import API, Session, bearer_token, checked_address
from taat.feeds.x.posts import Version, version_of
from taat.feeds.x.progress import Progress
from taat.feeds.x.stream import Ended, StreamConnection

log = logging.getLogger(__name__)
_MOST_ACCOUNTS = 100
_STEADY = 60.0
"""A connection that lasted so many seconds was a good one: the next attempt after it need not wait."""


class XFeed:
    """The posts of accounts on X, without retweets. Its first start begins with the latest 100 of each account."""

    live = True
    name = "x"

    def __init__(
        self,
        accounts: Iterable[str],
        *,
        streamed: bool = True,
        every: float = 300.0,
        address: str = API,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """``every`` is how often, in seconds, the timelines are asked; without the stream they are all there is."""
        self.accounts = list(dict.fromkeys(name.strip().removeprefix("@") for name in accounts))
        wrong = [name for name in self.accounts if not re.fullmatch(r"[A-Za-z0-9_]{1,15}", name)]
        if wrong or not 1 <= len(self.accounts) <= _MOST_ACCOUNTS:
            raise InvalidInput(
                f"{wrong[0]!r} is not the name of an account."
                if wrong
                else f"{len(self.accounts)} accounts is no list.",
                hint=f"Say x:ACCOUNT or x:ACCOUNT,ACCOUNT with 1 to {_MOST_ACCOUNTS} names.",
            )
        self._streamed = streamed
        self._every = every
        self._address = checked_address(address)
        self._sleep = sleep

    async def deliveries(self, after: str | None = None) -> AsyncGenerator[Delivery, None]:
        """Yield the posts that come after a position, and then each new one."""
        progress, token = Progress(after), bearer_token()
        api = XApi(Session(self._address, token), self._sleep)
        authors = await api.accounts(self.accounts)
        if self._streamed:
            await api.set_rules(self.accounts)
        cut, failed, limited = Waits(0.25, 16), Waits(5, 320), Waits(60, 900)
        loop = asyncio.get_running_loop()
        while True:
            if not self._streamed:
                for version in await self._missed(api, progress, authors):
                    yield _delivery(version, progress)
                await self._sleep(self._every)
                continue
            stream = StreamConnection(Session(self._address, token))
            try:
                await stream.connected()
                ended: Ended | None = None
                while ended is None:
                    for version in await self._missed(api, progress, authors):
                        yield _delivery(version, progress)
                    asked_again = loop.time() + self._every
                    while (event := await stream.next(asked_again - loop.time())) is not None:
                        if isinstance(event, Ended):
                            ended = event
                            break
                        for version in _new([event], authors, progress):
                            yield _delivery(version, progress)
            finally:
                stream.close()
            if ended.after >= _STEADY:
                for waits in (cut, failed, limited):
                    waits.start_again()
            await self._sleep(_wait(ended, cut, failed, limited))

    async def _missed(self, api: XApi, progress: Progress, authors: dict[str, str]) -> list[Version]:
        """Return what the timelines have after the position, oldest first."""
        missed: list[Version] = []
        for account in authors:
            since = progress.since(account)
            page = [{**post, "author_id": account} for post in await api.timeline(account, since)]
            versions = _new(page, authors, progress)
            if since is None:
                # from here on everything counts, also if this run ends before the first of them is done
                progress.begin(account, min((version.number for version in versions), default=2) - 1)
            missed += versions
        return sorted(missed, key=lambda version: version.number)


def _new(posts: list[dict[str, Any]], authors: dict[str, str], progress: Progress) -> list[Version]:
    """Return those of the posts that were not delivered, each once, oldest first."""
    versions: dict[int, Version] = {}
    for fields in posts:
        if str(fields.get("author_id")) not in authors:
            continue  # the stream also brings what rules of others ask for
        try:
            version = version_of(fields, authors, XFeed.name)
        except ValueError as error:
            log.warning("Post %.30s of X %s; it is left out.", fields.get("id"), error)
            continue
        if not progress.covers(version.account, version.number):
            versions[version.number] = version
    return [versions[number] for number in sorted(versions)]


def _delivery(version: Version, progress: Progress) -> Delivery:
    return Delivery(version.post, progress.add(version.account, version.versions))


def _wait(ended: Ended, cut: Waits, failed: Waits, limited: Waits) -> float:
    """Return how long to wait before the stream is connected again; raise if X will never accept it."""
    if ended.status in (420, 429):
        wait = until(ended.reset, limited.next())
    elif ended.status >= 500:
        wait = failed.next()
    elif ended.status == 200:
        return cut.next()
    else:
        raise refusal(ended.status, "the stream")
    log.warning("X does not accept the stream (HTTP %d); tried again in %.0f s.", ended.status, wait)
    return wait
