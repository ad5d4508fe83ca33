"""An episode in words, at three lengths, written by rules.

Short is a sentence, medium a paragraph with the most important events, full everything in order. Recorded text is
quoted on one line, so that it cannot pass for the narrator's words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from longmind.errors import ModelError
from longmind.systems.episodic.models import Episode, EpisodeSummariser, Event, Length
from longmind.text.dates import format_day
from longmind.text.quoting import label, quote, quote_json

MAX_NARRATED = 1_000
"""The most events in the full length; the text says how many are left out."""
WORDS: dict[Length, int] = {"short": 30, "medium": 120, "full": 600}
"""The approximate length of each, in words, for a summariser."""
_MEDIUM_EVENTS = 5


def narrate(episode: Episode, events: Sequence[Event], length: Length, children: Sequence[str] = ()) -> str:
    """Return the episode in words. ``children`` are the narratives of the episodes within it."""
    if length == "short":
        return f"{_opening(episode)} {_counts(episode, events)}".strip()
    if length == "medium":
        parts = [_opening(episode), _counts(episode, events)]
        if chosen := _most_important(events):
            parts.append(" ".join(_sentence(e, episode.start) for e in chosen))
        return " ".join([part for part in [*parts, _closing(episode)] if part] + list(children))
    lines = [_opening(episode)]
    if episode.description:
        lines.append(quote(episode.description, 2000))
    lines += [f"- {_line(event, episode.start)}" for event in events[:MAX_NARRATED]]
    if episode.events > MAX_NARRATED:
        lines.append(f"({episode.events - MAX_NARRATED} more events are not told.)")
    lines += [f"Within it: {_indented(child)}" for child in children]
    lines.append(_closing(episode))
    return "\n".join(line for line in lines if line)


def describe_duration(duration: timedelta) -> str:
    """Return a duration in words: ``45 s``, ``12 min``, ``3 h 20 min``, ``2 d 4 h``."""
    seconds = int(duration.total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 60:
        return f"{minutes} min"
    if hours < 24:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{days} d {hours % 24} h" if hours % 24 else f"{days} d"


def _opening(episode: Episode) -> str:
    began = _when(episode.start)
    kind = "" if episode.type == "episode" else f" ({label(episode.type)})"
    if episode.end is None:
        return f"{quote(episode.title, 300)}{kind} began on {began} and is still going on."
    lasted = f"took {describe_duration(episode.end - episode.start)}"
    came_out = {"succeeded": "and succeeded", "failed": "and failed", "unknown": "with no outcome noted"}
    return f"{quote(episode.title, 300)}{kind} began on {began}, {lasted} {came_out[episode.outcome]}."


def _counts(episode: Episode, events: Sequence[Event]) -> str:
    if not events:
        return "No events were recorded."
    kinds = Counter(event.type for event in events)
    most = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))[:4]
    types = ", ".join(f"{n} × {label(name)}" for name, n in most)
    total = max(episode.events, len(events))
    return f"{total} event{'' if total == 1 else 's'}: {types}{', …' if len(kinds) > 4 else ''}."


def _closing(episode: Episode) -> str:
    return f"Noted at the end: {quote(episode.note, 1000)}." if episode.note else ""


def _most_important(events: Sequence[Event]) -> list[Event]:
    """Return the most important events, in order; of equals, those at the beginning and the end are preferred."""
    edge = {0, len(events) - 1}
    ranked = sorted(range(len(events)), key=lambda n: (-events[n].importance, n not in edge, n))
    return [events[n] for n in sorted(ranked[:_MEDIUM_EVENTS])]


def _sentence(event: Event, start: datetime) -> str:
    who = f"{label(event.actor)}: " if event.actor else ""
    return f"After {describe_duration(event.at - start)}, {who}{quote(event.what, 200)}."


def _line(event: Event, start: datetime) -> str:
    lasted = f" for {describe_duration(event.duration)}" if event.duration else ""
    who = f" {label(event.actor)}:" if event.actor else ""
    data = f" {quote_json(event.data, 500)}" if event.data else ""
    return f"+{describe_duration(event.at - start)}{lasted} [{label(event.type)}]{who} {quote(event.what, 1000)}{data}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _when(moment: datetime) -> str:
    return f"{format_day(moment)} at {moment:%H:%M}"


async def summarise_text(summariser: EpisodeSummariser, text: str, words: int) -> str:
    """Return the summariser's version of a text."""
    summary = (await summariser.summarise(text, words=words)).strip()
    if not summary:
        raise ModelError(
            "The summariser returned nothing.",
            hint="Leave it out to have the text made by rules, or use another model.",
        )
    return summary
