"""How far the posts of each account were delivered: what a position of the X feed says.

For each account there is an id up to which everything was delivered (``since``), and the ids above it that were
delivered already (``seen``). The stream brings posts not quite in order, and a timeline shows them with a delay; so
``since`` stays ten minutes behind the latest post, and whatever appears late in this time is still delivered.
"""

import json
from dataclasses import dataclass, field

from longmind import InvalidInput

_TEN_MINUTES = 600_000 << 22
"""The distance of two ids that were given ten minutes apart: above 22 bits an id counts milliseconds."""
_MOST_SEEN = 200
"""How many ids of one account a position names at most; beyond, the oldest are taken as the bound."""


@dataclass
class _Delivered:
    since: int
    seen: set[int] = field(default_factory=set)


class Progress:
    """What was delivered of each account, by the account's id."""

    def __init__(self, position: str | None = None) -> None:
        self._accounts: dict[str, _Delivered] = {}
        if position is None:
            return
        try:
            for account, delivered in json.loads(position)["accounts"].items():
                since, *seen = map(int, delivered)
                self._accounts[account] = _Delivered(since, {since + distance for distance in seen})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidInput(
                f"{position!r:.80} is not a position of the X feed.", hint="Give it as the feed told it."
            ) from error

    def since(self, account: str) -> int | None:
        """Return the id after which posts of an account are asked for; ``None`` for an account that is new."""
        delivered = self._accounts.get(account)
        return delivered.since if delivered else None

    def begin(self, account: str, since: int) -> None:
        """Follow a new account: everything above an id is to be delivered."""
        self._accounts.setdefault(account, _Delivered(since))

    def covers(self, account: str, version: int) -> bool:
        """Return whether this version of a post was delivered."""
        delivered = self._accounts.get(account)
        return delivered is not None and (version <= delivered.since or version in delivered.seen)

    def add(self, account: str, versions: list[int]) -> str:
        """Note versions of a post as delivered, and return the position after it."""
        delivered = self._accounts.setdefault(account, _Delivered(min(versions) - 1))
        delivered.seen.update(version for version in versions if version > delivered.since)
        if delivered.seen:
            in_order = sorted(delivered.seen)
            old = sum(version < in_order[-1] - _TEN_MINUTES for version in in_order)
            if bound := max(old, len(in_order) - _MOST_SEEN):
                delivered.since = in_order[bound - 1]
                delivered.seen = set(in_order[bound:])
        return self.position()

    def position(self) -> str:
        """Return all of it as text: for each account ``since``, and how far above it the delivered ids are."""
        accounts = {
            account: [str(delivered.since), *(version - delivered.since for version in sorted(delivered.seen))]
            for account, delivered in sorted(self._accounts.items())
        }
        return json.dumps({"accounts": accounts}, separators=(",", ":"))
