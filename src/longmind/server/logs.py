"""Log lines as JSON, one object each, without text of memories."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TextIO

_LOGGERS = ("longmind", "uvicorn.error")


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object.

    Of an exception it tells the class and where it was raised: its message may hold what somebody stored.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "access", {})
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            line["exception"] = record.exc_info[0].__name__
            line["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, ensure_ascii=False, default=str)


@contextmanager
def logging_as_json(stream: TextIO, level: int = logging.INFO) -> Iterator[None]:
    """Write the log of the library and of the HTTP server as JSON lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    before = []
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        before.append((logger, logger.handlers, logger.level, logger.propagate))
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, handlers, old_level, propagate in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(old_level)
