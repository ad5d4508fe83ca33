"""How one announcer writes: their own vocabulary and habits, learnt from examples that somebody confirmed."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from statistics import median
from typing import TypeVar

from taat.models import Action, AssetClass, Frozen, Post, Side, Signal
from taat.signals.text import lower, normalise, without_links

T = TypeVar("T")


class Phrase(Frozen):
    """A phrase of an announcer and what it means; without an action, posts that have it are chatter."""

    text: str
    action: Action | None = None
    side: Side | None = None


class AnnouncerProfile(Frozen):
    """What is known of the way an announcer writes; it changes how their posts are read."""

    phrases: tuple[Phrase, ...] = ()
    default_side: Side | None = None
    """The side of positions when a post does not say."""
    default_asset: AssetClass | None = None
    """What a symbol means that can be several things, such as ``ES``."""
    default_symbol: str | None = None
    """What is traded when neither the post nor an open position says."""
    scale: Decimal | None = None
    """The fraction of the position that leaves with each scale or trim."""
    examples: int = 0
    """From how many confirmed posts this was learnt."""

    @property
    def vocabulary(self) -> Iterator[tuple[str, Action, Side | None]]:
        """The phrases that mean an action, the longest first."""
        for phrase in sorted(self.phrases, key=lambda phrase: (-len(phrase.text), phrase.text)):
            if phrase.action is not None:
                yield phrase.text, phrase.action, phrase.side

    def is_chatter(self, text: str) -> bool:
        """Whether a text has a phrase that this announcer uses for chatter only."""
        return any(phrase.action is None and _has(text, phrase.text) for phrase in self.phrases)


def _has(text: str, phrase: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


_WORD = re.compile(r"(?<![\w$#@])[a-z][a-z'/-]*[a-z](?!\w)")
_COMMON = frozenset(
    "the a an my our of in on at to for and or is it this that here now with from i we just from be as by up so are"
    " some all stop target entry price shares contracts call calls put puts long short swing".split()
)
EVIDENCE = 3
"""How many confirmed examples a phrase or a habit needs."""
SHARE = 0.9
"""The share of the examples that must agree."""


def _phrases(text: str) -> Iterator[str]:
    """Yield the phrases of one to three words that stand together in a text."""
    words = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]
    for first in range(len(words)):
        for last in range(first, min(first + 3, len(words))):
            if last > first and not text[words[last - 1][1] : words[last][0]].isspace():
                break
            parts = [word for _, _, word in words[first : last + 1]]
            if any(part not in _COMMON for part in parts):
                yield " ".join(parts)


def learn_profile(
    examples: Iterable[tuple[Post, Sequence[Signal]]], base: AnnouncerProfile | None = None
) -> AnnouncerProfile:
    """Learn how an announcer writes from posts whose signals somebody confirmed; chatter has no signals.

    Only what the general rules read wrongly becomes vocabulary, so a profile stays short. ``base`` is what was known
    before; its phrases stay unless the examples contradict them.
    """
    from taat.signals.reading import read_post

    confirmed = [(post, tuple(signals)) for post, signals in examples]
    base = base or AnnouncerProfile()
    missed = [(post, signals) for post, signals in confirmed if _meanings(read_post(post)) != _meanings(signals)]
    everything = [(set(_phrases(_text(post))), signals) for post, signals in confirmed]
    signals = [signal for _, of_post in confirmed for signal in of_post]
    return AnnouncerProfile(
        phrases=_learnt_phrases(missed, everything, base),
        default_side=_agreed((signal.side for signal in signals if signal.side), base.default_side),
        default_asset=_agreed((signal.instrument.asset for signal in signals), base.default_asset),
        default_symbol=_agreed((signal.instrument.symbol for signal in signals), base.default_symbol),
        scale=_usual_scale(signals) or base.scale,
        examples=base.examples + len(confirmed),
    )


def _text(post: Post) -> str:
    return lower(without_links(normalise(post.text)))


def _meanings(signals: Iterable[Signal]) -> Counter[tuple[Action, str]]:
    return Counter((signal.action, signal.instrument.symbol) for signal in signals)


def _learnt_phrases(
    missed: Sequence[tuple[Post, tuple[Signal, ...]]],
    everything: Sequence[tuple[set[str], tuple[Signal, ...]]],
    base: AnnouncerProfile,
) -> tuple[Phrase, ...]:
    """Return the phrases of the missed posts that mean the same in all examples."""
    candidates = Counter(phrase for post, _ in missed for phrase in set(_phrases(_text(post))))
    phrases: dict[str, Phrase] = {phrase.text: phrase for phrase in base.phrases}
    for text, count in candidates.items():
        uses = [signals for found, signals in everything if text in found]
        if count < EVIDENCE:
            continue
        single = [signals[0] for signals in uses if len(signals) == 1]
        action = _agreed((signal.action for signal in single), None)
        if action is not None and len(single) >= SHARE * len(uses):
            side = _agreed((signal.side for signal in single if signal.side), None)
            phrases[text] = Phrase(text=text, action=action, side=side)
        elif sum(not signals for signals in uses) >= SHARE * len(uses):
            phrases[text] = Phrase(text=text)
        else:
            phrases.pop(text, None)
    return _shortest(phrases.values(), everything)


def _shortest(
    phrases: Iterable[Phrase], everything: Sequence[tuple[set[str], tuple[Signal, ...]]]
) -> tuple[Phrase, ...]:
    """Keep one phrase for each set of posts: of those that occur together the longest is the most particular."""
    by_posts: dict[tuple[object, ...], Phrase] = {}
    for phrase in sorted(phrases, key=lambda phrase: (len(phrase.text), phrase.text)):
        posts = tuple(index for index, (found, _) in enumerate(everything) if phrase.text in found)
        by_posts[(phrase.action, posts or phrase.text)] = phrase
    return tuple(sorted(by_posts.values(), key=lambda phrase: phrase.text))


def _agreed(values: Iterable[T], otherwise: T | None) -> T | None:
    counts = Counter(values)
    if not counts:
        return otherwise
    value, count = counts.most_common(1)[0]
    return value if count >= EVIDENCE and count >= SHARE * counts.total() else otherwise


def _usual_scale(signals: Iterable[Signal]) -> Decimal | None:
    """Return the fraction that leaves with a partial exit, when the announcer says it and it hardly varies."""
    parts: dict[str, list[Decimal]] = defaultdict(list)
    for signal in signals:
        if signal.action == "reduce" and signal.quantity is not None and signal.quantity.unit == "fraction":
            parts["fraction"].append(signal.quantity.value)
    values = parts["fraction"]
    if len(values) < EVIDENCE:
        return None
    middle = median(values)
    return middle if sum(value == middle for value in values) >= SHARE * len(values) else None
