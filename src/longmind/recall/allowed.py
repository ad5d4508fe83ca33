"""Which rows of a view a recall may return."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from longmind.kinds import ON_REQUEST
from longmind.recall.filters import NOT_NARROWED
from longmind.store.search.filtering import expired_rows, passing_rows
from longmind.store.search.view import View
from longmind.types import Filter


def allowed_now(view: View, narrowed: Filter, ids: set[str] | None, now: datetime) -> NDArray[np.bool_]:
    """Return which rows pass the filter and have not expired."""
    allowed = allowed_rows(view, narrowed, ids)
    if view.expiring and narrowed.expired is not None:
        allowed = allowed & (expired_rows(view, narrowed.expired_at or now) == narrowed.expired)
    return allowed


def allowed_rows(view: View, narrowed: Filter, ids: set[str] | None) -> NDArray[np.bool_]:
    """Return which rows pass the filter. Bookkeeping passes only if it is asked for."""
    if ids is None and narrowed is NOT_NARROWED:
        return view.kept("what recall may return", lambda first: _passing(view, narrowed, None, first), _joined)
    return _passing(view, narrowed, ids)


def _joined(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.concatenate((first, second))


def _passing(view: View, narrowed: Filter, ids: set[str] | None, first: int = 0) -> NDArray[np.bool_]:
    allowed, part = passing_rows(view, narrowed, ids, first), slice(first, view.rows)
    if narrowed.kinds is None:
        allowed &= (view.column("length")[part] > 0) | view.column("has_vector")[part]
    if narrowed.kinds is None and narrowed.ids is None and narrowed.keys is None:
        for code in view.kinds.known(ON_REQUEST):
            allowed &= view.column("kind")[part] != code
    if narrowed.valid_at is not None:
        # a memory without a validity of its own is valid from when it happened
        plain = np.isinf(view.column("valid_from")[part]) & np.isinf(view.column("valid_to")[part])
        allowed &= ~plain | (view.column("occurred_at")[part] <= narrowed.valid_at.timestamp())
    return allowed
