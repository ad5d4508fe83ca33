"""Whole memories with questions, some of which have no answer: what the confidence of answers is fitted on.

Three kinds, none of them from an evaluation set:

- two of the invented writers whose turns no model was trained on talk to each other, and are asked about their claims;
- posts of two people become their chats, session by session, and are asked about as the people who wrote them;
- scenes of a dialogue become the sessions of one memory.

A question has no answer here if it is asked of the wrong person, near the words that would answer it, or if what it
asks about was left out of the memory.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from training.claims.labels import Turn
from training.claims.questions import QUESTIONS
from training.memory_questions import NAMES, Entry, claims_by_relation, named, talk, tense_of, wrong_speakers

POSTS = 14
"""Posts of each person in a memory made of posts."""
SCENES = 12
"""Scenes in a memory made of a dialogue."""
TURNS_OF_SESSION = 24
"""Turns in a session of two writers."""


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
class SaidTurn:
    """A turn of a memory."""

    session: int
    speaker: str | None
    text: str


@dataclass(frozen=True, slots=True)
class TalkedMemory:
    """Everything that is said in one memory, and what it is asked."""

    name: str
    turns: tuple[SaidTurn, ...]
    questions: tuple[AskedQuestion, ...]


def writers_memory(name: str, first: Sequence[Turn], second: Sequence[Turn] = (), seed: int = 3) -> TalkedMemory:
    """Return the memory of one writer, or of two who talk by turns; what one stated is also asked of the other."""
    chance = random.Random(seed)
    people = dict(zip(chance.sample(NAMES, 2), (_own(first), _own(second)), strict=True))
    turns: list[SaidTurn] = []
    stated: dict[str, dict[tuple[str, str], list[GoldSpan]]] = {person: {} for person in people}
    for number in range(max(map(len, people.values()))):
        for person, said in people.items():
            if number >= len(said):
                continue
            turn = said[number]
            for (relation, subject), claims in claims_by_relation(turn).items():
                if subject is None:
                    key = (relation, tense_of(claims[0].status))
                    stated[person].setdefault(key, []).extend(GoldSpan(len(turns), *claim.object) for claim in claims)
            turns.append(SaidTurn(len(turns) // TURNS_OF_SESSION, person, turn.text))
    questions = []
    for person, other in (tuple(people), tuple(people)[::-1]):
        for key, templates in QUESTIONS.items():
            template = chance.choice(templates)
            if not people[person]:
                continue
            if key in stated[person]:
                questions.append(AskedQuestion(template.format(n=person), tuple(stated[person][key])))
            elif not any(relation == key[0] for relation, _ in stated[person]) and (
                key in stated[other] or chance.random() < 0.4
            ):
                questions.append(AskedQuestion(template.format(n=person), ()))
    return TalkedMemory(name, tuple(turns), tuple(questions))


def _own(turns: Iterable[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.speaker == "user"]


def posts_memory(name: str, entries: Sequence[Entry], absent: Sequence[Entry], seed: int) -> TalkedMemory:
    """Return the memory of two people who tell each other what posts tell; ``absent`` are questions about others."""
    chance = random.Random(seed)
    by_post: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        by_post.setdefault(tuple(entry["context"]), []).append(entry)
    posts = chance.sample(sorted(by_post), 2 * POSTS)
    people = chance.sample(NAMES, 2)
    turns: list[SaidTurn] = []
    questions: list[AskedQuestion] = []
    for session in range(POSTS):
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
                shift -= len(person) + 2
                spans.append(GoldSpan(len(turns) + turn, answer["start"] + shift, answer["end"] + shift))
            questions += [AskedQuestion(question, tuple(spans)), AskedQuestion(wrong, ())]
        turns += [_said(session, text) for text in said]
    for entry in absent:
        if question := named(entry["question"], chance.choice(people)):
            questions.append(AskedQuestion(question, ()))
    return TalkedMemory(name, tuple(turns), tuple(questions))


def scenes_memory(name: str, entries: Sequence[Entry], absent: Sequence[Entry], seed: int) -> TalkedMemory:
    """Return the memory of a dialogue in scenes; ``absent`` are questions about scenes that are not in it."""
    chance = random.Random(seed)
    by_scene: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        by_scene.setdefault(tuple(entry["context"]), []).append(entry)
    turns: list[SaidTurn] = []
    questions: list[AskedQuestion] = []
    for session, scene in enumerate(chance.sample(sorted(by_scene), SCENES)):
        for entry in by_scene[scene]:
            spans = []
            for answer in entry["answers"]:
                shift = len(_speaker(scene[answer["doc"]]))
                spans.append(
                    GoldSpan(len(turns) + answer["doc"], max(0, answer["start"] - shift), max(1, answer["end"] - shift))
                )
            questions.append(AskedQuestion(entry["question"], tuple(spans)))
        swapped = wrong_speakers(by_scene[scene], 1.0, seed)
        questions += [AskedQuestion(entry["question"], ()) for entry in swapped]
        turns += [_said(session, text) for text in scene]
    questions += [AskedQuestion(entry["question"], ()) for entry in absent]
    return TalkedMemory(name, tuple(turns), tuple(questions))


_SPEAKER = re.compile(r"^[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}: ")


def _speaker(text: str) -> str:
    match = _SPEAKER.match(text)
    return match.group() if match else ""


def _said(session: int, text: str) -> SaidTurn:
    speaker = _speaker(text)
    return SaidTurn(session, speaker.removesuffix(": ") or None, text[len(speaker) :])


def chosen(memory: TalkedMemory, most: int, seed: int = 1) -> Iterator[AskedQuestion]:
    """Yield at most so many questions of a memory, half of them without an answer as far as there are such."""
    chance = random.Random(seed)
    answered = [each for each in memory.questions if each.answers]
    without = [each for each in memory.questions if not each.answers]
    chance.shuffle(answered)
    chance.shuffle(without)
    yield from answered[: most - min(most // 2, len(without))]
    yield from without[: most // 2]
