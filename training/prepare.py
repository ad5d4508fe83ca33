"""From text to numbers: everything that the training of reranker and reader needs, in a few small files.

    python -m training.prepare --data ../shared/data --mined mined --out prepared

Texts become word-piece numbers here, so that the machine that trains needs torch and nothing else.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from longmind.models.embed_minilm import weights_folder
from training.bert import hugging_face, pack, save_arrays
from training.chats import HELD_CHATS, all_chats
from training.claims.labels import DATA, TEST, read_turns
from training.groups import Group, read_groups
from training.memory_questions import Entry, chat_questions, chats, claim_questions, wrong_speakers

TRAINED_CANDIDATES = 30
"""How many of the candidates of a training question travel."""
LONGEST = 1_200
"""The most pieces of one text that are kept."""
SEED = 17
FIRST_PERSON = frozenset({"squadshifts_reddit", "squadshifts_amazon_reviews"})
"""Sets whose texts are posts of one person about themselves."""
DIALOGUES = {"friendsqa": 0.6, "molweni": 0.15}
"""Sets of dialogues, and how many of their questions are also asked of another speaker."""
CHAT_COPIES, CHAT_WRONG = 4, 0.35
"""How often the questions about our own chats are taken, each time with other turns around the answer, and how many of
them are also asked of another speaker: they are what a memory is asked."""


class Ragged:
    """Lists of small numbers, one after another."""

    def __init__(self) -> None:
        self.values: list[np.ndarray] = []
        self.ends: list[int] = [0]

    def add(self, numbers: Sequence[int]) -> None:
        self.values.append(np.asarray(numbers, np.uint16))
        self.ends.append(self.ends[-1] + len(numbers))

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        joined = np.concatenate(self.values) if self.values else np.zeros(0, np.uint16)
        return {name: joined, f"{name}_ends": np.asarray(self.ends, np.uint32)}


def open_tokenizer() -> Tokenizer:
    """Return MiniLM's tokenizer, without marks, padding or truncation."""
    tokenizer = Tokenizer.from_file(str(weights_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def pieces(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Return the word pieces of texts."""
    encoded = tokenizer.encode_batch_fast([text[:8_000] for text in texts], add_special_tokens=False)
    return [encoding.ids[:LONGEST] for encoding in encoded]


def question_arrays(tokenizer: Tokenizer, groups: Iterable[Group], most: int | None) -> dict[str, np.ndarray]:
    """Return texts, questions, gold and candidates of groups as arrays."""
    chance = random.Random(SEED)
    texts, questions, gold, candidates = Ragged(), Ragged(), Ragged(), Ragged()
    first_text, sessions, group_of, scores, tuned, sources, categories = [0], [], [], [], [], [], []
    names: list[str] = []
    for number, group in enumerate(groups):
        for ids in pieces(tokenizer, group.texts):
            texts.add(ids)
        first_text.append(first_text[-1] + len(group.texts))
        sessions.extend(number for number in group.sessions)
        tuned.append(group.tuned)
        source = group.source.partition("/")[0]
        if source not in names:
            names.append(source)
        sources.append(names.index(source))
        for asked, ids in zip(group.questions, pieces(tokenizer, [q.text for q in group.questions]), strict=True):
            places = list(asked.candidates)
            if most is not None and len(places) > most:
                kept = set(places[: most * 3 // 4]) | set(chance.sample(places[most * 3 // 4 :], most // 4))
                places = [place for place in places if place in kept]
            known = dict(zip(asked.candidates, asked.scores, strict=True))
            questions.add(ids[:64])
            gold.add(asked.gold)
            candidates.add(places)
            scores.extend(known[place] for place in places)
            group_of.append(number)
            categories.append(asked.category)
    return {
        **texts.arrays("texts"),
        **questions.arrays("questions"),
        **gold.arrays("gold"),
        **candidates.arrays("candidates"),
        "first_text": np.asarray(first_text, np.uint32),
        "sessions": np.asarray(sessions, np.int32),
        "group_of": np.asarray(group_of, np.uint16),
        "scores": np.asarray(scores, np.float16),
        "tuned": np.asarray(tuned, np.bool_),
        "sources": np.asarray(sources, np.uint8),
        "source_names": np.asarray(names),
        "categories": np.asarray(categories),
    }


def answer_sources(files: Sequence[Path], caps: dict[str, int]) -> Iterator[tuple[str, list[Entry]]]:
    """Yield the sets of questions with answers, by name: those of files, and those in the shape of a memory."""
    chance = random.Random(SEED)
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            entries = [json.loads(line) for line in stream]
        name = path.name.removesuffix(".jsonl.gz")
        if name in FIRST_PERSON:
            yield f"chat_{name}", list(chats(entries))
        if name in DIALOGUES:
            yield f"wrong_speakers_{name}", list(wrong_speakers(entries, DIALOGUES[name]))
        if name in caps:
            chance.shuffle(entries)
            entries = sorted(entries[: caps[name]], key=lambda entry: json.dumps(entry["context"][:2]))
        yield name, entries
    turns = [turn for path in sorted(DATA.glob("*.jsonl")) for turn in read_turns(path)]
    yield "claims", list(claim_questions([turn for turn in turns if turn.writer not in TEST]))
    trained = [chat for chat in all_chats() if chat.name not in HELD_CHATS]
    for copy in range(CHAT_COPIES):
        asked = list(chat_questions(trained, copy))
        yield f"chats_{copy}", asked
        yield f"wrong_speakers_chats_{copy}", list(wrong_speakers(asked, CHAT_WRONG, copy))


def answer_arrays(tokenizer: Tokenizer, sets: Iterable[tuple[str, Sequence[Entry]]]) -> dict[str, np.ndarray]:
    """Return contexts, questions and answer spans as arrays; spans count word pieces within their text.

    ``near`` is the text around which a question without an answer is asked; -1 if any will do.
    """
    texts, questions = Ragged(), Ragged()
    first_text, context_of, spans, near, sources, names = [0], [], [], [], [], []
    for name, entries in sets:
        names.append(name)
        contexts: dict[str, tuple[int, list[list[tuple[int, int]]]]] = {}
        for entry in entries:
            key = "\n".join(entry["context"])
            if key not in contexts:
                encoded = tokenizer.encode_batch(entry["context"], add_special_tokens=False)
                contexts[key] = (len(first_text) - 1, [encoding.offsets[:LONGEST] for encoding in encoded])
                for encoding in encoded:
                    texts.add(encoding.ids[:LONGEST])
                first_text.append(first_text[-1] + len(encoded))
            number, offsets = contexts[key]
            span = (-1, -1, -1)
            for answer in entry["answers"] if entry["answerable"] else ():
                inside = [
                    place
                    for place, (start, end) in enumerate(offsets[answer["doc"]])
                    if start < answer["end"] and end > answer["start"]
                ]
                if inside:
                    span = (answer["doc"], inside[0], inside[-1])
                    break
            if entry["answerable"] and span[0] < 0:
                continue
            questions.add(pieces(tokenizer, [entry["question"]])[0][:64])
            context_of.append(number)
            spans.append(span)
            near.append(entry.get("near", -1))
            sources.append(len(names) - 1)
    return {
        **texts.arrays("texts"),
        **questions.arrays("questions"),
        "first_text": np.asarray(first_text, np.uint32),
        "context_of": np.asarray(context_of, np.uint32),
        "spans": np.asarray(spans, np.int16),
        "near": np.asarray(near, np.int16),
        "sources": np.asarray(sources, np.uint8),
        "source_names": np.asarray(names),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--mined", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parts", default="trunk,questions,sets,answers")
    call = parser.parse_args()
    call.out.mkdir(parents=True, exist_ok=True)
    parts, tokenizer = call.parts.split(","), open_tokenizer()
    if "trunk" in parts:
        pack(hugging_face(load_file(weights_folder() / "model.safetensors")), call.out / "trunk.npz.xz")
    if "questions" in parts:
        files = sorted(path for path in call.mined.glob("*.jsonl.gz") if not path.name.startswith("set_"))
        groups = [group for path in files for group in read_groups(path) if group.questions]
        save_arrays(call.out / "questions.npz.xz", question_arrays(tokenizer, groups, TRAINED_CANDIDATES))
    if "sets" in parts:
        for path in sorted(call.mined.glob("set_*.jsonl.gz")):
            name = path.name.removesuffix(".jsonl.gz")
            save_arrays(call.out / f"{name}.npz.xz", question_arrays(tokenizer, read_groups(path), None))
    if "answers" in parts:
        files = sorted((call.data / "train_answers").glob("*.jsonl.gz"))
        caps = {"sgd_templated": 6_000, "molweni": 14_000}
        save_arrays(call.out / "answers.npz.xz", answer_arrays(tokenizer, answer_sources(files, caps)))
    for path in sorted(call.out.iterdir()):
        sys.stdout.write(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
