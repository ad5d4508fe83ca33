"""What a turn does to something that is known: the protocol of the reader of changes, and what it is given to read."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from longmind.errors import ModelError, ModelMissing
from longmind.models.statements import Span

_log = logging.getLogger(__name__)
SPEAKER = "I"
"""The subject of a fact about whoever speaks."""


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact, a turn that may end it, and the turn before that one."""

    subject: str
    """``SPEAKER``, or the name of who or what the fact is about."""
    predicate: str
    object: str
    text: str
    place: int = 0
    """Where in the text the fact, or what may take its place, is named: a long text is read around it."""
    previous: str | None = None

    @property
    def words(self) -> str:
        """The fact as it is read."""
        return f"{self.subject}: {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True)
class Change:
    """What a turn does to a fact."""

    gone: float
    """How likely the fact has stopped to hold, from 0 to 1."""
    new: Span | None = None
    """The characters of the text that name what has taken its place."""
    certain: bool = False
    """Whether it is likely enough that the fact has stopped to hold."""


class ChangeReader(Protocol):
    """Reads what turns do to facts."""

    @property
    def name(self) -> str: ...

    def read(self, facts: Sequence[KnownFact]) -> list[Change]:
        """Return what each turn does to its fact; what is read of one depends on no other."""
        ...


def open_change_reader() -> ChangeReader | None:
    """Return the trained reader of changes, or None if it is not installed or its weights cannot be used."""
    from longmind.models.change_reader import shared_reader

    try:
        return shared_reader()
    except ModelMissing:
        return None
    except ModelError as error:
        _log.warning("The reader of changes is not used: %s", error)
        return None
