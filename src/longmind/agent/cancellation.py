"""Work that a cancellation must not cut in two."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def shield_until_done(work: Coroutine[Any, Any, T]) -> T:
    """Do this to its end, also when the caller is cancelled meanwhile; the cancellation then counts afterwards.

    A write that was cut off may or may not have happened. So a write is waited for, and what is true is known.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except Exception:
            break  # the task's own; it is raised below
    if cancelled is not None and not task.cancelled():
        task.exception()  # looked at, so that nobody complains; the cancellation goes first
        raise cancelled
    return task.result()
