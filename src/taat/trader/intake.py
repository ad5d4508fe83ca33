"""Posts on their way into memory: those that come again are recognised, and chatter is stored together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from taat.memory import TraderMemory
from taat.memory.events import post_event
from taat.memory.names import announcer_name, edit_key, post_key
from taat.models import Post
from taat.trader.happenings import Summary
from taat.trader.journal import Journal
from taat.trader.reading import Reader

_KNOWN_POSTS = 100_000


class Intake:
    """Takes posts in. A post that announces nothing waits until its announcer's posts, or all, are stored."""

    def __init__(
        self,
        memory: TraderMemory,
        journal: Journal,
        reader: Reader,
        summary: Summary,
        tell_edit: Callable[[Post], None],
    ) -> None:
        """``tell_edit`` is called with each edited post."""
        self._memory, self._journal, self._reader, self._summary = memory, journal, reader, summary
        self._tell_edit = tell_edit
        self._texts: OrderedDict[str, str] = OrderedDict()  # the text that a post had first
        self._chatter: dict[str, list[Post]] = {}
        self.waiting = 0
        """How many posts wait."""

    def seen(self, post: Post) -> bool:
        """Whether this process has handled a post with this id."""
        key = post_key(post)
        if key in self._texts:
            return True
        if not post.edited:
            self._texts[key] = post.text
        if len(self._texts) > _KNOWN_POSTS:
            self._texts.popitem(last=False)
        return False

    def repeated(self, post: Post) -> None:
        """A post that was handled before changes nothing; an edited one is an event of its own and places no order."""
        if self._texts.get(post_key(post)) == post.text:
            self._summary.duplicates += 1
            return
        name = announcer_name(post.author)
        self._summary.edits += 1
        self._journal.add(name, post_event(post, name, key=edit_key(post)))
        self._tell_edit(post)

    def add_chatter(self, post: Post) -> None:
        """Take a post that announces nothing; it waits."""
        self._chatter.setdefault(announcer_name(post.author), []).append(post)
        self.waiting += 1

    async def is_stored(self, post: Post) -> bool:
        """Whether a post is in memory already. What its author posted before is passed on, in the same look-up."""
        earlier = self._chatter.pop(announcer_name(post.author), [])
        known = await self._memory.known_texts([*earlier, post])
        await self._pass_on(earlier, known)
        return post_key(post) in known

    async def take_all(self) -> None:
        """Pass on all that waits; which of it is stored already is asked for all of it at once."""
        posts = [post for own in self._chatter.values() for post in own]
        self._chatter = {}
        if posts:
            await self._pass_on(posts, await self._memory.known_texts(posts))

    async def _pass_on(self, posts: Sequence[Post], known: dict[str, str]) -> None:
        self.waiting -= len(posts)
        self._texts |= known
        for post in posts:
            if post_key(post) in known:
                self.repeated(post)
                continue
            author = await self._reader.announcer(post)
            self._journal.put(self._reader.after_chatter(post, author))
            self._journal.add(author.name, post_event(post, author.name))
