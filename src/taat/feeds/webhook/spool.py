"""The file in which received posts are kept, durably, until they are delivered and after.

The first line names the spool; each further line is one accepted request, ``{"first": N, "posts": [...]}``, whose posts
are numbered on from N. A line is whole on the disk before the sender hears that it was accepted. A line that a crash
cut was never accepted, and is removed at the next start.
"""

import fcntl
import hashlib
import json
import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Generator
from pathlib import Path
from typing import Any

from longmind import Conflict, InvalidInput
from taat.models import Post

_REMEMBERED = 100_000
"""How many of the latest posts are known when they come again."""


class Spool:
    """Appends from any thread; is read by one. Only one program at a time has it open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last = 0
        """The number of the last post in it."""
        self._known: OrderedDict[str, set[bytes]] = OrderedDict()
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._open = True
        try:
            self._alone()
            self._end = self._begin()
        except BaseException:
            self.close()
            raise

    def append(self, posts: list[Post]) -> int:
        """Keep those of the posts that are new, durably and all at once; return how many that are.

        A post with a known id and another text or author is kept as an edited one.
        """
        with self._lock:
            if not self._open:
                raise OSError("the spool is closed")
            fresh: list[Post] = []
            known: dict[str, set[bytes]] = {}
            for post in posts:
                digests = known.setdefault(post.id, set(self._known.get(post.id, ())))
                if (digest := _digest(post)) not in digests:
                    fresh.append(post.model_copy(update={"edited": True}) if digests else post)
                    digests.add(digest)
            if fresh:
                fields = [post.model_dump(mode="json", exclude={"feed"}) for post in fresh]
                self._write({"first": self.last + 1, "posts": fields})
                self.last += len(fresh)
                self._remember(known)
            return len(fresh)

    def posts(self, feed: str, after: int) -> Generator[tuple[int, Post] | None, None, None]:
        """Yield the posts after a number, and ``None`` whenever there is no further one yet; without end."""
        with self.path.open("rb") as file:
            file.readline()
            while True:
                with self._lock:
                    end = self._end
                while file.tell() < end:
                    line = json.loads(file.readline())
                    for number, fields in enumerate(line["posts"], line["first"]):
                        if number > after:
                            yield number, Post(feed=feed, **fields)
                yield None

    def close(self) -> None:
        """Give the file back; what is in it stays."""
        with self._lock:
            self._open = False
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def _alone(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(
                f"Another program receives posts into {self.path}.", hint="Stop it, or listen at another port."
            ) from error

    def _begin(self) -> int:
        """Read what is there, remove a line that was cut, and return where the next line begins."""
        end, number = 0, 0
        self.name = ""
        with self.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            for raw in file:
                number += 1
                try:
                    if not raw.endswith(b"\n"):
                        raise ValueError("cut")
                    self._take(json.loads(raw), number)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    if end + len(raw) < size:
                        raise InvalidInput(
                            f"Line {number} of {self.path} is damaged.",
                            hint="Restore the file, or move it away to begin a new one.",
                            line=number,
                        ) from error
                    break
                end += len(raw)
        os.ftruncate(self._file, end)
        self._end = end
        if not self.name:
            self.name = secrets.token_hex(8)
            self._write({"spool": self.name})
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        else:
            os.fsync(self._file)
        return self._end

    def _take(self, line: dict[str, Any], number: int) -> None:
        if number == 1:
            self.name = str(line["spool"])
            return
        posts = [Post(**fields) for fields in line["posts"]]
        if line["first"] != self.last + 1:
            raise ValueError("not in order")
        self.last += len(posts)
        for post in posts:
            self._remember({post.id: {*self._known.get(post.id, ()), _digest(post)}})

    def _remember(self, known: dict[str, set[bytes]]) -> None:
        for post_id, digests in known.items():
            self._known[post_id] = digests
            self._known.move_to_end(post_id)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _write(self, line: dict[str, Any]) -> None:
        rest = memoryview(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        length = len(rest)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError:
            # if not even this works nothing more may be written behind a part of a line
            self._open = False
            os.ftruncate(self._file, self._end)
            self._open = True
            raise
        self._end += length


def _digest(post: Post) -> bytes:
    return hashlib.sha256(json.dumps([post.author, post.text, post.reply_to]).encode()).digest()[:16]
