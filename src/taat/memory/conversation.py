"""What the user said: questions and answers as an episode of each day, and the readings that they confirmed."""

from datetime import datetime

from longmind import EpisodeEntry, EventDraft
from taat.memory import names
from taat.memory.events import read_record
from taat.memory.store import TraderMemory
from taat.models import Frozen, Post, Signal
from taat.signals.expiries import trading_day

CONFIRMATION = "confirmation"
USER = "user"


class Confirmation(Frozen):
    """What a person says that a signal, or a post that was read as chatter, means."""

    post: Post
    announcer: str
    signal: str | None = None
    """The id of the signal; ``None`` for a post that was read as chatter."""
    meant: Signal | None = None
    """What it means; ``None`` when it announces nothing."""


def conversation_entry(at: datetime, question: str, answer: str, *, about: str, asked_by: str = "taat") -> EpisodeEntry:
    """Return the entry of a question and its answer, in the conversation of the day."""
    drafts = [_draft("question", about, question, at, asked_by)] if question else []
    return _entry(at, (*drafts, _draft("answer", about, answer, at, USER)))


def confirmation_entry(confirmation: Confirmation, answer: str, at: datetime, question: str = "") -> EpisodeEntry:
    """Return the entry of a confirmation, with what was asked and answered."""
    about = confirmation.signal or names.post_key(confirmation.post)
    said = _draft(CONFIRMATION, about, answer, at, USER, confirmation)
    asked = (_draft("question", about, question, at, "taat"),) if question else ()
    return _entry(at, (*asked, said))


async def confirmations(memory: TraderMemory, announcer: str) -> list[Confirmation]:
    """Return what was confirmed of an announcer's posts, in the order of time."""
    found = [read_record(event, Confirmation) async for event in memory.events(CONFIRMATION)]
    return [confirmation for confirmation in found if confirmation.announcer == announcer]


async def examples(memory: TraderMemory, announcer: str) -> list[tuple[Post, tuple[Signal, ...]]]:
    """Return the confirmed posts of an announcer with what they mean.

    Of several answers the latest counts. A post's other signals count as they were read.
    """
    answers = await confirmations(memory, announcer)
    if not answers:
        return []
    posts = {names.post_key(answer.post): answer.post for answer in answers}
    meant: dict[str, dict[str, Signal | None]] = {key: {} for key in posts}
    async for record in memory.signals(announcer):
        if (key := names.post_key(record.post)) in meant:
            meant[key][record.id] = record.signal
    for answer in answers:
        key = names.post_key(answer.post)
        meant[key][answer.signal or key] = answer.meant
    return [
        (post, tuple(signal for signal in meant[key].values() if signal is not None)) for key, post in posts.items()
    ]


def _draft(kind: str, about: str, what: str, at: datetime, actor: str, record: Frozen | None = None) -> EventDraft:
    return EventDraft(
        what=what.replace("\x00", "").encode("utf-8", "ignore").decode()[:2000] or kind,
        type=kind,
        at=at,
        actor=actor,
        data={} if record is None else {"record": record.model_dump(mode="json", exclude_defaults=True)},
        tags=(names.signal_tag(about),),
        key=f"{kind}:{about}:{at.isoformat()}",
    )


def _entry(at: datetime, events: tuple[EventDraft, ...]) -> EpisodeEntry:
    day = trading_day(at)
    return EpisodeEntry(
        key=names.conversation_key(day),
        title=f"Conversation with the user on {day}",
        type="conversation",
        start=at,
        events=events,
        tags=(USER,),
    )
