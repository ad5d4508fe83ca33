"""Records as events of episodes, and back."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from longmind import Event, EventDraft, Source
from taat.memory import names
from taat.memory.records import Decision, Detection, Execution, SignalRecord
from taat.models import Frozen, Post

R = TypeVar("R", bound=Frozen)


def _draft(
    kind: str, key: str, what: str, at: datetime, announcer: str, record: Frozen, signals: Sequence[str], **more: object
) -> EventDraft:
    return EventDraft.model_validate(
        {
            "what": what,
            "type": kind,
            "at": at,
            "actor": announcer,
            "data": {"record": record.model_dump(mode="json", exclude_defaults=True)},
            "tags": tuple(names.signal_tag(signal) for signal in signals),
            "key": f"{kind}:{key}",
            **more,
        }
    )


def read_record(event: Event, kind: type[R]) -> R:
    """Return the record that an event holds."""
    return kind.model_validate(event.data["record"])


def post_event(post: Post, announcer: str, *, key: str | None = None) -> EventDraft:
    """Return the event of a post. Its source is the feed, which is trusted little."""
    source = Source(role="document", name=announcer, uri=post.feed[:2000])
    return EventDraft(
        what=_plain(post.text) or "(no text)",
        type="post",
        at=post.created_at,
        data={"record": post.model_dump(mode="json", exclude_defaults=True)},
        importance=0.2,
        key=f"post:{key or names.post_key(post)}",
        unique="agent",
        source=source,
    )


def detection_event(detection: Detection) -> EventDraft:
    """Return the event that a post was found to announce trades."""
    post, count = detection.post, len(detection.signals)
    what = f"{detection.announcer} announces {count} trade{'s' * (count != 1)} in post {_plain(post.id)}"
    key = names.post_key(post)
    return _draft("detection", key, what, post.created_at, detection.announcer, detection, detection.signals)


def signal_event(record: SignalRecord) -> EventDraft:
    """Return the event of a signal."""
    signal = record.signal
    side = f" {signal.side}" if signal.side else ""
    what = f"{record.announcer}: {signal.action}{side} {signal.instrument}"
    return _draft("signal", record.id, what, record.post.created_at, record.announcer, record, [record.id])


def decision_event(decision: Decision) -> EventDraft:
    """Return the event of a decision."""
    what = f"{'accepted' if decision.accepted else 'refused'}: {decision.reason}"
    return _draft("decision", decision.signal, what, decision.at, decision.announcer, decision, [decision.signal])


def execution_event(execution: Execution) -> EventDraft:
    """Return the event of an execution."""
    order = execution.order
    what = f"{order.side} {execution.quantity:f} {execution.instrument} at {execution.price:f}"
    signals = list(dict.fromkeys([execution.signal, execution.trade]))
    return _draft("execution", execution.id, what, execution.at, execution.announcer, execution, signals)


def note_event(kind: str, key: str, what: str, at: datetime, announcer: str, signals: Sequence[str] = ()) -> EventDraft:
    """Return an event that is words alone: an error, a metric, or something learnt."""
    return EventDraft(
        what=_plain(what)[:2000] or kind,
        type=kind,
        at=at,
        actor=announcer,
        tags=tuple(names.signal_tag(signal) for signal in signals),
        key=f"{kind}:{key}",
    )


def _plain(text: str) -> str:
    """Return a text that memory takes: without the null character and halves of characters."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()
