"""Questions in the shape of memory: two named people talk about themselves, and somebody asks about one of them.

The sets of questions and answers that can be had are about articles, scenes and posts. Four of our own are made of
them, and of our chats, in the same form; ``near`` is the text around which a question without an answer is asked:

- the questions about our chats (``training.chats``) are taken with the turns around their answers;
- a post becomes the turns of a named person, mixed with those of another one, and "the author" becomes the name;
- a claim of a labelled turn becomes a question by its relation, with the object as answer;
- in a dialogue, the name in a question becomes that of another speaker.

Each is also asked of the wrong person, near the words that would answer it. That is what a memory must refuse.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from training.chats import Chat, ChatQuestion
from training.claims.labels import Label, Turn
from training.claims.questions import QUESTIONS, WHEN

Entry = dict[str, Any]
NAMES = tuple(
    """Alice Ben Carla Daniel Elena Farid Grace Hugo Ines Jakub Kira Liam Maya Noah Olga Pedro Quinn Rosa Samir Tessa
    Uma Victor Wanda Xenia Yusuf Zoe Anna Boris Chloe Dmitri Emma Felix Gina Hannah Ivan Julia Karim Laura Marco Nina
    Oscar Paula Ravi Sofia Tom Ursula Vera Will Yara Zack Amara Bruno Cleo Dario Esther Finn Greta Harun Isla Jonas
    Keiko Lena Mateo Nadia Omar Priya Rafael Sara Theo Viola Wei Yuki Aisha Bernd Celia Dominik Eva Fatima Georg Helen
    Igor Jana Klaus Lucia Mona Nils Otto Petra Rita Stefan Tanja Ulrich Vincent Yasmin Adam Beth Claire Derek Erin Frank
    Heidi Iris Jack Kate Luke Megan Neil Olivia Peter Rachel Sean Tina""".split()
)
AUTHOR = re.compile(
    r"\b(?:the|this) (?:author|writer|reviewer|poster|op|customer|person|speaker|narrator|buyer|purchaser|consumer|"
    r"redditor|individual|guy|woman|man)\b(?P<of> ?['’]? ?s\b)?",
    re.IGNORECASE,
)
PRONOUN = re.compile(
    r"\b(?P<verb>did|does|is|was|has|had|will|can|could|would|should) (?:he|she|they)\b", re.IGNORECASE
)
SPEAKER = re.compile(r"^(?P<name>[A-Za-z0-9_`|.-]+)(?: [A-Z][a-z]+)?: ")
WRONG_PERSON = 0.6
"""How often a question is also asked of the wrong person."""
AROUND = 7
"""The most turns before and after an answer that are taken with it."""
BETWEEN = 12
"""Items of a list that are so many characters apart are one answer."""
PLAIN = 0.4
"""How often a question that names nobody is asked of a chat, too."""


def named(question: str, name: str) -> str | None:
    """Return a question about the author of a text as one about a person; None if it names no author."""
    if AUTHOR.search(question):
        return AUTHOR.sub(lambda match: f"{name}'s" if match["of"] else name, question)
    if PRONOUN.search(question):
        return PRONOUN.sub(lambda match: f"{match['verb']} {name}", question, count=1)
    return None


def chats(entries: Sequence[Entry], seed: int = 5) -> Iterator[Entry]:
    """Yield questions about posts as questions about a chat of two people."""
    chance = random.Random(seed)
    posts = sorted({tuple(entry["context"]) for entry in entries})
    for entry in entries:
        if not entry["answerable"]:
            continue
        name, other, stranger = chance.sample(NAMES, 3)
        question = named(entry["question"], name)
        if question is None and chance.random() > PLAIN:
            continue
        second = chance.choice(posts)
        if second == tuple(entry["context"]):
            continue
        turns, places = talk(entry["context"], second, name, other, chance)
        answers = []
        for answer in entry["answers"]:
            turn, shift = places[answer["doc"]]
            answers.append({**answer, "doc": turn, "start": answer["start"] + shift, "end": answer["end"] + shift})
        chat = {"source": entry["source"], "context": turns, "answers": answers, "answerable": True}
        yield {**chat, "question": question or entry["question"]}
        if question is not None and chance.random() < WRONG_PERSON:
            wrong = named(entry["question"], other if chance.random() < 0.8 else stranger)
            yield {**chat, "question": wrong, "answers": [], "answerable": False, "near": answers[0]["doc"]}


def talk(
    first: Sequence[str], second: Sequence[str], name: str, other: str, chance: random.Random
) -> tuple[list[str], dict[int, tuple[int, int]]]:
    """Return the turns of two people, and for each sentence of the first its turn and how far it moved in it."""
    turns: list[str] = []
    places: dict[int, tuple[int, int]] = {}
    rest, at = list(second), 0
    while at < len(first):
        turn = f"{name}: "
        for _ in range(chance.randint(1, 3)):
            if at >= len(first):
                break
            turn += " " if not turn.endswith(": ") else ""
            places[at] = (len(turns), len(turn))
            turn += first[at]
            at += 1
        turns.append(turn)
        if rest:
            cut = chance.randint(1, 2)
            turns.append(f"{other}: {' '.join(rest[:cut])}")
            rest = rest[cut:]
    return turns, places


def chat_questions(chats: Sequence[Chat], seed: int = 8) -> Iterator[Entry]:
    """Yield the questions about chats, each with some turns of the same session around what answers it."""
    chance = random.Random(seed)
    for chat in chats:
        for asked in chat.questions:
            places = spans_of(chat, asked) if asked.answerable else [(asked.turns[0], 0, 0)]
            for turn, start, end in places:
                first, context = _session_around(chat, turn, chance)
                entry: Entry = {"source": f"chats/{chat.name}", "context": context, "question": asked.text}
                if asked.answerable:
                    shift = len(chat.speakers[turn]) + 2
                    text = chat.texts[turn][start:end]
                    answer = {"doc": turn - first, "start": start + shift, "end": end + shift, "text": text}
                    yield {**entry, "answers": [answer], "answerable": True}
                else:
                    yield {**entry, "answers": [], "answerable": False, "near": turn - first}


def spans_of(chat: Chat, asked: ChatQuestion) -> list[tuple[int, int, int]]:
    """Return where the words of an answer stand: turn, start and end; items of a list side by side are one span."""
    spans: list[tuple[int, int, int]] = []
    for answer in asked.answers:
        found = next(((turn, at) for turn in asked.turns if (at := chat.texts[turn].find(answer)) >= 0), None)
        if found is None:
            continue
        turn, start = found
        if spans and spans[-1][0] == turn and 0 <= start - spans[-1][2] <= BETWEEN:
            spans[-1] = (turn, spans[-1][1], start + len(answer))
        else:
            spans.append((turn, start, start + len(answer)))
    return spans


def _session_around(chat: Chat, turn: int, chance: random.Random) -> tuple[int, list[str]]:
    """Return the number of the first turn that is taken with another one, and all that are, with their speakers."""
    first, last = turn, turn
    for _ in range(chance.randint(2, AROUND)):
        first -= first > 0 and chat.sessions[first - 1] == chat.sessions[turn]
    for _ in range(chance.randint(2, AROUND)):
        last += last + 1 < len(chat.texts) and chat.sessions[last + 1] == chat.sessions[turn]
    return first, [f"{chat.speakers[n]}: {chat.texts[n]}" for n in range(first, last + 1)]


def wrong_speakers(entries: Sequence[Entry], share: float, seed: int = 6) -> Iterator[Entry]:
    """Yield questions about a speaker of a dialogue as questions about another one, which have no answer there."""
    chance = random.Random(seed)
    for entry in entries:
        if not entry["answerable"] or chance.random() > share:
            continue
        speakers = {match["name"] for text in entry["context"] if (match := SPEAKER.match(text))}
        asked = [name for name in speakers if re.search(rf"\b{re.escape(name)}\b", entry["question"], re.IGNORECASE)]
        near = entry["answers"][0]["doc"]
        around = " ".join(SPEAKER.sub("", text) for text in entry["context"][max(0, near - 1) : near + 2]).lower()
        others = sorted(n for n in speakers if n not in asked and n.lower() not in around and n[0].isupper())
        if len(asked) != 1 or not others:
            continue
        question = re.sub(rf"\b{re.escape(asked[0])}\b", chance.choice(others), entry["question"], flags=re.IGNORECASE)
        yield {**entry, "question": question, "answers": [], "answerable": False, "near": near}


def claim_questions(turns: Sequence[Turn], seed: int = 7) -> Iterator[Entry]:
    """Yield questions about labelled turns, by the relation of each claim."""
    chance = random.Random(seed)
    by_writer: dict[str, list[Turn]] = {}
    for turn in turns:
        by_writer.setdefault(turn.writer, []).append(turn)
    for turn in turns:
        if turn.speaker == "assistant":
            continue
        name, other, stranger = chance.sample(NAMES, 3)
        name = name if turn.speaker == "user" else turn.speaker
        context, place = _around(turn, by_writer[turn.writer], name, other, chance)
        shift = len(name) + 2
        asked: set[str] = set()
        for (relation, subject), claims in claims_by_relation(turn).items():
            templates = QUESTIONS.get((relation, tense_of(claims[0].status)))
            if not templates:
                continue
            whose = name if subject is None else _whose(turn.text[slice(*subject)], name)
            start, end = _extent(claims)
            asked.add(relation)
            chat = {"source": f"claims/{turn.writer}", "context": context, "answers": [], "answerable": False}
            answer = {"doc": place, "start": start + shift, "end": end + shift, "text": turn.text[start:end]}
            template = chance.choice(templates)
            yield {**chat, "question": template.format(n=whose), "answers": [answer], "answerable": True}
            if chance.random() < WRONG_PERSON and subject is None:
                wrong = other if chance.random() < 0.7 else stranger
                yield {**chat, "question": template.format(n=wrong), "near": place}
            when = WHEN.get((relation, tense_of(claims[0].status)))
            if when and subject is None and (time := claims[0].time) is not None:
                question = chance.choice(when).format(n=name, o=turn.text[slice(*claims[0].object)])
                answer = {
                    "doc": place,
                    "start": time[0] + shift,
                    "end": time[1] + shift,
                    "text": turn.text[slice(*time)],
                }
                yield {**chat, "question": question, "answers": [answer], "answerable": True}
        if chance.random() < 0.5:  # what the turn does not say
            relation, tense = chance.choice([key for key in QUESTIONS if key[0] not in asked])
            question = chance.choice(QUESTIONS[relation, tense]).format(n=name)
            yield {
                "source": f"claims/{turn.writer}",
                "context": context,
                "question": question,
                "answers": [],
                "answerable": False,
                "near": place,
            }


def _around(turn: Turn, others: Sequence[Turn], name: str, other: str, chance: random.Random) -> tuple[list[str], int]:
    before = [f"{other}: {turn.previous}"] if turn.previous else [f"{other}: {chance.choice(others).text}"]
    before = [f"{name}: {chance.choice(others).text}", *before] if chance.random() < 0.3 else before
    after = [f"{other}: {chance.choice(others).text}"]
    return [*before, f"{name}: {turn.text}", *after], len(before)


def claims_by_relation(turn: Turn) -> dict[tuple[str, tuple[int, int] | None], list[Label]]:
    grouped: dict[tuple[str, tuple[int, int] | None], list[Label]] = {}
    for claim in turn.claims:
        if claim.status in ("current", "past", "ended", "planned", "temporary"):
            key = (claim.relation, claim.subject)
            if key not in grouped or tense_of(grouped[key][0].status) == tense_of(claim.status):
                grouped.setdefault(key, []).append(claim)
    return grouped


def tense_of(status: str) -> str:
    return {"temporary": "current", "ended": "past"}.get(status, status)


def _extent(claims: Sequence[Label]) -> tuple[int, int]:
    """Return the span of the first object, or of all of them where they form a list."""
    spans = sorted(claim.object for claim in claims)
    start, end = spans[0]
    for following in spans[1:]:
        if following[0] - end > 12:
            break
        end = max(end, following[1])
    return start, end


def _whose(subject: str, name: str) -> str:
    """Return a subject as others would say it: "my sister" is "Ana's sister"."""
    return re.sub(r"^(?:my|our)\b", f"{name}'s", subject, flags=re.IGNORECASE)
