"""Questions about the labelled turns: what somebody asks weeks later, in other words, of a memory of these chats.

``training/claims/asked/wNN.txt`` holds those of a writer, a line each: the numbers of the turns that answer, with
commas between them, a bar, and the question. Turns are counted from 0 in ``training/claims/data/wNN.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from training.claims.labels import DATA, TEST, read_turns
from training.groups import Asked, Group

ASKED = Path(__file__).parent / "claims" / "asked"


def read_asked(path: Path) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the questions of a file with the numbers of the turns that answer each."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        turns, _, question = line.partition("|")
        if not question.strip() or not all(turn.strip().isdecimal() for turn in turns.split(",")):
            raise ValueError(f"{path.name}, line {number}: not numbers, a bar and a question: {line!r}")
        yield tuple(int(turn) for turn in turns.split(",")), question.strip()


def chat_groups() -> Iterator[Group]:
    """Yield the chats of each writer who is trained on, with the questions about them.

    What the other side said before a turn is a text of its own, as it is in a memory.
    """
    for path in sorted(ASKED.glob("*.txt")):
        if path.stem in TEST:
            continue
        texts: list[str] = []
        sessions: list[int] = []
        places: list[int] = []
        topics: dict[str, int] = {}
        said = ""
        for turn in read_turns(DATA / f"{path.stem}.jsonl"):
            session = topics.setdefault(turn.topic, len(topics))
            if turn.previous and turn.previous != said:
                texts.append(f"{'assistant' if turn.speaker == 'user' else 'friend'}: {turn.previous}")
                sessions.append(session)
            places.append(len(texts))
            texts.append(f"{turn.speaker}: {turn.text}")
            sessions.append(session)
            said = turn.text
        questions = tuple(Asked(text, tuple(places[turn] for turn in turns)) for turns, text in read_asked(path))
        yield Group(f"chats/{path.stem}", tuple(texts), tuple(sessions), questions)
