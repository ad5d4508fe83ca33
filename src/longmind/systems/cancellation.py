"""Work that a cancellation must not interrupt halfway."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def shield_until_done(work: Coroutine[Any, Any, T]) -> T:
    """Await the work to its end, even if the caller is cancelled meanwhile; the cancellation is raised afterwards.

    An interrupted write may or may not have happened. Waiting for it makes the outcome known.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except Exception:
            break  # the task's own exception; raised below
    if cancelled is not None and not task.cancelled():
        task.exception()  # marks it as retrieved, since the cancellation is raised instead
        raise cancelled
    return task.result()
