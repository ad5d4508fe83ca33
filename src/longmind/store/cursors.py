"""The cursor of a scan: its order and direction, and the sort value and id of the last memory of a page."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

from longmind.errors import InvalidInput
from longmind.types import Order

NEVER = -(2**63)
"""The sort value of a memory that was never read: before every moment."""

_AGAIN = "Begin again without a cursor."


def write_cursor(value: float, id: str, order: Order, descending: bool) -> str:
    """Return the cursor that continues after a memory."""
    return base64.urlsafe_b64encode(json.dumps([order, descending, value, id]).encode()).decode()


def read_cursor(cursor: str, order: Order, descending: bool) -> tuple[Any, str]:
    """Return the sort value and id after which a page begins."""
    try:
        cursor_order, cursor_descending, value, id = json.loads(base64.b64decode(cursor.encode(), b"-_", validate=True))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput("The cursor is not one of this store.", hint=_AGAIN) from error
    if (cursor_order, cursor_descending) != (order, descending):
        raise InvalidInput(
            "The cursor belongs to a listing in another order.",
            hint="Go on with the order and direction the listing began with.",
        )
    if not _is_number(value, whole=order != "importance") or not isinstance(id, str):
        raise damaged()
    return value, id


def _is_number(value: object, *, whole: bool) -> bool:
    if isinstance(value, float):
        return not whole and math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and NEVER <= value < -NEVER


def damaged() -> InvalidInput:
    return InvalidInput("The cursor is damaged.", hint=_AGAIN)
