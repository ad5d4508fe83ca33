"""The word pieces are compared with those of the ``tokenizers`` package, which reads the published vocabulary."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from longmind.models.embed_static import read_table
from longmind.models.word_pieces import _KEPT_WORDS, WordPieces

FRAGMENTS = [
    "<s>",
    "</s>",
    "<unk>",
    "<0x0A>",
    "the ",
    "    ",
    "\r\n",
    "▁",
    "\n\n\t",
    "aaaa",
    "==",
    ");\r",
    "日本語",
    "😀",
]


@pytest.fixture(scope="module")
def reference() -> Tokenizer:
    package = importlib.util.find_spec("wordllama")
    assert package is not None
    assert package.origin is not None
    tokenizer = Tokenizer.from_file(
        str(Path(package.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json")
    )
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@given(text=st.lists(st.text(max_size=12) | st.sampled_from(FRAGMENTS), max_size=12).map("".join))
@example(text="I moved to Lisbon in May, didn't I?")
@example(text=" " * 200 + "a" * 200 + "=" * 200 + "日本語" * 200)
@example(text="before<s>after</s> end<unk>")
def test_the_pieces_are_those_of_the_published_tokenizer(reference: Tokenizer, text: str) -> None:
    expected = reference.encode(text, add_special_tokens=False).ids
    pieces = read_table().pieces
    assert pieces.ids(text) == expected
    assert pieces.ids(text) == expected  # from the words that are kept


def test_the_words_that_are_kept_are_bounded() -> None:
    pieces = WordPieces(read_table().pieces._pieces)
    for number in range(_KEPT_WORDS + 10):
        pieces.ids(f"w{number}")
    pieces.ids("x" * 1_000)
    assert len(pieces._kept) <= _KEPT_WORDS
