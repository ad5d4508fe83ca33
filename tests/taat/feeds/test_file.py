"""Posts of files and streams: both forms, and clear errors with the number of the line."""

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from longmind import InvalidInput, NotFound
from taat.feeds import FileFeed, StandardInput, open_feed, sample_feed
from taat.feeds.lines import LONGEST_LINE, read_posts
from taat.models import Post

GOOD = {"id": "1", "author": "ann", "text": "Bought $AAPL at 190", "created_at": "2026-03-02T15:04:00Z"}


def read(*lines: str | bytes) -> list[Post]:
    raw = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
    return [post for post, _ in read_posts(io.BytesIO(raw), "posts", "file:posts")]


def line(**changes: object) -> str:
    return json.dumps({**GOOD, **changes})


def test_json_lines() -> None:
    (post,) = read(line(likes=3))
    at = datetime(2026, 3, 2, 15, 4, tzinfo=UTC)
    assert post == Post(id="1", author="ann", text="Bought $AAPL at 190", created_at=at, feed="file:posts")


def test_empty_lines_are_left_out_and_a_byte_order_mark_is_no_part_of_the_first() -> None:
    assert [post.id for post in read(b"\xef\xbb\xbf" + line().encode(), "", "  ", line(id="2"))] == ["1", "2"]
    assert read() == read("", " ") == []


def test_a_number_is_an_id_and_a_moment_without_a_zone_is_utc() -> None:
    (post,) = read(line(id=1633, created_at="2026-03-02T15:04:00"))
    assert post.id == "1633"
    assert post.created_at == datetime(2026, 3, 2, 15, 4, tzinfo=UTC)


def test_another_zone_is_the_same_moment() -> None:
    (post,) = read(line(created_at="2026-03-02T10:04:00-05:00"))
    assert post.created_at == datetime(2026, 3, 2, 15, 4, tzinfo=UTC)


def test_csv_has_the_same_posts(tmp_path: Path) -> None:
    posts = [post for post, _ in sample_feed().read()]
    file = tmp_path / "posts.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["Created_At", "text", "author", "id", "likes"])
        rows.writerows([post.created_at.isoformat(), post.text, post.author, post.id, 3] for post in posts)
    read_again = [post.model_copy(update={"feed": posts[0].feed}) for post, _ in FileFeed(file).read()]
    assert read_again == posts


def test_csv_with_a_line_break_in_a_text() -> None:
    (post,) = read("id,author,text,created_at", '1,ann,"Bought', '$AAPL, at 190",2026-03-02T15:04:00Z')
    assert post.text == "Bought\n$AAPL, at 190"


@pytest.mark.parametrize(
    ("lines", "number", "words"),
    [
        ([line(), "{"], 2, "is not JSON"),
        ([line(), "", "[1]"], 3, "is not a JSON object"),
        ([line(), '{"id": "2"}'], 2, "has no author and no text and no created_at"),
        ([line(author=None)], 1, "has no author"),
        ([line(id="")], 1, "has a wrong id"),
        ([line(id=True)], 1, "has a wrong id"),
        ([line(text=["a"])], 1, "has a wrong text"),
        ([line(created_at="yesterday")], 1, "has a wrong created_at"),
        ([line(created_at="0001-01-01T00:00:00+05:00")], 1, "has a wrong created_at"),
        ([line(), b'{"id": "\xff"}'], 2, "is not UTF-8"),
        ([line(), '{"a":' * 100_000], 2, "is not JSON"),
        ([line(text="x" * LONGEST_LINE)], 1, "is longer than"),
        (["hello"], 1, "is neither a JSON object nor the head of a CSV file"),
        (["id,author,text,created_at", "1,ann,x,2026-03-02", "2,ann,x"], 3, "has no created_at"),
        (["id,author,text,created_at", "1,ann,x,2026-03-02,more"], 2, "has more than 4 columns"),
        (["id,author,text,created_at", "1,ann,x,2026-03-02", '2,ann,"x'], 3, "is not CSV"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(lines: list[str | bytes], number: int, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(*lines)
    assert caught.value.details["line"] == number
    assert caught.value.message.startswith(f"Line {number} of posts {words}")


def test_posts_before_a_wrong_line_are_delivered() -> None:
    posts = read_posts(io.BytesIO(f"{line()}\nnonsense\n".encode()), "posts", "file:posts")
    assert next(posts)[0].id == "1"
    with pytest.raises(InvalidInput):
        next(posts)


def test_half_a_character_is_replaced() -> None:
    (post,) = read(json.dumps({**GOOD, "text": "Bought \ud83d $AAPL 🚀"}))
    assert post.text == "Bought \ufffd $AAPL 🚀"


def test_lines_are_read_one_at_a_time() -> None:
    class Endless(io.RawIOBase):
        """A stream that never ends."""

        asked = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            self.asked += 1
            return line(id=str(self.asked)).encode() + b"\n"

    stream = Endless()
    posts = read_posts(stream, "posts", "-")
    assert [next(posts)[0].id for _ in range(3)] == ["1", "2", "3"]
    assert stream.asked == 3


def test_addresses_of_feeds(tmp_path: Path) -> None:
    assert isinstance(open_feed("-"), StandardInput)
    assert open_feed(f"file:{tmp_path}/posts.jsonl").name == f"file:{tmp_path}/posts.jsonl"
    for address in ("posts.jsonl", "file:", "x:", "ftp:somebody", ""):
        with pytest.raises(InvalidInput, match="There is no feed"):
            open_feed(address)
    with pytest.raises(NotFound):
        next(FileFeed(tmp_path / "absent.jsonl").read())
    with pytest.raises(InvalidInput, match="cannot be read"):
        next(FileFeed(tmp_path).read())


def test_the_sample_is_four_announcers_and_some_chatter() -> None:
    posts = [post for post, _ in sample_feed().read()]
    assert len(posts) == len({post.id for post in posts}) == 40
    assert len({post.author for post in posts}) == 4
    assert [post.created_at for post in posts] == sorted(post.created_at for post in posts)
