"""Several processes may create one store at the same time; threads with connections of their own stand for them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from longmind.store.sqlite.connect import Target, prepare

OPENERS, FILES = 6, 40


def test_a_new_file_that_many_create_is_nobody_elses(tmp_path: Path) -> None:
    barrier = Barrier(OPENERS)

    def opener(path: str) -> Callable[[], None]:
        def work() -> None:
            barrier.wait(30)
            prepare(Target(path))

        return work

    with ThreadPoolExecutor(OPENERS) as pool:
        for number in range(FILES):
            opening = [pool.submit(opener(str(tmp_path / f"{number}.db"))) for _ in range(OPENERS)]
            for each in opening:
                each.result()
