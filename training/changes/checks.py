"""Claims beside the turns they are about, to learn which are right: a second task of the reader of changes.

What a turn says of a known fact, and whether it says what a claim says, are nearly the same question. The answer to the
second is used for nothing but training (ADR 30 says why), so its end is not shipped.

Some were found by the reader of statements in turns that it had not learnt, and judged by somebody (``checked.jsonl``).
Others come from labels: what is labelled is right, and wrong is the same with another status or about somebody else.
What the reader finds in a turn with labels is right if it equals one, and wrong if it says of the same words something
else; what labels do not speak of is left out there, since labels are one reading of many. What it finds in turns
without labels is for teachers.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

from tokenizers import Tokenizer

from longmind.models.changes import SPEAKER
from longmind.models.small_models import CLS, SEP, load
from longmind.models.statement_reader import TrainedStatementReader
from longmind.models.statements import Span, StatedClaim
from longmind.models.statements import Turn as ReadTurn
from training.claims.labels import DATA, DEVELOPMENT, Label, Turn, overlap, read_turns, same
from training.claims.thresholds import read, read_verdicts
from training.claims.unlabelled import Unlabelled
from training.claims.unsure import CHECKED, checksum, label_of

VERDICTS = ("right", "trivial", "wrong")
"""What may be found: stated and worth keeping; true, but not worth it; not stated, or stated otherwise."""
CLAIM, PREVIOUS, TEXT = 30, 40, 128
"""The most pieces of a claim, of the turn before, and of the text around the claim that are read."""
LEAST = 0.15
"""The confidence from which on a claim is looked at."""
RIGHT, TRIVIAL, WRONG = range(len(VERDICTS))
_OTHERWISE = {
    "current": ("ended", "planned", "negated", "hypothetical", "reported"),
    "past": ("current", "planned", "hypothetical"),
    "ended": ("current", "current", "planned"),
    "planned": ("current", "current", "past", "ended"),
    "negated": ("current", "current", "planned"),
    "temporary": ("ended", "past", "hypothetical"),
    "hypothetical": ("current", "current", "planned", "ended"),
    "reported": ("current", "current", "ended"),
    "asked": ("current", "current", "negated"),
}
"""Statuses that are surely wrong where another one is right; what is likelier to be mistaken stands twice."""
_NAME = re.compile(r"\b[A-Z][a-z]+\b")


@dataclass(frozen=True, slots=True)
class Check:
    """A claim beside its turn, and what is known of it."""

    previous: str | None
    text: str
    claim: Label
    verdict: int | None = None

    @property
    def words(self) -> str:
        """The claim as it is read."""
        claim = self.claim
        subject = SPEAKER if claim.subject is None else self.text[slice(*claim.subject)]
        return f"{claim.status}, {subject}: {claim.relation.replace('_', ' ')} {self.text[slice(*claim.object)]}"


def numbered(tokenizer: Tokenizer, check: Check) -> tuple[list[int], int] | None:
    """Return the pieces of a claim beside its turn, and where the text begins; None if its object has no piece."""
    words, before, own = (
        tokenizer.encode(text, add_special_tokens=False) for text in (check.words, check.previous or "", check.text)
    )
    first = next((n for n, (_, end) in enumerate(own.offsets) if end > check.claim.object[0]), None)
    if first is None:
        return None
    start = max(0, min(first - TEXT // 2, len(own.ids) - TEXT))
    previous = own.ids[max(0, start - PREVIOUS) : start] if start else before.ids[-PREVIOUS:]
    head = [CLS, *words.ids[:CLAIM], SEP, *previous, SEP]
    return [*head, *own.ids[start : start + TEXT], SEP], len(head)


def judged(turns: Iterable[Unlabelled]) -> Iterator[Check]:
    """Yield the claims that somebody judged, of those turns that are at hand."""
    texts = {checksum(text): (previous, text) for previous, text in turns}
    for line in CHECKED.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["turn"] in texts:
            previous, text = texts[entry["turn"]]
            yield Check(previous, text, label_of(entry["claim"]), VERDICTS.index(entry["verdict"]))


def judged_development() -> Iterator[Check]:
    """Yield the claims that the reader finds in the turns of the development writers, as labels and readers judge."""
    reader, verdicts = TrainedStatementReader(load("statements")), read_verdicts()
    for writer in DEVELOPMENT:
        turns = list(read_turns(DATA / f"{writer}.jsonl"))
        for each in read(reader, writer, verdicts).judged:
            if each.claim.confidence >= LEAST:
                turn, verdict = turns[each.place[1]], RIGHT if each.read_right else WRONG if each.harmful else TRIVIAL
                yield Check(turn.previous, turn.text, _label(each.claim), verdict)


def stated(turns: Sequence[Turn], chance: random.Random) -> Iterator[Check]:
    """Yield what labels state, and what they contradict."""
    for turn in turns:
        for label in turn.claims:
            yield Check(turn.previous, turn.text, label, RIGHT)
            if chance.random() < 0.8:
                status = chance.choice(_OTHERWISE[label.status])
                yield Check(turn.previous, turn.text, replace(label, status=status), WRONG)
            other = _other_subject(turn, label, chance)
            if other is not None and chance.random() < 0.5:
                yield Check(turn.previous, turn.text, replace(label, subject=other[0]), WRONG)


def _other_subject(turn: Turn, label: Label, chance: random.Random) -> tuple[Span | None] | None:
    """Return a subject that a claim is not about: the speaker, or a name in the turn; None if there is none."""
    used = [each for claim in turn.claims for each in (claim.subject, claim.object) if each is not None]
    names = [m.span() for m in _NAME.finditer(turn.text, 1) if all(m.end() <= a or m.start() >= b for a, b in used)]
    if label.subject is None:
        return (chance.choice(names),) if names else None
    words = turn.text[slice(*label.subject)].casefold()
    return None if words.split()[0] in ("we", "our", "us", "my") else (None,)


def found(turns: Sequence[Turn], claims: Sequence[Sequence[StatedClaim]]) -> Iterator[Check]:
    """Yield what a reader found in labelled turns, if their labels speak of the same words."""
    for turn, own in zip(turns, claims, strict=True):
        for claim in own:
            label = _label(claim)
            if any(same(label, each) for each in turn.claims):
                yield Check(turn.previous, turn.text, label, RIGHT)
            elif contradicted(label, turn):
                yield Check(turn.previous, turn.text, label, WRONG)


def contradicted(claim: Label, turn: Turn) -> bool:
    """Whether a label says of the same words that another status holds, or that they are about somebody else."""
    near = [label for label in turn.claims if overlap(claim.object, label.object) >= 0.5]
    return any(
        label.relation == claim.relation
        and ((label.subject is None) != (claim.subject is None) or claim.status in _OTHERWISE[label.status])
        for label in near
    )


def unjudged(turns: Sequence[Unlabelled], claims: Sequence[Sequence[StatedClaim]]) -> Iterator[Check]:
    """Yield what a reader found in turns without labels."""
    for (previous, text), own in zip(turns, claims, strict=True):
        yield from (Check(previous, text, _label(claim)) for claim in own)


def _label(claim: StatedClaim) -> Label:
    return Label(claim.relation, claim.status, claim.object, claim.subject, claim.time)


def _decode(turns: Sequence[Unlabelled]) -> list[list[StatedClaim]]:
    decoded = TrainedStatementReader(load("statements")).decode_all([ReadTurn(text, before) for before, text in turns])
    return [[claim for claim, _ in claims if claim.confidence >= LEAST] for claims in decoded]


def claims_in(turns: Sequence[Unlabelled], size: int = 1000) -> list[list[StatedClaim]]:
    """Return what the reader of statements finds in each turn, however unsure."""
    parts = [turns[at : at + size] for at in range(0, len(turns), size)]
    with ProcessPoolExecutor() as pool:
        return [claims for part in pool.map(_decode, parts) for claims in part]
