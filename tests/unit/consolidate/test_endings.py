"""What is said to have ended closes the facts it ends, from when it was said; nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from longmind import Longmind

START = datetime(2026, 1, 5, tzinfo=UTC)
LATER = START + timedelta(days=60)


async def know(longmind: Longmind, *texts: str) -> dict[tuple[str, str], datetime | None]:
    """Say these texts, 60 days apart, and return every fact about the speaker with when it ended."""
    mem = longmind.agent("a", user="ann")
    for number, text in enumerate(texts):
        await mem.remember(text, session="s", occurred_at=START + number * timedelta(days=60))
    await mem.consolidate()
    facts = (await mem.semantic.facts(current=False)).items
    return {(fact.predicate, str(fact.object)): fact.valid_to for fact in facts}


@pytest.mark.parametrize(
    ("stated", "ended", "fact"),
    [
        ("I'm vegan.", "I'm not vegan anymore.", ("diet", "vegan")),
        ("I am a vegetarian.", "I'm no longer vegetarian.", ("diet", "vegetarian")),
        ("I work at Acme.", "I left Acme.", ("works at", "Acme")),
        ("I work at Acme.", "I quit my job.", ("works at", "Acme")),
        ("I work at Acme.", "I've retired from Acme.", ("works at", "Acme")),
        ("I work at Acme.", "I started a new job at Globex.", ("works at", "Acme")),
        ("I play tennis.", "I stopped playing tennis.", ("plays", "tennis")),
        ("I'm learning Spanish.", "I gave up learning Spanish.", ("is learning", "Spanish")),
        ("I love coffee.", "I have given up coffee.", ("likes", "coffee")),
        ("I own a Volvo.", "We sold the Volvo.", ("has", "a Volvo")),
        ("My girlfriend Anna is here.", "Anna and I broke up.", ("has girlfriend", "Anna")),
        ("My husband Tom is here.", "Tom and I got divorced.", ("has husband", "Tom")),
        ("I signed up for a gym membership.", "I cancelled my gym membership.", ("signed up for", "a gym membership")),
        ("I study physics.", "I dropped out of university.", ("studies", "physics")),
    ],
)
async def test_an_ending_closes_what_it_ends(
    longmind: Longmind, stated: str, ended: str, fact: tuple[str, str]
) -> None:
    assert (await know(longmind, stated, ended))[fact] == LATER


@pytest.mark.parametrize(
    ("stated", "later", "fact"),
    [
        ("I work at Acme.", "I left Acme early today.", ("works at", "Acme")),
        ("I work at Acme.", "I left Acme at three because of the dentist.", ("works at", "Acme")),
        ("I work at Acme.", "Should I quit my job?", ("works at", "Acme")),
        ("I work at Acme.", "If I quit my job, we can travel.", ("works at", "Acme")),
        ("I work at Acme.", "My sister said I quit my job.", ("works at", "Acme")),
        ("I own a Volvo.", "We sold the house.", ("has", "a Volvo")),
        ("I play tennis.", "I stopped playing football.", ("plays", "tennis")),
        ("My girlfriend Anna is here.", "I broke up with Sue.", ("has girlfriend", "Anna")),
    ],
)
async def test_what_ends_nothing_leaves_it_open(
    longmind: Longmind, stated: str, later: str, fact: tuple[str, str]
) -> None:
    assert (await know(longmind, stated, later))[fact] is None
