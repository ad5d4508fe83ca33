"""Everything search knows of one scope, in arrays, one row a memory.

A view is a cache: it is filled from ``Backend.feed`` and can be thrown away at any time. Rows are only ever appended;
a memory that changes gets a new row and its old one dies. Rows of one session know the row before and after them, so
that a turn can be found by what was said around it without anything extra being stored.

Scores here are raw: Okapi BM25 for terms, the cosine for vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from longmind.kinds import UNCOUNTED
from longmind.store.base import Feed, Head, IndexRow
from longmind.store.search.columns import COLUMNS, NONE, STATE_CODES, Codes, listed
from longmind.store.search.okapi import impacts
from longmind.store.search.postings import Postings
from longmind.store.search.threads import REACH, SHORT, WEIGHTS, Threads
from longmind.store.search.vectors import Vectors, grown
from longmind.types import STATES, Filter, State

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
T = TypeVar("T")

_TINY = np.float32(1e-9)
"""The norm stored for a zero vector, since 0 means that the norm is not known."""
_MAX_CACHED_POSTINGS = 1_000_000
"""The most postings in the cache of term rows. A term in a large part of the view is not cached."""


class TermRows(NamedTuple):
    """The live rows that contain a term, its count in each, and its inverse document frequency."""

    rows: Ints
    counts: Floats
    said: int
    """How many of the rows are of kinds that count (not derived from others)."""
    idf: float


class _CachedTerm(NamedTuple):
    """The live rows of a term as they were worked out, and from what."""

    postings: tuple[Ints, NDArray[np.uint8]]
    removals: int
    rows: Ints
    counts: Floats
    said: int


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
        self._removals = 0
        """How many rows were removed or replaced so far."""
        self._term_cache: dict[int, _CachedTerm] = {}
        self._cached_postings = 0
        self._values: dict[str, _CachedValue] = {}
        self._columns: dict[str, NDArray[Any]] = {n: np.zeros(0, t) for n, t in COLUMNS.items()}
        self._scratch: Floats = np.zeros(0, np.float32)
        self._threads_now: Threads | None = None
        self._moved: set[int] = set()
        """Rows whose neighbours have changed since ``near_norm`` was computed."""
        self._norms_of = (0, 0)
        """For how many rows, and after how many removals, all norms were known."""
        self._settled = 0
        """Rows from this one on are new since then."""

    # -- filling -------------------------------------------------------------------------------------------------

    def take_in(self, feed: Feed) -> None:
        """Apply a chunk of a feed. The caller sets ``head`` after the last chunk."""
        self._threads_now = None
        for gone in feed.gone:
            self._bury(gone)
        if feed.rows:
            for row in feed.rows:
                self._bury(row.id)
            self._append(feed.rows)

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
        self._removals += 1
        length, said = float(self.column("length")[row]), bool(self.column("said")[row])
        self.column("alive")[row] = self.column("said")[row] = False
        self._total_length -= length
        self.living -= 1
        if said:
            self._said, self._said_length = self._said - 1, self._said_length - length
        before, after = int(self.column("before")[row]), int(self.column("after")[row])
        if before != NONE:
            self.column("after")[before] = after
            self._moved.add(before)
        if after != NONE:
            self.column("before")[after] = before
            self._moved.add(after)
        self._moved.discard(row)
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
        self._moved.update(beside for beside in (last, behind) if beside is not None and 0 <= beside < self._settled)
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

    def allowed(self, where: Filter, ids: set[str] | None = None, first: int = 0) -> Flags:
        """Return which rows, from ``first`` on, pass a filter.

        ``ids`` pass the part that a view cannot decide (``needs_database``).
        """
        n = slice(first, self.rows)
        flags: Flags = self.column("alive")[n].astype(np.bool_)
        for name, names in (("kind", where.kinds), ("user", where.users), ("session", where.sessions)):
            if names is not None:
                codes: Codes = {"kind": self.kinds, "user": self.users, "session": self.sessions}[name]
                flags &= listed(self.column(name)[n], codes.known(names), len(codes.names))
        if where.without_kinds is not None:
            flags &= ~listed(self.column("kind")[n], self.kinds.known(where.without_kinds), len(self.kinds.names))
        if where.states is not None:
            flags &= listed(self.column("state")[n], [STATE_CODES[s] for s in where.states], len(STATES))
        for name, since, until in (
            ("occurred_at", where.since, where.until),
            ("recorded_at", where.recorded_since, where.recorded_until),
        ):
            if since is not None:
                flags &= self.column(name)[n] >= since.timestamp()
            if until is not None:
                flags &= self.column(name)[n] < until.timestamp()
        if where.valid_at is not None:
            moment = where.valid_at.timestamp()
            flags &= (self.column("valid_from")[n] <= moment) & (self.column("valid_to")[n] > moment)
        if where.expired is not None and where.expired_at is not None:
            flags &= self.expired(where.expired_at)[n] == where.expired
        if ids is not None:
            passing = np.zeros(self.rows, np.bool_)
            passing[self.rows_of(ids)] = True
            flags &= passing[n]
        return flags

    def expired(self, at: datetime) -> Flags:
        """Return which rows have expired at a moment."""
        flags: Flags = self.column("expires_at")[: self.rows] <= at.timestamp()
        return flags

    def next_expiry(self, after: datetime) -> float | None:
        """Return when the first row expires after a moment, in seconds since 1970; None if none does."""
        times = self.column("expires_at")[: self.rows][self.column("alive")[: self.rows]]
        first = float(times[times > after.timestamp()].min(initial=math.inf))
        return None if math.isinf(first) else first

    def term_rows(self, term: int) -> TermRows:
        """Return the live rows of a term. They are cached, since the same words recur."""
        postings = self.postings.find(term)
        known = self._term_cache.get(term)
        if known is None or known.postings is not postings or known.removals != self._removals:
            known = self._live_rows(term, postings)
        said = len(known.rows) if self._said in (0, self.living) else known.said
        return TermRows(known.rows, known.counts, said, self.idf(said))

    def _live_rows(self, term: int, postings: tuple[Ints, NDArray[np.uint8]]) -> _CachedTerm:
        rows, counts = postings
        if self.living < self.rows:
            kept = self.column("alive")[rows]
            rows, counts = rows[kept], counts[kept]
        said = int(np.count_nonzero(self.column("said")[rows]))
        found = _CachedTerm(postings, self._removals, rows, counts.astype(np.float32), said)
        before = self._term_cache.pop(term, None)
        self._cached_postings -= 0 if before is None else len(before.rows) + 1
        if len(rows) <= _MAX_CACHED_POSTINGS // 20:
            self._cached_postings += len(rows) + 1
            if self._cached_postings > _MAX_CACHED_POSTINGS:
                self._term_cache.clear()
                self._cached_postings = len(rows) + 1
            self._term_cache[term] = found
        return found

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

    def lines(self, rows: Ints, reach: int) -> Ints:
        """Return, for each row, its neighbours in its thread: ``reach`` before, itself, ``reach`` after.

        Where there is none, the number is ``self.rows``: one past the last, where every scratch array holds zero.
        """
        around = np.full((len(rows), 2 * reach + 1), self.rows, np.int32)
        around[:, reach] = rows
        for step, name in ((-1, "before"), (1, "after")):
            at, column = rows, self.column(name)
            for distance in range(1, reach + 1):
                at = np.where(at == NONE, NONE, column[at])
                around[:, reach + step * distance] = np.where(at == NONE, self.rows, at)
        return around

    @property
    def threads(self) -> Threads:
        """The rows with their surroundings, computed again after every change."""
        if self._threads_now is None:
            self._threads_now = Threads.of(self)
        return self._threads_now

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
        """Return the norm of each row's vector summed with its neighbours', for these rows or for all.

        It is kept, and worked out again only where the surroundings have changed: of a view that is scored whole for
        every row at once, of a compressed one for a row when it is first asked for.
        """
        norms = self.column("near_norm")
        if self._moved:
            changed = self.lines(np.fromiter(self._moved, np.int32, len(self._moved)), REACH).ravel()
            norms[changed[changed < self.rows]] = 0
            self._moved.clear()
            self._norms_of = (0, 0)
        unknown = self._unknown_norms() if rows is None else rows[(norms[rows] == 0) & self.column("alive")[rows]]
        self._settled = self.rows
        for start in range(0, len(unknown), 2_000):
            part = unknown[start : start + 2_000]
            norms[part] = np.maximum(np.linalg.norm(self.near_vectors_of(part), axis=1), _TINY)
        return norms[: self.rows] if rows is None else norms[rows]

    def _unknown_norms(self) -> Ints:
        if self._norms_of == (self.rows, self._removals):
            return np.empty(0, np.int32)
        self._norms_of = (self.rows, self._removals)
        unknown = (self.column("near_norm")[: self.rows] == 0) & self.column("alive")[: self.rows]
        return np.flatnonzero(unknown).astype(np.int32)

    def near_vectors_of(self, rows: Ints) -> Floats:
        """Return the vectors of these rows, each summed with its neighbours', not normalised."""
        around = self.lines(rows, REACH)
        total = np.zeros((len(rows), self.vectors.dimensions), np.float32)
        for column, weight in enumerate(WEIGHTS):
            there = np.flatnonzero(around[:, column] < self.rows)
            total[there] += np.float32(weight) * self.vectors.take(around[there, column])
        return total

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
        if known is None or known.removals != self._removals:
            value = make(0)
        elif known.rows == self.rows:
            value = known.value
        else:
            value = join(known.value, make(known.rows))
        if known is None or known.value is not value:
            self._values[name] = _CachedValue(value, self.rows, self._removals)
        return value

    def blank(self) -> Floats:
        """Return a shared zeroed array with an element for every row and one more. The user must zero it again."""
        if len(self._scratch) <= self.rows:
            self._scratch = np.zeros(self.rows + max(64, self.rows // 4), np.float32)
        return self._scratch


def needs_database(where: Filter) -> bool:
    """Return whether a filter asks for what a view does not hold, so that the database must be asked for the ids."""
    return any(
        value is not None
        for value in (
            where.ids,
            where.keys,
            where.tags_any,
            where.tags_all,
            where.roles,
            where.speakers,
            where.metadata,
            where.min_importance,
            where.min_trust,
        )
    )
