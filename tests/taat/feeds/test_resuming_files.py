"""A file is read on from any position: no post is left out, none comes twice."""

import asyncio
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import aclosing
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind import InvalidInput
from taat.feeds import FileFeed, StandardInput, open_feed

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
ROOT = Path(__file__).parents[3]


def fields(number: int, text: str) -> dict[str, str]:
    return {"id": str(number), "author": "ann", "text": text, "created_at": "2026-03-02T15:04:00Z"}


def as_json(texts: list[str], empty_lines: list[bool]) -> bytes:
    lines = (json.dumps(fields(number, text), ensure_ascii=False) for number, text in enumerate(texts))
    return b"".join(
        line.encode() + (b"\n \n" if empty else b"\n") for line, empty in zip(lines, empty_lines, strict=True)
    )


def as_csv(texts: list[str]) -> bytes:
    stream = io.StringIO(newline="")
    rows = csv.DictWriter(stream, ["id", "author", "text", "created_at"], quoting=csv.QUOTE_ALL)
    rows.writeheader()
    rows.writerows(fields(number, text) for number, text in enumerate(texts))
    return stream.getvalue().encode()


@settings(max_examples=150, deadline=None)
@given(data=st.data(), texts=st.lists(TEXTS, min_size=1, max_size=12), mark=st.booleans(), form=st.booleans())
def test_from_any_position_the_rest_is_read(data: st.DataObject, texts: list[str], mark: bool, form: bool) -> None:
    content = as_json(texts, data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    content = (b"\xef\xbb\xbf" if mark else b"") + (content if form else as_csv(texts))
    if data.draw(st.booleans()):
        content = content.rstrip(b"\r\n ")
    with tempfile.TemporaryDirectory() as folder:
        feed = FileFeed(Path(folder) / "posts")
        feed.path.write_bytes(content)
        whole = list(feed.read())
        assert [post.id for post, _ in whole] == [str(number) for number in range(len(texts))]
        seen, position = [], None
        while runs := data.draw(st.integers(0, 4)):
            part = list(islice(feed.read(position), runs))
            seen += part
            position = part[-1].position if part else position
        assert seen + list(feed.read(position)) == whole


def test_a_file_that_grew_is_read_on_with_the_numbers_of_its_lines(tmp_path: Path) -> None:
    feed = FileFeed(tmp_path / "posts.jsonl")
    feed.path.write_bytes(as_json(["a", "b"], [True, False]).rstrip())
    *_, (_, position) = feed.read()
    assert list(feed.read(position)) == []
    with feed.path.open("ab") as file:
        file.write(b"\n" + json.dumps(fields(2, "c")).encode() + b"\n{oops\n")
    rest = feed.read(position)
    assert next(rest).post.id == "2"
    with pytest.raises(InvalidInput, match="Line 5 of"):
        next(rest)


@pytest.mark.parametrize("content", [b"", as_json(["b", "a", "c"], [False] * 3), as_json(["a"], [False])])
def test_another_file_under_the_same_name_is_refused(tmp_path: Path, content: bytes) -> None:
    feed = FileFeed(tmp_path / "posts.jsonl")
    feed.path.write_bytes(as_json(["a", "b"], [False, False]))
    *_, (_, position) = feed.read()
    feed.path.write_bytes(content)
    with pytest.raises(InvalidInput, match="is not the file that was read before") as caught:
        next(feed.read(position))
    assert "another name" in caught.value.hint


@pytest.mark.parametrize("position", ["", "12", "1:1", "-1:1:0123456789abcdef", "x" * 500])
def test_what_is_no_position_is_refused(tmp_path: Path, position: str) -> None:
    feed = FileFeed(tmp_path / "posts.jsonl")
    feed.path.write_bytes(as_json(["a"], [False]))
    with pytest.raises(InvalidInput, match="is not a position in a file"):
        next(feed.read(position))


async def test_a_file_is_delivered_and_resumed_in_the_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_bytes(as_json([str(number) for number in range(100)], [False] * 100))
    feed = open_feed(f"file:{path}")
    assert not feed.live
    first = []
    async with aclosing(feed.deliveries()) as deliveries:
        async for delivery in deliveries:
            first.append(delivery)
            if len(first) == 40:
                break
    rest = [delivery async for delivery in feed.deliveries(first[-1].position)]
    assert [post.id for post, _ in first + rest] == [str(number) for number in range(100)]
    assert {post.feed for post, _ in rest} == {feed.name}


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The end of a pipe to write to; the other end is the standard input."""
    reading, writing = os.pipe()
    with open(reading, encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        yield writing


async def test_the_standard_input_leaves_the_loop_free_while_it_waits(pipe: int) -> None:
    feed = StandardInput()
    assert feed.live
    content = as_json([f"text {number}" * 200 for number in range(1000)], [False] * 1000)
    async with aclosing(feed.deliveries(after="7")) as deliveries:
        waiting = asyncio.ensure_future(anext(deliveries))
        await asyncio.sleep(0)  # the loop turns although there is nothing to read
        assert not waiting.done()
        writing = asyncio.get_running_loop().run_in_executor(None, _written, pipe, content)
        ids = [(await waiting).post.id, *[post.id async for post, _ in deliveries]]
        await writing
    assert ids == [str(number) for number in range(1000)]


def _written(pipe: int, content: bytes) -> None:
    with open(pipe, "wb") as stream:
        stream.write(content)


async def test_a_wrong_line_of_the_standard_input_is_raised_after_the_posts_before_it(pipe: int) -> None:
    _written(pipe, as_json(["a"], [False]) + b"{oops")
    deliveries = StandardInput().deliveries()
    assert (await anext(deliveries)).post.id == "0"
    with pytest.raises(InvalidInput, match="Line 2 of the standard input is not JSON"):
        await anext(deliveries)


def test_a_program_ends_although_the_standard_input_is_still_open() -> None:
    program = (
        "import asyncio, sys\n"
        "from taat.feeds import StandardInput\n"
        "async def first():\n"
        "    async for post, _ in StandardInput().deliveries():\n"
        "        return post.id\n"
        "print(asyncio.run(first()))\n"
    )
    env = {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(as_json(["a"], [False]))
        process.stdin.flush()
        assert process.wait(timeout=60) == 0
        assert (process.stdout.read(), process.stderr.read()) == (b"0\n", b"")
