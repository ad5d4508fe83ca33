"""Whether DBOS Transact, which comes with an extra, is installed. Imported before anything that needs it.

It is silent here: what it has to say goes to the log ``longmind.worker.engine``, and only from a warning on.
"""

from __future__ import annotations

import logging

from longmind.errors import InvalidSetting

try:
    import dbos
    import sqlalchemy
    from dbos import DBOS, DBOSClient
    from dbos import error as faults
except ImportError as error:
    raise InvalidSetting(
        f"Durable jobs need DBOS Transact, which cannot be imported ({error}).",
        hint='Install it with: pip install "longmind[worker]"',
    ) from error

DBOSException = faults.DBOSException
__all__ = ["DBOS", "DBOSClient", "DBOSException", "dbos", "faults", "quiet", "sqlalchemy"]


class _Forward(logging.Handler):
    """Hands what DBOS logs to the log of Longmind, so that an application sets up one and not two.

    What its ``_core`` says is left out: that a job failed or is tried again, with a traceback each time. The worker
    tells that itself, and the job keeps it.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._log = logging.getLogger(__name__)

    def emit(self, record: logging.LogRecord) -> None:
        if record.module != "_core":
            self._log.log(record.levelno, "%s", record.getMessage(), exc_info=record.exc_info)


def quiet() -> None:
    """Send the log of DBOS to ours; without a handler of its own it would write to the terminal."""
    log = logging.getLogger("dbos")
    if not any(isinstance(handler, _Forward) for handler in log.handlers):
        log.addHandler(_Forward())
    log.propagate = False
