"""Asking a summariser, and not taking silence for an answer."""

from __future__ import annotations

from longmind.errors import ModelError
from longmind.systems.episodic.models import Summariser


async def summarised(summariser: Summariser, text: str, words: int) -> str:
    """What the summariser makes of a text."""
    told = (await summariser.summarise(text, words=words)).strip()
    if not told:
        raise ModelError(
            "The summariser returned nothing.",
            hint="Leave it out to have the text made by rules, or use another model.",
        )
    return told
