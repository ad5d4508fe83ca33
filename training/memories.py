"""Whole memories with questions, some of which have no answer: what the confidence of answers is fitted on.

They are chats of our own (``training.chats``) that the reader of answers was not trained on, where a question has no
answer if it asks for a detail that nobody told, or of one person what is true of another; and posts of two people that
become their chats, session by session, where each post is asked about as the person who wrote it, and as the other one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from training.chats import Chat
from training.memory_questions import NAMES, Entry, named, spans_of, talk

SESSIONS = 14
"""Sessions of a memory of posts; in each, two people tell each other one post."""


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """Words that answer a question: characters ``start`` to ``end`` of a turn of the memory."""

    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question to a memory, and the words that answer it; none if the memory has no answer."""

    text: str
    answers: tuple[GoldSpan, ...]


@dataclass(frozen=True, slots=True)
class TalkedMemory:
    """Everything that is said in one memory, and what it is asked."""

    chat: Chat
    questions: tuple[AskedQuestion, ...]


def chat_memory(chat: Chat) -> TalkedMemory:
    """Return a chat with the questions that its words answer, and those that it does not answer."""
    questions = []
    for asked in chat.questions:
        spans = tuple(GoldSpan(*span) for span in spans_of(chat, asked)) if asked.answerable else ()
        if spans or not asked.answerable:
            questions.append(AskedQuestion(asked.text, spans))
    return TalkedMemory(chat, tuple(questions))


def posts_memory(name: str, entries: Sequence[Entry], absent: Sequence[Entry], seed: int) -> TalkedMemory:
    """Return the memory of two people who tell each other what posts tell; ``absent`` are questions about others."""
    chance = random.Random(seed)
    by_post: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        by_post.setdefault(tuple(entry["context"]), []).append(entry)
    posts = chance.sample(sorted(by_post), 2 * SESSIONS)
    people = chance.sample(NAMES, 2)
    texts, speakers, sessions = list[str](), list[str](), list[int]()
    questions: list[AskedQuestion] = []
    for session in range(SESSIONS):
        person, other = people if session % 2 else people[::-1]
        first, second = posts[2 * session], posts[2 * session + 1]
        said, places = talk(first, second, person, other, chance)
        for entry in by_post[first]:
            question, wrong = named(entry["question"], person), named(entry["question"], other)
            if question is None or wrong is None:
                continue
            spans = []
            for answer in entry["answers"]:
                turn, shift = places[answer["doc"]]
                shift -= len(person) + 2  # the name stands in front of a turn there, and beside it here
                spans.append(GoldSpan(len(texts) + turn, answer["start"] + shift, answer["end"] + shift))
            questions += [AskedQuestion(question, tuple(spans)), AskedQuestion(wrong, ())]
        for text in said:
            speaker, _, words = text.partition(": ")
            texts.append(words)
            speakers.append(speaker)
            sessions.append(session)
    for entry in absent:
        if question := named(entry["question"], chance.choice(people)):
            questions.append(AskedQuestion(question, ()))
    return TalkedMemory(Chat(name, tuple(texts), tuple(speakers), tuple(sessions), ()), tuple(questions))


def chosen(memory: TalkedMemory, most: int, seed: int = 1) -> Iterator[AskedQuestion]:
    """Yield at most so many questions of a memory, half of them without an answer as far as there are such."""
    chance = random.Random(seed)
    answered = [each for each in memory.questions if each.answers]
    without = [each for each in memory.questions if not each.answers]
    chance.shuffle(answered)
    chance.shuffle(without)
    yield from answered[: most - min(most // 2, len(without))]
    yield from without[: most // 2]
