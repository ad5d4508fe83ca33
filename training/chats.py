"""Questions about chats of our own: what somebody asks weeks later, in other words, of a memory of these chats.

    python -m training.chats [CHAT.txt ...]     checks all chats, or some of the written ones, and counts what they hold

There are three kinds of chats: the labelled turns of ``training/claims/data/wNN.jsonl``, with questions in
``training/claims/asked/wNN.txt``; chats of a user with an assistant that answers at length,
``training/assistant_chats/cNN.txt``, with questions in ``cNN.asked.txt`` beside it; and chats of two people who tell
each other of lives that are easy to mix up, ``training/friend_chats/fNN.txt``, with their questions beside them.

A question is a line: the numbers of the turns that answer, with commas between them, a bar, the question, a bar, and
the answer. The answer is copied from one of these turns; the items of a list stand between semicolons. It may be
"yes" or "no", and it is missing where no words of a turn would do. Turns are counted from 0. ``!12|question`` is a
question that the chat does not answer although turn 12 comes near.

A chat of the second and third kind is a text: ``# 2026-03-02 topic`` begins a session, ``[0] user: words`` a message
that goes on until the next of these.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.claims.labels import DATA, TEST, read_turns
from training.groups import Asked, Group

ASKED = Path(__file__).parent / "claims" / "asked"
ASSISTANT_CHATS = Path(__file__).parent / "assistant_chats"
FRIEND_CHATS = Path(__file__).parent / "friend_chats"
HELD_CHATS = frozenset({"w61", "w65", "w73", "w82", "c02", "c12", "c22", "c26", "f05", "f11", "f17", "f23"})
"""Chats whose questions no model has learnt from: chances and confidences are fitted on them."""
_SESSION = re.compile(r"# (?P<date>\d{4}-\d\d-\d\d) (?P<topic>\S.*)")
_MESSAGE = re.compile(r"\[(?P<number>\d+)\] (?P<speaker>[^:\n]{1,40}): (?P<text>.*)")


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """A question, the turns that answer it or come near, and the words of the answer where a turn has them."""

    text: str
    turns: tuple[int, ...]
    answers: tuple[str, ...] = ()
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class Chat:
    """The turns of a chat, each with its speaker and the number of its session, and questions about them."""

    name: str
    texts: tuple[str, ...]
    speakers: tuple[str, ...]
    sessions: tuple[int, ...]
    questions: tuple[ChatQuestion, ...]


def read_asked(path: Path) -> Iterator[ChatQuestion]:
    """Yield the questions of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        turns, _, words = line.partition("|")
        question, _, answer = words.partition("|")
        answerable = not turns.startswith("!")
        numbers = turns.removeprefix("!").split(",")
        if not question.strip() or not all(turn.strip().isdecimal() for turn in numbers):
            raise ValueError(f"{path.name}, line {number}: not numbers, a bar and a question: {line!r}")
        answers = tuple(part.strip() for part in answer.split(";") if part.strip())
        yield ChatQuestion(question.strip(), tuple(int(turn) for turn in numbers), answers, answerable)


def claim_chats() -> Iterator[Chat]:
    """Yield the chats of the labelled turns that are trained on.

    What the other side said before a turn is a turn of its own, as it is in a memory.
    """
    for path in sorted(ASKED.glob("*.txt")):
        if path.stem in TEST:
            continue
        texts, speakers, sessions = list[str](), list[str](), list[int]()
        places: list[int] = []
        topics: dict[str, int] = {}
        said = ""
        for turn in read_turns(DATA / f"{path.stem}.jsonl"):
            session = topics.setdefault(turn.topic, len(topics))
            if turn.previous and turn.previous != said:
                texts.append(turn.previous)
                speakers.append("assistant" if turn.speaker == "user" else "friend")
                sessions.append(session)
            places.append(len(texts))
            texts.append(turn.text)
            speakers.append(turn.speaker)
            sessions.append(session)
            said = turn.text
        questions = tuple(
            ChatQuestion(asked.text, tuple(places[turn] for turn in asked.turns), asked.answers, asked.answerable)
            for asked in read_asked(path)
        )
        yield Chat(path.stem, tuple(texts), tuple(speakers), tuple(sessions), questions)


def read_chat(path: Path) -> Chat:
    """Return a chat that is stored as a text, and the questions about it."""
    texts, speakers, sessions = list[str](), list[str](), list[int]()
    session = -1
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        message = _MESSAGE.fullmatch(line)
        if _SESSION.fullmatch(line):
            session += 1
        elif message is not None:
            if int(message["number"]) != len(texts) or session < 0:
                raise ValueError(f"{path.name}, line {number}: message {len(texts)} of a session was expected")
            texts.append(message["text"])
            speakers.append(message["speaker"])
            sessions.append(session)
        elif texts:
            texts[-1] += f"\n{line}"
        elif line.strip():
            raise ValueError(f"{path.name}, line {number}: neither a session nor a message: {line!r}")
    asked = path.with_suffix(".asked.txt")
    questions = tuple(read_asked(asked)) if asked.exists() else ()
    return Chat(path.stem, tuple(text.strip() for text in texts), tuple(speakers), tuple(sessions), questions)


def all_chats() -> Iterator[Chat]:
    """Yield every chat that is trained on."""
    yield from claim_chats()
    yield from written_chats(ASSISTANT_CHATS)
    yield from written_chats(FRIEND_CHATS)


def written_chats(folder: Path) -> Iterator[Chat]:
    """Yield the chats of a folder that are stored as texts."""
    for path in sorted(folder.glob("*.txt")):
        if not path.name.endswith(".asked.txt"):
            yield read_chat(path)


def chat_groups() -> Iterator[Group]:
    """Yield every chat that is learnt from with the questions that it answers, for the reranker."""
    for chat in all_chats():
        if chat.name in HELD_CHATS:
            continue
        texts = tuple(f"{speaker}: {text}" for speaker, text in zip(chat.speakers, chat.texts, strict=True))
        questions = tuple(Asked(asked.text, asked.turns) for asked in chat.questions if asked.answerable)
        yield Group(f"chats/{chat.name}", texts, chat.sessions, questions)


def faults(chat: Chat) -> Iterator[str]:
    """Yield what is wrong with the questions of a chat."""
    seen: set[str] = set()
    for asked in chat.questions:
        if asked.text.lower() in seen:
            yield f"asked twice: {asked.text}"
        seen.add(asked.text.lower())
        if any(turn >= len(chat.texts) for turn in asked.turns):
            yield f"no such turn: {asked.turns} {asked.text}"
            continue
        if not asked.answerable and asked.answers:
            yield f"an answer to what is not answered: {asked.text}"
        if len(asked.answers) == 1 and asked.answers[0].lower() in ("yes", "no"):
            continue
        for answer in asked.answers:
            if not any(answer in chat.texts[turn] for turn in asked.turns):
                yield f"not in turn {asked.turns}: {answer!r} ({asked.text})"


def main(names: Sequence[str]) -> int:
    chats = [read_chat(Path(name)) for name in names] if names else list(all_chats())
    wrong = 0
    for chat in chats:
        for fault in faults(chat):
            wrong += 1
            sys.stdout.write(f"{chat.name}: {fault}\n")
        asked, words = chat.questions, sum(len(text.split()) for text in chat.texts)
        sys.stdout.write(
            f"{chat.name}: {len(chat.texts)} turns in {len(set(chat.sessions))} sessions, {words} words; "
            f"{sum(a.answerable for a in asked)} questions, {sum(bool(a.answers) for a in asked)} with the words of "
            f"their answers; {sum(not a.answerable for a in asked)} without an answer\n"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
