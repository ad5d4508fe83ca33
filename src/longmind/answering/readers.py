"""Which reader finds the answers: the small model where it is installed, shared words where it is not."""

from __future__ import annotations

import asyncio
import logging

from longmind.answering.sentences import SentenceReader
from longmind.models import small_models
from longmind.models.span_reader import SmallSpanReader, SpanReader

log = logging.getLogger(__name__)


async def open_reader() -> SpanReader:
    """Return the span reader of ``longmind-models``; without it or ONNX Runtime, the reader by shared words."""
    if absent := small_models.missing():
        log.info("Answers are found by shared words: %s is not installed.", ", ".join(absent))
        return SentenceReader()
    return SmallSpanReader(await asyncio.to_thread(small_models.load, "answers"))
