"""Reading posts with what is known of their authors: what they hold, and how they write."""

from datetime import timedelta
from decimal import Decimal

from taat.memory import Announcer, SignalRecord, TraderMemory, announcer_name, signal_id
from taat.models import Post, Signal
from taat.signals import MOST_HOLDINGS, AnnouncerProfile, find_holding, holdings_after, read_post, still_open
from taat.signals.expiries import trading_day
from taat.validation import fingerprint

_RECENT = timedelta(days=7)
OUTCOMES_KEPT = 50


class Reader:
    """Reads posts, and keeps the announcers as they are now."""

    def __init__(self, memory: TraderMemory) -> None:
        self._memory = memory
        self._announcers: dict[str, Announcer] = {}
        self._profiles: dict[str, AnnouncerProfile | None] = {}

    async def announcer(self, post: Post) -> Announcer:
        """Return the author of a post as they are known before it."""
        name = announcer_name(post.author)
        if name not in self._announcers:
            known = await self._memory.announcer(name)
            self._profiles[name] = await self._memory.knowledge.profile(name) if known is not None else None
            self._announcers[name] = known or Announcer(
                name=name, first_post_at=post.created_at, latest_post_at=post.created_at
            )
        return self._announcers[name]

    def profile(self, name: str) -> AnnouncerProfile | None:
        """Return how an announcer who was read writes."""
        return self._profiles.get(name)

    async def by_name(self, name: str) -> Announcer | None:
        """Return an announcer who has posted before."""
        return self._announcers.get(name) or await self._memory.announcer(name)

    def keep(self, announcer: Announcer) -> Announcer:
        """Keep an announcer as it is now."""
        self._announcers[announcer.name] = announcer
        return announcer

    def read(self, post: Post, announcer: Announcer) -> tuple[Signal, ...]:
        """Return the signals of a post."""
        held = still_open(announcer.holdings, trading_day(post.created_at))
        return read_post(post, held, self._profiles.get(announcer.name))

    def after_chatter(self, post: Post, announcer: Announcer) -> Announcer:
        """Return an announcer after a post that announces nothing."""
        return self.keep(announcer.model_copy(update=_seen(post, announcer)))

    def with_fractions(self, announcer: Announcer, records: tuple[SignalRecord, ...]) -> tuple[SignalRecord, ...]:
        """Return the signals with the part of the announcer's own position that each leaves."""
        held, sized = announcer.holdings, []
        for record in records:
            signal, quantity = record.signal, record.signal.quantity
            if signal.action == "reduce" and quantity is not None and quantity.unit == "units":
                holding, _ = find_holding(held, signal.instrument, signal.side)
                if holding is not None and holding.units:
                    record = record.model_copy(update={"fraction": min(Decimal(1), quantity.value / holding.units)})
            sized.append(record)
            held = holdings_after(held, [signal], record.post.created_at)
        return tuple(sized)

    def after_signals(self, post: Post, announcer: Announcer, records: tuple[SignalRecord, ...]) -> Announcer:
        """Return an announcer after a post with signals."""
        signals = [record.signal for record in records]
        held = still_open(announcer.holdings, trading_day(post.created_at))
        changes = {
            **_seen(post, announcer),
            "signals": announcer.signals + len(signals),
            "holdings": holdings_after(held, signals, post.created_at)[-MOST_HOLDINGS:],
        }
        return self.keep(announcer.model_copy(update=changes))

    def after_decision(self, record: SignalRecord, announcer: Announcer) -> Announcer:
        """Return an announcer after a decision on a signal: the same announcement again is a duplicate."""
        at = record.post.created_at
        recent = {key: moment for key, moment in announcer.recent.items() if at - moment <= _RECENT}
        recent[fingerprint(announcer.name, record.signal)] = at
        return self.keep(announcer.model_copy(update={"recent": recent}))


def records_of(post: Post, announcer: str, signals: tuple[Signal, ...]) -> tuple[SignalRecord, ...]:
    """Return the signals of a post with their ids."""
    return tuple(
        SignalRecord(id=signal_id(post, number), announcer=announcer, post=post, signal=signal)
        for number, signal in enumerate(signals, start=1)
    )


def _seen(post: Post, announcer: Announcer) -> dict[str, object]:
    return {
        "posts": announcer.posts + 1,
        "first_post_at": min(announcer.first_post_at, post.created_at),
        "latest_post_at": max(announcer.latest_post_at, post.created_at),
    }
