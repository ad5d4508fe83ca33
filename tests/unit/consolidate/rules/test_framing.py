"""What stands around a statement can take it back."""

from __future__ import annotations

import pytest

from longmind.consolidate.rules.framing import framed


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        ('She wrote "I left Arup in May and live in Ghent now".', "Ghent", "reported"),
        ("If they raise the rent again I live in Ghent by June.", "Ghent", "hypothetical"),
        ("But if it rains, we move to Ghent.", "Ghent", "hypothetical"),
        ("My aunt is telling everybody that Rik and I split up.", "Rik", "reported"),
        ("Tom says he moved to Ghent.", "Ghent", "reported"),
        ("They keep saying I work at Arup.", "Arup", "reported"),
        ("My uncle has announced to everybody that I live in Ghent.", "Ghent", "reported"),
        ("According to the register I live in Ghent.", "Ghent", "reported"),
        ("For one second I was going to cancel Morgenblick.", "Morgenblick", "hypothetical"),
        ("We almost bought a house in Ghent.", "Ghent", "hypothetical"),
        ("I'm thinking of leaving Arup.", "Arup", "hypothetical"),
        ("I was going to stay, but I left Arup.", "Arup", None),
        ("I've lived for almost ten years in Ghent.", "Ghent", None),
        ("I have announced that I moved to Ghent.", "Ghent", None),
        ("I told you I moved to Ghent.", "Ghent", None),
        ("I said we moved to Ghent.", "Ghent", None),
        ("Tom says hi. I moved to Ghent.", "Ghent", None),
        ("Tom says hi, and we moved to Ghent.", "Ghent", None),
        ('I am reading "Seeds by Post" at the moment.', "Seeds", None),
        ("She told me to move, so I live in Ghent now.", "Ghent", None),
        ("My aunt said it is over and moved to Ghent.", "Ghent", "reported"),
        ("The boss said it is over and sent me to Ghent.", "Ghent", None),
        ("Her doctor said the wrist is healed.", "wrist", "reported"),
        ("I asked the office to give me until Friday and they refused.", "Friday", "hypothetical"),
        ("I applied for a flat in Ghent. It was turned down.", "Ghent", "hypothetical"),
        ("I asked for a flat in Ghent and they said yes.", "Ghent", None),
        ("They asked me to move, so I live in Ghent now. The landlord refused to pay.", "Ghent", None),
        ("I live in Ghent.", "Ghent", None),
    ],
)
def test_what_takes_a_statement_back(text: str, words: str, status: str | None) -> None:
    assert framed(text, text.index(words)) == status


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        ("Her doctor said the wrist is healed.", "wrist", None),
        ("My cardiologist says I have a murmur.", "murmur", None),
        ("My aunt says I have a murmur.", "murmur", "reported"),
    ],
)
def test_of_health_a_doctors_word_counts(text: str, words: str, status: str | None) -> None:
    assert framed(text, text.index(words), of_health=True) == status
