"""Reading posts one after another, with what each author holds."""

from collections import OrderedDict
from datetime import date

from taat.models import Holding, Post, Signal
from taat.signals.context import holdings_after
from taat.signals.expiries import LATE, trading_day
from taat.signals.reading import read_post

Holdings = tuple[Holding, ...]

REMEMBERED_POSTS = 100_000
"""How many posts are known again when they come a second time."""
REMEMBERED_AUTHORS = 10_000
MOST_HOLDINGS = 200
"""Of one author. Who announces entries and never exits is not followed further back."""


class PostReader:
    """Reads the posts of many authors in the order in which they come, and carries what each author holds.

    A post that comes again, unchanged or edited, is read in the context it had at first and changes no holdings. What
    is kept is bounded: the latest posts and authors.
    """

    def __init__(self) -> None:
        self._held: OrderedDict[str, Holdings] = OrderedDict()
        self._before: OrderedDict[tuple[str, str], Holdings] = OrderedDict()

    def holdings(self, author: str) -> Holdings:
        """Return what an author holds, as far as the posts told."""
        return self._held.get(_name(author), ())

    def read(self, post: Post) -> tuple[Signal, ...]:
        """Return the signals of a post."""
        author = _name(post.author)
        known = self._before.get((author, post.id))
        if known is not None:
            return read_post(post, known)
        before = still_open(self.holdings(author), trading_day(post.created_at))
        signals = read_post(post, before)
        self._before[author, post.id] = before
        if len(self._before) > REMEMBERED_POSTS:
            self._before.popitem(last=False)
        self._hold(author, holdings_after(before, signals, post.created_at)[-MOST_HOLDINGS:])
        return signals

    def _hold(self, author: str, holdings: Holdings) -> None:
        self._held.pop(author, None)
        if holdings:
            self._held[author] = holdings
        if len(self._held) > REMEMBERED_AUTHORS:
            self._held.popitem(last=False)


def _name(author: str) -> str:
    return author.lstrip("@").casefold()


def still_open(holdings: Holdings, today: date) -> Holdings:
    """Return the holdings without options that have expired."""
    expiries = [holding.instrument.expiry for holding in holdings]
    if all(expiry is None or expiry + LATE >= today for expiry in expiries):
        return holdings
    return tuple(
        holding
        for holding in holdings
        if holding.instrument.expiry is None or holding.instrument.expiry + LATE >= today
    )
