"""Everything search knows of one scope, in arrays, one row a memory.

A view is a cache: it is filled from ``Backend.feed`` and can be thrown away at any time. Rows are only ever appended;
a memory that changes gets a new row and its old one dies. Rows of one session know the row before and after them, so
that a turn can be found by what was said around it without anything extra being stored.

Scores here are raw: Okapi BM25 for terms, the cosine for vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from longmind.kinds import UNCOUNTED, UNSEARCHED
from longmind.store.base import Feed, Head, IndexRow
from longmind.store.search.columns import COLUMNS, NONE, STATE_CODES, Codes
from longmind.store.search.near_norms import NearNorms
from longmind.store.search.okapi import impacts
from longmind.store.search.postings import Postings, PostingSegment
from longmind.store.search.term_cache import TermCache, TermRows
from longmind.store.search.threads import SHORT, Threads
from longmind.store.search.vectors import Vectors, grown
from longmind.types import State

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
T = TypeVar("T")


class _CachedValue(NamedTuple):
    """A value that follows from the rows, and how many rows there were."""

    value: Any
    rows: int
    removals: int


class View:
    """The searchable rows of one scope, as of ``head``.

    What is worked out from the rows is cached. A new row is added to what is cached; a row that is removed or replaced
    makes it be worked out again.
    """

    def __init__(self, dimensions: int, space: str | None = None) -> None:
        self.head = Head(0, 0)
        self.space = space
        """The name of the space of its vectors."""
        self.rows = 0
        self.ids: list[str] = []
        self.kinds, self.users, self.sessions, self._threads = Codes(), Codes(), Codes(), Codes()
        self.postings = Postings()
        self.vectors = Vectors(dimensions)
        self.living = 0
        self.expiring = False
        """Whether any row may expire, so that what passes a filter changes with time alone."""
        self._row_of: dict[str, int] = {}
        self._last_of_thread: dict[int, int] = {}
        self._total_length = 0.0
        self._said, self._said_length = 0, 0.0
        self._alone = self._alone_said = 0
        self._thread_rows: Ints = np.zeros(0, np.int32)
        self._thread_length: Floats = np.zeros(0, np.float32)
        self._thread_said: Flags = np.zeros(0, np.bool_)
        self.removals = 0
        """How many rows were removed or replaced so far."""
        self._terms = TermCache()
        self._values: dict[str, _CachedValue] = {}
        self._columns: dict[str, NDArray[Any]] = {n: np.zeros(0, t) for n, t in COLUMNS.items()}
        self._scratch: Floats = np.zeros(0, np.float32)
        self._threads_now: tuple[Threads, int] | None = None
        """The layout of threads, and the removals when it was made."""
        self._near_norms = NearNorms()

    # -- filling -------------------------------------------------------------------------------------------------

    def take_in(self, feed: Feed) -> None:
        """Apply a chunk of a feed. The caller sets ``head`` after the last chunk."""
        for gone in feed.gone:
            self._bury(gone)
        rows = [row for row in feed.rows if row.kind not in UNSEARCHED]
        if rows:
            for row in rows:
                self._bury(row.id)
            self._append(rows)

    def restore(
        self, head: Head, names: Mapping[str, Sequence[str]], columns: dict[str, NDArray[Any]], terms: PostingSegment
    ) -> None:
        """Take in living rows that were packed (``packed.py``). There must be no others; vectors are apart."""
        n = self.rows = self.living = len(names["ids"])
        self.head = head
        self.ids = list(names["ids"])
        self._row_of = {id: row for row, id in enumerate(self.ids)}
        for name, codes in self.coded.items():
            codes.restore(names[name])
        self._columns = {**columns, "near_norm": np.zeros(len(columns["alive"]), np.float32)}
        self.postings.restore(terms)
        length, said, thread = (self.column(name)[:n] for name in ("length", "said", "thread"))
        self._total_length = float(length.sum(dtype=np.float64))
        self._said, self._said_length = int(np.count_nonzero(said)), float(length[said].sum(dtype=np.float64))
        threaded = thread != NONE
        self._alone = n - int(np.count_nonzero(threaded))
        self._alone_said = int(np.count_nonzero(said & ~threaded))
        of_threads, count = thread[threaded], len(self._threads.names)
        self._thread_rows = np.bincount(of_threads, minlength=count).astype(np.int32)
        self._thread_length = np.bincount(of_threads, length[threaded], minlength=count).astype(np.float32)
        self._thread_said = np.zeros(count, np.bool_)
        self._thread_said[of_threads] = said[threaded]
        last = np.flatnonzero(threaded & (self.column("after")[:n] == NONE))
        self._last_of_thread = dict(zip(thread[last].tolist(), last.tolist(), strict=True))
        self.expiring = bool(np.isfinite(self.column("expires_at")[:n]).any())

    @property
    def coded(self) -> dict[str, Codes]:
        """The names of each kind of code."""
        return {"kinds": self.kinds, "users": self.users, "sessions": self.sessions, "threads": self._threads}

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Every column by name; each may be longer than ``rows``."""
        return self._columns

    @property
    def mostly_dead(self) -> bool:
        """Whether a fresh view would be much smaller."""
        return self.rows > 1_000 and self.rows > 2 * self.living

    @property
    def nbytes(self) -> int:
        """About how much memory the view takes."""
        columns = sum(c.nbytes for c in self._columns.values())
        return columns + self.postings.nbytes + self.vectors.nbytes + self._scratch.nbytes + 240 * self.rows

    def _bury(self, id: str) -> None:
        row = self._row_of.pop(id, None)
        if row is None:
            return
        self.removals += 1
        length, said = float(self.column("length")[row]), bool(self.column("said")[row])
        self.column("alive")[row] = self.column("said")[row] = False
        self._total_length -= length
        self.living -= 1
        if said:
            self._said, self._said_length = self._said - 1, self._said_length - length
        before, after = int(self.column("before")[row]), int(self.column("after")[row])
        if before != NONE:
            self.column("after")[before] = after
            self._near_norms.moved.add(before)
        if after != NONE:
            self.column("before")[after] = before
            self._near_norms.moved.add(after)
        self._near_norms.moved.discard(row)
        thread = int(self.column("thread")[row])
        self._count(thread, -1, -length, said)
        if self._last_of_thread.get(thread) == row:
            if before == NONE:
                del self._last_of_thread[thread]
            else:
                self._last_of_thread[thread] = before

    def _append(self, new: Sequence[IndexRow]) -> None:
        first, end = self.rows, self.rows + len(new)
        for name, column in self._columns.items():
            self._columns[name] = grown(column, end)
        part = slice(first, end)
        threads = [self._thread(r) for r in new]
        lengths = [int.from_bytes(r.terms[1:5], "little") for r in new]
        said = [r.kind not in UNCOUNTED for r in new]
        values: dict[str, Sequence[Any]] = {
            "alive": [True] * len(new),
            "said": said,
            "has_vector": [r.vector is not None for r in new],
            "length": lengths,
            "kind": [self.kinds.of(r.kind) for r in new],
            "state": [STATE_CODES[r.state] for r in new],  # type: ignore[index]
            "user": [self.users.of(r.user) for r in new],
            "session": [self.sessions.of(r.session) for r in new],
            "thread": threads,
            "importance": [r.importance for r in new],
            "trust": [r.trust for r in new],
            "seq": [r.seq for r in new],
            "occurred_at": [r.occurred_at for r in new],
            "recorded_at": [r.recorded_at for r in new],
            "valid_from": [-math.inf if r.valid_from is None else r.valid_from for r in new],
            "valid_to": [math.inf if r.valid_to is None else r.valid_to for r in new],
            "expires_at": [math.inf if r.expires_at is None else r.expires_at for r in new],
            "before": [NONE] * len(new),
            "after": [NONE] * len(new),
            "near_norm": [0.0] * len(new),
        }
        for name, column_values in values.items():
            self._columns[name][part] = column_values
        self.expiring = self.expiring or any(r.expires_at is not None for r in new)
        self.ids.extend(r.id for r in new)
        self._row_of.update((r.id, first + i) for i, r in enumerate(new))
        self.rows, self.living = end, self.living + len(new)
        self._total_length += sum(lengths)
        self._said += sum(said)
        self._said_length += sum(length for length, counts in zip(lengths, said, strict=True) if counts)
        self.postings.add(range(first, end), [r.terms for r in new])
        self._append_vectors(first, new)
        self._thread_rows = grown(self._thread_rows, len(self._threads.names))  # type: ignore[assignment]
        self._thread_length = grown(self._thread_length, len(self._threads.names))  # type: ignore[assignment]
        self._thread_said = grown(self._thread_said, len(self._threads.names))  # type: ignore[assignment]
        for i, thread in enumerate(threads):
            self._count(thread, 1, lengths[i], said[i])
            if thread != NONE:
                self._thread_said[thread] = said[i]
                self._thread_in(first + i, thread)

    def _append_vectors(self, first: int, new: Sequence[IndexRow]) -> None:
        size = self.vectors.dimensions
        if size == 0:
            return
        block = np.zeros((len(new), size), np.float16)
        with_vector = [i for i, r in enumerate(new) if r.vector is not None]
        if with_vector:
            packed = b"".join([new[i].vector or b"" for i in with_vector])
            block[with_vector] = np.frombuffer(packed, "<f2").reshape(len(with_vector), size)
        self.vectors.add(first, block)

    def _thread(self, row: IndexRow) -> int:
        """Return the code of a row's thread: the turns of a session, the passages of a document."""
        return NONE if row.session is None else self._threads.of(f"{row.kind}\x00{row.user}\x00{row.session}")

    def _thread_in(self, row: int, thread: int) -> None:
        before, after = self.column("before"), self.column("after")
        last = self._last_of_thread.get(thread)
        behind = NONE
        while last is not None and self._place(row) < self._place(last):
            behind, last = last, (int(before[last]) if before[last] != NONE else None)
        before[row], after[row] = (NONE if last is None else last), behind
        self._near_norms.moved.update(
            beside for beside in (last, behind) if beside is not None and 0 <= beside < self._near_norms.settled
        )
        if last is not None:
            after[last] = row
        if behind != NONE:
            before[behind] = row
        else:
            self._last_of_thread[thread] = row

    def _count(self, thread: int, rows: int, length: float, said: bool) -> None:
        if thread == NONE:
            self._alone += rows
            self._alone_said += rows if said else 0
        else:
            self._thread_rows[thread] += rows
            self._thread_length[thread] += length

    def _place(self, row: int) -> tuple[float, int]:
        return float(self.column("occurred_at")[row]), int(self.column("seq")[row])

    # -- reading -------------------------------------------------------------------------------------------------

    def column(self, name: str) -> NDArray[Any]:
        """A column, which may be longer than ``rows``."""
        return self._columns[name]

    @staticmethod
    def state_code(state: str) -> int:
        """Return the code of a state in the column."""
        return STATE_CODES[state]  # type: ignore[index]

    def has_state(self, state: State) -> bool:
        """Return whether a living memory is in a state."""
        n = self.rows
        return bool(((self.column("state")[:n] == STATE_CODES[state]) & (self.column("alive")[:n] != 0)).any())

    def row_of(self, id: str) -> int | None:
        return self._row_of.get(id)

    def rows_of(self, ids: Iterable[str]) -> Ints:
        """Return the rows of those ids that are in the view."""
        found = [self._row_of[i] for i in ids if i in self._row_of]
        return np.array(found, np.int32)

    def term_rows(self, term: int) -> TermRows:
        """Return the live rows of a term. They are cached, since the same words recur."""
        return self._terms.rows_of(self, term)

    def bm25(self, terms: Iterable[tuple[int, float]]) -> tuple[Ints, Floats]:
        """Return the live rows that contain any of these weighted terms, and their scores."""
        scores = self.blank()
        touched: list[Ints] = []
        mean, lengths = self.mean_length, self.column("length")
        for term, weight in terms:
            rows, tf, _, idf = self.term_rows(term)
            if len(rows):
                scores[rows] += impacts(weight * idf, tf, lengths[rows], mean)
                touched.append(rows)
        if not touched:
            return np.empty(0, np.int32), np.empty(0, np.float32)
        if sum(map(len, touched)) > self.rows // 8:
            every = np.flatnonzero(scores[: self.rows]).astype(np.int32)
        else:
            every = np.unique(np.concatenate(touched))
        found = scores[every]
        scores[every] = 0
        return every, found

    @property
    def threads(self) -> Threads:
        """The rows with their surroundings. New rows are inserted; it is laid out again after a removal."""
        known = self._threads_now
        threads = known[0] if known is not None and known[1] == self.removals else None
        if threads is not None and len(threads.place) < self.rows:
            threads = threads.with_new_rows(self)
        if threads is None:
            threads = Threads.of(self)
        if known is None or known[0] is not threads:
            self._threads_now = threads, self.removals
        return threads

    @property
    def units(self) -> int:
        """The number of threads of kinds that count, with each row without a thread as one."""
        if not self._said:
            return int(np.count_nonzero(self._thread_rows)) + self._alone
        return int(np.count_nonzero((self._thread_rows > 0) & self._thread_said)) + self._alone_said

    @property
    def thread_codes(self) -> int:
        """The number of codes in the column ``thread``."""
        return len(self._threads.names)

    def unit_lengths_of(self, rows: Ints) -> Floats:
        """Return the length of the thread of each of these rows; of a row without a thread, its own length."""
        thread = self.column("thread")[rows]
        own: Floats = self.column("length")[rows].copy()
        threaded = thread != NONE
        own[threaded] = self._thread_length[thread[threaded]]
        return own

    def context_weights_of(self, rows: Ints) -> Floats:
        """Return ``Threads.context_weight`` of these rows without building ``Threads``."""
        thread = self.column("thread")[rows]
        mean = self.unit_lengths_of(rows)
        threaded = thread != NONE
        mean[threaded] /= np.maximum(self._thread_rows[thread[threaded]], 1)
        return (SHORT / (SHORT + mean)).astype(np.float32)

    def near_norms(self, rows: Ints | None = None) -> Floats:
        """Return the norm of each row's vector summed with its neighbours', for these rows or for all."""
        return self._near_norms.of(self, rows)

    @property
    def said(self) -> int:
        """The number of live rows of kinds that count; all live rows if there is none."""
        return self._said or self.living

    def said_rows(self) -> Flags:
        """Return which rows those are."""
        flags: Flags = self.column("said" if self._said else "alive")[: self.rows]
        return flags

    def idf(self, holders: int) -> float:
        """Return the inverse document frequency of a term that so many counted rows contain."""
        return math.log(1 + (self.said - holders + 0.5) / (holders + 0.5))

    @property
    def mean_length(self) -> float:
        """The mean length of the rows that count."""
        if self._said:
            return self._said_length / self._said or 1.0
        return self._total_length / max(self.living, 1) or 1.0

    def kept(self, name: str, make: Callable[[int], T], join: Callable[[T, T], T]) -> T:
        """Return a value that follows from the rows one by one, such as an array with an element for each.

        ``make(first)`` computes it for the rows from ``first`` on. It is computed for all rows once; later only for
        those that are new, and joined to what is there. After a row was removed it is computed again.
        """
        known = self._values.get(name)
        if known is None or known.removals != self.removals:
            value = make(0)
        elif known.rows == self.rows:
            value = known.value
        else:
            value = join(known.value, make(known.rows))
        if known is None or known.value is not value:
            self._values[name] = _CachedValue(value, self.rows, self.removals)
        return value

    def blank(self) -> Floats:
        """Return a shared zeroed array with an element for every row and one more. The user must zero it again."""
        if len(self._scratch) <= self.rows:
            self._scratch = np.zeros(self.rows + max(64, self.rows // 4), np.float32)
        return self._scratch
