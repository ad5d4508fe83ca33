"""Who an answer is about: names for "I", "my" and "you", and whether words are about the person that is asked about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from longmind.text.questions import QuestionForm
from longmind.text.vocabulary import RELATIVES

_OWN = re.compile(
    r"\b(?:I|I['’]m|I['’]ve|I['’]d|I['’]ll|me|my|mine|myself|we|we['’]re|we['’]ve|us|our|ours)\b",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(r"\b(?:you|you['’]re|you['’]ve|your|yours|yourself)\b", re.IGNORECASE)
_ASKED = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (r"\bdo (?:I|we)\b", "does {}"),
        (r"\bdon['’]t (?:I|we)\b", "doesn't {}"),
        (r"\bhave (?:I|we)\b", "has {}"),
        (r"\b(?:am I|are we)\b", "is {}"),
        (r"\bwere we\b", "was {}"),
        (r"\b(?:I am|I['’]m|we are)\b", "{} is"),
        (r"\b(?:I have|I['’]ve)\b", "{} has"),
        (r"\b(?:my|our|mine|ours)\b", "{}'s"),
        (r"\b(?:I|me|we|us|myself)\b", "{}"),
    )
)
_OTHERS = re.compile(
    r"\b(?:he|she|they|him|her|his|hers|them|their|it|its)\b|\b(?:he|she|they|it)['’]s\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"\W*(?:my|our|his|her)\s+(?:\w+\s+)?(?P<who>{'|'.join(sorted(RELATIVES))}|friend|boss|colleague|neighbou?r|roommate)s?\b(?!\s+and\s+I\b)",
    re.IGNORECASE,
)
"""A sentence that begins with somebody close to who speaks is about them, and not about who speaks."""
SHORT_NAME = 3
"""The fewest letters of a short form that stands for a longer name: Kat for Katharina."""
_FORMS = (
    (re.compile(r"\b(?:I['’]m|I am)\b", re.IGNORECASE), " is"),
    (re.compile(r"\b(?:I['’]ve|I have)\b", re.IGNORECASE), " has"),
    (re.compile(r"\bI['’]ll\b", re.IGNORECASE), " will"),
    (re.compile(r"\bmy own\b", re.IGNORECASE), "'s own"),
    (re.compile(r"\b(?:my|mine)\b", re.IGNORECASE), "'s"),
    (re.compile(r"\b(?:I|me|myself)\b(?!['’])"), ""),
)


def with_names(words: str, speaker: str | None, listener: str | None) -> str:
    """Return words with names for "my", "I" and "your": "my hometown" of Tim is "Tim's hometown"."""
    if speaker:
        for pattern, ending in _FORMS:
            words = pattern.sub(speaker + ending, words)
    if listener:
        words = re.sub(r"\byours?\b", f"{listener}'s", words, flags=re.IGNORECASE)
    return words


def of_person(question: str, name: str) -> str:
    """Return a question of somebody about themselves as one about them: "Where do I live?" of Ana is of Ana."""
    for pattern, words in _ASKED:
        question = pattern.sub(words.format(name), question)
    return question


def same_person(name: str | None, other: str | None) -> bool:
    """Return whether two names may be of one person: equal, or one the first name of the other."""
    if not name or not other:
        return False
    first, second = name.casefold().split(), other.casefold().split()
    return bool(first and second) and (first == second or (first[0] == second[0] and 1 in (len(first), len(second))))


def asked_person(
    form: QuestionForm,
    speakers: frozenset[str],
    asker: str | None,
    said: Iterable[str] = (),
) -> str | None:
    """Return whom a question is about: the first speaker that it names, who asks, or somebody that is spoken of."""
    for name in form.names:
        if speaker := named_speaker(name, speakers):
            return speaker
    if form.of_asker and asker in speakers:
        return asker
    texts = list(said)
    return next((name for name in form.names if any(_names(name, text) for text in texts)), None)


def named_speaker(name: str, speakers: frozenset[str]) -> str | None:
    """Return the speaker that a name stands for; a short form counts if it can stand for one of them only."""
    for speaker in sorted(speakers):
        if same_person(name, speaker):
            return speaker
    short = name.casefold()
    longer = [speaker for speaker in speakers if " " not in name and speaker.casefold().startswith(short)]
    return longer[0] if len(short) >= SHORT_NAME and len(longer) == 1 else None


def _names(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name.split()[0])}\b", text, re.IGNORECASE) is not None


def is_about(
    person: str,
    speaker: str | None,
    sentence: str,
    question: str = "",
    *,
    speaks: bool = True,
    of_both: bool = False,
) -> float:
    """Return how well a sentence fits a question about a person: 1 of themselves, 0 unclear, -1 of somebody else.

    ``speaks`` is whether the person is one of the speakers; others can only be spoken of. ``of_both`` is whether the
    question names another speaker too: what they say to each other may then answer it.
    """
    theirs = _RELATIVE.match(sentence)
    if speaks and theirs and theirs["who"].lower() not in question.lower():
        return -0.5
    if same_person(person, speaker):
        addressed = _ADDRESSED.search(sentence) and not _OWN.search(sentence)
        return 0.0 if addressed and not of_both else 1.0
    if not speaks:
        return 1.0 if _names(person, sentence) else 0.5 if _OTHERS.search(sentence) else -0.5
    if _names(person, sentence) or _ADDRESSED.search(sentence):
        return 0.5
    if speaker and _OWN.search(sentence):
        return -1.0
    return 0.0 if speaker is None else -0.5
