"""The X feed: the real ``tweepy`` against a loopback server that limits, cuts, repeats, reorders and fails."""

import asyncio
import json
import logging
import os
import random
import signal
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import aclosing
from functools import partial
from pathlib import Path

import pytest
from tests.taat.feeds.x_server import CUT, END, HALF, KEEP_ALIVE, TOKEN, X, tweet, x_server

from longmind import Forbidden, InvalidInput, InvalidSetting, NotFound
from taat.feeds import Delivery, open_feed
from taat.feeds.x import XFeed
from taat.feeds.x.progress import Progress

ROOT = Path(__file__).parents[3]
STREAM, ANN, RULES = "/2/tweets/search/stream", "/2/users/1/tweets", "/2/tweets/search/stream/rules"


@pytest.fixture
def x(monkeypatch: pytest.MonkeyPatch) -> Iterator[X]:
    monkeypatch.setenv("X_BEARER_TOKEN", TOKEN)
    with x_server() as server:
        yield server


class Slept(list[float]):
    """The waits that were asked for; none is waited."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
        await asyncio.sleep(0)


def feed(x: X, *accounts: str, streamed: bool = True, sleep: Slept | None = None, every: float = 300) -> XFeed:
    names = accounts or ("ann", "bob")
    waited = Slept() if sleep is None else sleep
    return XFeed(names, streamed=streamed, every=every, address=x.address, sleep=waited)


async def taken(feed: XFeed, count: int, after: str | None = None) -> list[Delivery]:
    """Return so many deliveries, and leave the feed then."""
    deliveries: list[Delivery] = []
    async with asyncio.timeout(20), aclosing(feed.deliveries(after)) as source:
        while len(deliveries) < count:
            deliveries.append(await anext(source))
    return deliveries


def ids(deliveries: list[Delivery]) -> list[int]:
    return [int(post.id) for post, _ in deliveries]


async def test_the_timelines_come_first_and_oldest_first_then_the_stream(x: X) -> None:
    x.timeline = [tweet(5), tweet(3), tweet(4, "2"), tweet(1, "2")]
    x.connections.append([KEEP_ALIVE, tweet(5), KEEP_ALIVE, tweet(6, "2"), tweet(7), tweet(8, "9"), tweet(9)])
    deliveries = await taken(feed(x), 7)
    assert ids(deliveries) == [1, 3, 4, 5, 6, 7, 9]
    assert [post.author for post, _ in deliveries] == ["bob", "Ann", "bob", "Ann", "bob", "Ann", "Ann"]
    assert {post.feed for post, _ in deliveries} == {"x"}
    assert x.tokens == {f"Bearer {TOKEN}"}


async def test_rules_are_set_for_the_accounts_and_those_of_others_are_kept(x: X) -> None:
    x.timeline = [tweet(1)]
    foreign = {"id": "7", "value": "cats", "tag": "cats"}
    x.rules = [foreign, {"id": "8", "value": "from:old", "tag": "taat"}]
    await taken(feed(x), 1)
    assert x.rules[0] == foreign
    assert [(rule["value"], rule["tag"]) for rule in x.rules[1:]] == [("(from:ann OR from:bob) -is:retweet", "taat")]
    await taken(feed(x), 1)
    assert x.counts[f"POST {RULES}"] == 2


async def test_a_cut_stream_is_connected_again_and_the_gap_is_filled_once(x: X) -> None:
    x.timeline = [tweet(1)]
    x.connections.append([tweet(2), lambda: x.timeline.extend([tweet(2), tweet(3), tweet(4)]), CUT])
    x.connections.append([tweet(4), tweet(5), tweet(3), HALF, END])
    x.connections.append([tweet(5), tweet(6), HALF, CUT])
    x.connections.append([END])
    x.connections.append([tweet(7)])
    slept = Slept()
    assert ids(await taken(feed(x, "ann", sleep=slept), 7)) == [1, 2, 3, 4, 5, 6, 7]
    assert x.counts[STREAM] == 5
    assert slept == [0.25, 0.5, 1, 2]


async def test_a_long_gap_is_filled_page_by_page(x: X) -> None:
    x.page = 10
    x.timeline = [tweet(number) for number in range(1, 6)]
    position = (await taken(feed(x, "ann"), 5))[-1].position
    x.timeline += [tweet(number) for number in range(6, 78)]
    random.Random(1).shuffle(x.timeline)
    x.fail(ANN, 503)
    assert ids(await taken(feed(x, "ann"), 72, position)) == list(range(6, 78))


@pytest.mark.parametrize("path", ["/2/users/by", RULES, f"POST {RULES}", ANN, STREAM])
async def test_a_limit_is_waited_for_until_x_lifts_it(x: X, path: str) -> None:
    x.timeline = [tweet(1)]
    x.connections.append([tweet(2)])
    reset = int(time.time()) + 500
    x.fail(path, 429, x_rate_limit_reset=str(reset))
    x.fail(path, 429)
    slept = Slept()
    assert ids(await taken(feed(x, "ann", sleep=slept), 2)) == [1, 2]
    assert 400 < slept[0] <= 502
    assert slept[1] >= 60
    assert x.counts[path] == 3


@pytest.mark.parametrize("path", ["/2/users/by", RULES, f"POST {RULES}", ANN, STREAM])
@pytest.mark.parametrize("body", [b"{}", b"<html>down</html>", b""])
async def test_a_failing_server_is_asked_again_after_longer_and_longer_waits(x: X, path: str, body: bytes) -> None:
    x.timeline = [tweet(1)]
    x.connections.append([tweet(2)])
    for status in (503, 500, 502):
        x.fail(path, status, body)
    slept = Slept()
    assert ids(await taken(feed(x, "ann", sleep=slept), 2)) == [1, 2]
    assert slept == ([5, 10, 20] if path == STREAM else [1, 2, 4])


async def test_posts_come_from_the_timelines_while_the_stream_is_refused(x: X) -> None:
    x.fail(STREAM, 503)
    x.timeline = [tweet(1)]
    x.connections.append([tweet(2)])
    assert ids(await taken(feed(x, "ann"), 1)) == [1]
    assert x.counts[STREAM] == 1


async def test_an_edit_has_the_id_of_the_first_version_and_comes_once(x: X) -> None:
    edited = tweet(12, text="Bought $AAPL at 191", edit_history_tweet_ids=["10", "11", "12"])
    late = tweet(11, edit_history_tweet_ids=["10", "11"])
    x.timeline = [tweet(10)]
    x.connections.append([edited, edited, late, tweet(13), CUT])
    x.connections.append([edited, tweet(14)])
    deliveries = await taken(feed(x, "ann"), 4)
    assert [(post.id, post.edited) for post, _ in deliveries] == [
        ("10", False),
        ("10", True),
        ("13", False),
        ("14", False),
    ]
    assert deliveries[1].post.text == "Bought $AAPL at 191"


async def test_replies_long_posts_and_escaped_characters(x: X) -> None:
    reply = tweet(
        1, text="R&amp;R &gt; 2", referenced_tweets=[{"type": "quoted", "id": "7"}, {"type": "replied_to", "id": "8"}]
    )
    x.timeline = [
        reply,
        tweet(2, text="Bought…", note_tweet={"text": "Bought $AAPL &lt; 190"}),
        {"id": "3", "text": "x", "author_id": "1"},
    ]
    x.timeline.append(tweet(4))
    (first, _), (long, _), (after_a_broken_one, _) = await taken(feed(x, "ann"), 3)
    assert (first.reply_to, first.text) == ("8", "R&R > 2")
    assert (long.reply_to, long.text) == (None, "Bought $AAPL < 190")
    assert after_a_broken_one.id == "4"


async def test_without_the_stream_the_timelines_are_asked_again_and_again(x: X) -> None:
    x.timeline = [tweet(1)]

    class More(Slept):
        async def __call__(self, seconds: float) -> None:
            await super().__call__(seconds)
            x.timeline.append(tweet(1 + len(self)))

    assert ids(await taken(feed(x, "ann", streamed=False, sleep=More()), 4)) == [1, 2, 3, 4]
    assert x.counts[STREAM] == 0


@pytest.mark.parametrize("seed", range(5))
async def test_any_restart_goes_on_without_a_gap_or_a_repeat(x: X, seed: int) -> None:
    """Posts appear in the stream, reordered and repeated, or only in the timeline; it is cut and left anywhere."""
    chance = random.Random(seed)
    x.page = 5
    posts = [tweet(number, chance.choice("12")) for number in range(1, 41)]
    written = 4
    x.timeline = posts[:written]
    deliveries = await taken(feed(x), chance.randint(1, written))
    delivered, position = ids(deliveries), deliveries[-1].position
    while len(delivered) < len(posts):
        for _ in range(chance.randint(1, 3)):
            part = posts[written : (written := min(written + chance.randint(1, 6), len(posts)))]
            shown = [post for post in part if chance.random() < 0.7] + chance.sample(posts[:written], 2)
            chance.shuffle(shown)
            written_now = partial(x.timeline.extend, part)
            end = [HALF, chance.choice([CUT, END])] if chance.random() < 0.5 else [chance.choice([CUT, END])]
            x.connections.append([KEEP_ALIVE, *shown, KEEP_ALIVE, *shown[:2], written_now, *end])
        deliveries = await taken(feed(x, every=0.02), chance.randint(1, written - len(delivered)), position)
        delivered += ids(deliveries)
        position = deliveries[-1].position
        while x.connections:  # what was written while nobody was connected
            for item in x.connections.popleft():
                if callable(item):
                    item()
    assert sorted(delivered) == list(range(1, 41))


def test_a_position_stays_short_and_still_covers_what_it_covered() -> None:
    progress = Progress()
    first = 1_900_000_000_000_000_000
    progress.begin("1", first - 1)
    numbers = [first + (minute * 60_000 << 22) for minute in range(3000)]
    for number in numbers:
        position = progress.add("1", [number])
        assert len(position) < 400
    again = Progress(position)
    assert again.position() == position
    assert all(again.covers("1", number) for number in numbers)
    assert not again.covers("1", numbers[-1] - 1)
    assert not again.covers("1", numbers[-1] + 1)
    assert not again.covers("2", numbers[0])
    for number in range(1000):
        position = progress.add("1", [numbers[-1] + 1 + number])
    assert len(position) < 6000


async def test_the_token_is_nowhere_but_in_the_request(x: X, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    x.timeline = [tweet(1)]
    x.connections.append([tweet(2), CUT])
    x.fail(ANN, 503, b"<html>")
    source = feed(x, "ann")
    (delivery,) = await taken(source, 1)
    x.fail("/2/users/by", 401)
    with pytest.raises(InvalidSetting) as refused:
        await taken(source, 1)
    assert x.tokens == {f"Bearer {TOKEN}"}
    assert "Making API request" in caplog.text
    chain = [refused.value.__cause__, refused.value.__context__]
    for text in (caplog.text, repr(source), repr(vars(source)), delivery.position, repr(refused.value), repr(chain)):
        assert TOKEN not in text
    assert chain == [None, None]


@pytest.mark.parametrize(
    ("path", "status", "error", "words"),
    [
        ("/2/users/by", 401, InvalidSetting, "X_BEARER_TOKEN"),
        (RULES, 403, Forbidden, "x-poll:"),
        (STREAM, 403, Forbidden, "x-poll:"),
        (STREAM, 401, InvalidSetting, "X_BEARER_TOKEN"),
        (ANN, 400, InvalidInput, "accounts"),
    ],
)
async def test_a_refusal_for_good_is_told(x: X, path: str, status: int, error: type[Exception], words: str) -> None:
    x.fail(path, status)
    with pytest.raises(error, match=words):
        await taken(feed(x, "ann"), 1)


async def test_an_account_that_does_not_exist_is_named(x: X) -> None:
    with pytest.raises(NotFound, match="no account nobody"):
        await taken(feed(x, "ann", "nobody"), 1)


async def test_no_token_no_position_no_names(x: X, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="is not a position of the X feed"):
        await taken(feed(x), 1, "12:1:0123")
    for names in ([], ["a b"], ["x" * 16], [""], [f"a{number}" for number in range(101)]):
        with pytest.raises(InvalidInput, match="x:ACCOUNT"):
            XFeed(names)
    with pytest.raises(InvalidSetting, match="https"):
        XFeed(["ann"], address="http://example.com")
    monkeypatch.delenv("X_BEARER_TOKEN")
    with pytest.raises(InvalidSetting, match="X_BEARER_TOKEN is not set"):
        await taken(feed(x), 1)


async def test_the_address_of_the_feed(x: X, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_API_URL", x.address)
    x.timeline = [tweet(1), tweet(2, "2")]
    source = open_feed("x:@Ann,bob")
    assert isinstance(source, XFeed)
    assert ids(await taken(source, 2)) == [1, 2]
    assert x.counts[STREAM] == 1
    polled = open_feed("x-poll:ann")
    assert isinstance(polled, XFeed)
    assert ids(await taken(polled, 1)) == [1]
    assert x.counts[STREAM] == 1


def test_without_tweepy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("taat.feeds.x")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tweepy", None)
    with pytest.raises(InvalidInput, match="tweepy") as caught:
        open_feed("x:ann")
    assert caught.value.hint == "pip install 'longmind[taat]'"


async def test_the_command_answers_posts_of_x_as_they_come(x: X) -> None:
    x.timeline = [tweet(1, text="Bought 200 shares of $NVDA at 181.40")]
    x.connections.append([tweet(2, text="took half off here at 186")])
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "X_API_URL": x.address}
    command = [sys.executable, "-m", "taat", "signals", "--feed", "x:ann", "--json"]
    process = await asyncio.create_subprocess_exec(*command, env=env, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    opened, reduced = [json.loads(await process.stdout.readline()) for _ in range(2)]
    assert (opened["id"], opened["signals"][0]["action"]) == ("1", "open")
    assert (reduced["id"], reduced["signals"][0]["action"]) == ("2", "reduce")
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 130
    assert await process.stderr.read() == b""
