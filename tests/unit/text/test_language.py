"""English is told from other languages; too short a text says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from longmind.text.language import english_bits, is_english

OTHERS = Path(__file__).parents[3] / "training" / "claims" / "other_languages.txt"


def test_nearly_every_text_in_another_language_is_recognised() -> None:
    lines = [line for line in OTHERS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert len(lines) > 50
    assert sum(is_english(line) for line in lines) <= 0.06 * len(lines)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Porto last month and still cannot find the post office.",
        "lol no way, she said shes coming on sunday but idk",
        "The deadline for the brochure is 10 October, please remind me.",
        "Never call me before nine.",
        "Met Katarzyna and Wojciech at the market in Wroclaw, they say hello to you.",
    ],
)
def test_english_is_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize("text", ["", "ok", "merci!", "12:30", "https://example.org/eine/lange/adresse/von/etwas"])
def test_too_short_a_text_counts_as_english(text: str) -> None:
    assert english_bits(text) is None
    assert is_english(text)
