"""Turns without labels: what people wrote in permissively licensed sets, for teachers to label.

A teacher that has learnt from the labelled turns reads these; the student learns what it says of them, and how sure it
is. No evaluation set is among them.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

from training.chats import ASSISTANT_CHATS, written_chats
from training.groups import read_groups, speaker_of

DIALOGUES = {"friendsqa_devtst": 6_000, "sgd_templated": 9_000}
"""Sets of turns, and the most that are taken of each."""
POSTS = {"squadshifts_reddit": 22_000, "squadshifts_amazon_reviews": 12_000}
"""Sets of posts in the first person; some of their sentences at a time are a turn."""
LONGEST = 600
"""Characters of the longest turn."""
Unlabelled = tuple[str | None, str]
"""The turn before, and the turn."""


def unlabelled_turns(data: Path, seed: int = 11) -> list[Unlabelled]:
    """Return turns of all sources in random order, none of them twice."""
    chance = random.Random(seed)
    turns: dict[str, Unlabelled] = {}
    for name, most in {**DIALOGUES, **POSTS}.items():
        source = list(_dialogues(data, name) if name in DIALOGUES else _posts(data, name, chance))
        chance.shuffle(source)
        turns |= {turn[1]: turn for turn in source[:most]}
    turns |= {turn[1]: turn for turn in _tweets(data)}
    turns |= {turn[1]: turn for turn in _assistant_chats()}
    kept = [turn for turn in turns.values() if 12 <= len(turn[1]) <= LONGEST]
    chance.shuffle(kept)
    return kept


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
            count = chance.choice((1, 1, 2, 2, 3))
            sentences = [
                text
                for text, session in zip(
                    group.texts[place : place + count], group.sessions[place : place + count], strict=True
                )
                if session == group.sessions[place]
            ]
            yield None, " ".join(sentences)
            place += len(sentences)


def _tweets(data: Path) -> Iterator[Unlabelled]:
    with gzip.open(data / "train_answers" / "tweetqa.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            for text in json.loads(line)["context"]:
                yield None, text.partition(": ")[2] or text


def _assistant_chats() -> Iterator[Unlabelled]:
    for chat in written_chats(ASSISTANT_CHATS):
        before: str | None = None
        for speaker, text in zip(chat.speakers, chat.texts, strict=True):
            if speaker != "assistant":
                yield before, text
            before = text
