"""Turns without labels: chats of our own, and what people wrote in permissively licensed sets, for teachers to label.

A teacher that has learnt from the labelled turns reads these; the student learns what it says of them, and how sure it
is. No evaluation set is among them. ``unlabelled_chats`` holds invented chats that were written for this: a line is a
turn, ``name: text``, and a blank line ends a chat.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from training.changes import turns as changes
from training.chats import ASSISTANT_CHATS, written_chats
from training.groups import read_groups, speaker_of

CHATS = Path(__file__).with_name("unlabelled_chats")
DIALOGUES = {"sgd_templated": 24_000, "qmsum_train": 8_000}
"""Sets of turns, and the most that are taken of each."""
POSTS = ("squadshifts_reddit", "squadshifts_amazon_reviews")
"""Sets of posts in the first person; some of their sentences at a time are a turn."""
CUT = 3
"""How often posts are cut into turns, each time in other places."""
SHORTEST, LONGEST = 12, 600
"""Characters of the shortest and of the longest turn."""
Unlabelled = tuple[str | None, str]
"""The turn before, and the turn."""
_APART = re.compile(r"['’](?=\w)|[.,](?=\s|$)")


def unlabelled_turns(data: Path, seed: int = 11) -> list[Unlabelled]:
    """Return turns of all sources in random order, none of them twice."""
    chance = random.Random(seed)
    turns: dict[str, Unlabelled] = {}

    def add(source: Iterator[Unlabelled], most: int | None = None) -> None:
        kept = [turn for turn in source if SHORTEST <= len(turn[1]) <= LONGEST]
        chance.shuffle(kept)
        turns.update((turn[1], turn) for turn in kept[:most])

    for name, most in DIALOGUES.items():
        add(_dialogues(data, name), most)
    for name in POSTS:
        for _ in range(CUT):
            add(_posts(data, name, chance))
    add(_scenes(data))
    add(_tweets(data))
    for turn in (*_assistant_chats(), *_own_chats()):
        add(iter((turn, (turn[0], _careless(turn[1])))))
    add(iter(known_turns()))
    kept = list(turns.values())
    chance.shuffle(kept)
    return kept


def talk_of_people(data: Path) -> list[Unlabelled]:
    """Return the turns of posts, scenes and our own chats, as they were written."""
    left_out = {text for name in DIALOGUES for _, text in _dialogues(data, name)} | {text for _, text in _tweets(data)}
    left_out |= {_careless(text) for _, text in (*_assistant_chats(), *_own_chats())}
    left_out |= {text for _, text in known_turns()}
    return [turn for turn in unlabelled_turns(data) if turn[1] not in left_out]


def _careless(text: str) -> str:
    """Return a text as somebody types who leaves out apostrophes, capitals and full stops."""
    return _APART.sub("", text).lower()


def _dialogues(data: Path, name: str) -> Iterator[Unlabelled]:
    for group in read_groups(data / "train" / f"{name}.jsonl.gz"):
        before: str | None = None
        for place, text in enumerate(group.texts):
            speaker, said = speaker_of(group.source, text)
            if place and group.sessions[place] != group.sessions[place - 1]:
                before = None
            if speaker != "assistant":
                yield before, said
            before = said


def _posts(data: Path, name: str, chance: random.Random) -> Iterator[Unlabelled]:
    for group in read_groups(data / "train" / f"{name}.jsonl.gz"):
        place = 0
        while place < len(group.texts):
            count = chance.choice((1, 1, 2, 2, 3, 4))
            sentences = [
                text
                for text, session in zip(
                    group.texts[place : place + count], group.sessions[place : place + count], strict=True
                )
                if session == group.sessions[place]
            ]
            yield None, " ".join(sentences)
            place += len(sentences)


def _scenes(data: Path) -> Iterator[Unlabelled]:
    for scene in sorted({tuple(entry["context"]) for entry in _entries(data, "friendsqa")}):
        before: str | None = None
        for text in scene:
            speaker, said = speaker_of("friendsqa", text)
            if speaker is not None:
                yield before, said
                before = said


def _tweets(data: Path) -> Iterator[Unlabelled]:
    for entry in _entries(data, "tweetqa"):
        for text in entry["context"]:
            yield None, text.partition(": ")[2] or text


def _entries(data: Path, name: str) -> Iterator[dict[str, list[str]]]:
    with gzip.open(data / "train_answers" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def known_turns() -> list[Unlabelled]:
    """Return the turns that were written for the reader of changes, but for those that it is measured on."""
    measured = (*changes.DEVELOPMENT, *changes.TEST)
    paths = [path for path in sorted(changes.DATA.glob("*.jsonl")) if path.stem not in measured]
    return [(turn.previous, turn.text) for path in paths for turn in changes.read_turns(path)]


def _assistant_chats() -> Iterator[Unlabelled]:
    for chat in written_chats(ASSISTANT_CHATS):
        before: str | None = None
        for speaker, text in zip(chat.speakers, chat.texts, strict=True):
            if speaker != "assistant":
                yield before, text
            before = text


def _own_chats() -> Iterator[Unlabelled]:
    for path in sorted(CHATS.glob("*.txt")):
        before: str | None = None
        for line in path.read_text(encoding="utf-8").splitlines():
            speaker, colon, text = line.partition(": ")
            if not colon:
                before = None
                continue
            if speaker != "assistant":
                yield before, text.strip()
            before = text.strip()
