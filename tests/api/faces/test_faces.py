"""The library's own tests of its public face, run against the remote face.

A test takes part if it asks for nothing but the fixtures of ``conftest``. Those listed in ``embedded.txt`` look into
the store, name a tenant, pass a function, or wait for a stream, which the client of these tests gives only when it has
ended; or expect the words of a check that here the server makes in its own words. They are left out.
"""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from typing import Any

UNIT = Path(__file__).parents[2] / "unit"
MODULES = (
    "test_memory.py",
    "test_expiry.py",
    *(f"systems/semantic/test_{name}.py" for name in ("concepts", "facts", "graph", "predicates", "rules", "endings")),
    *(f"systems/episodic/{path.name}" for path in sorted((UNIT / "systems/episodic").glob("test_*.py"))),
    *(f"systems/goals/test_{name}.py" for name in ("goals", "plans", "steps", "rendering", "adaptation")),
    *(
        f"systems/{system}/{path.name}"
        for system in ("working", "procedural", "persona", "dialogue", "shared")
        for path in sorted((UNIT / "systems" / system).glob("test_*.py"))
        if path.name != "test_cli.py"
    ),
)
FACES = {"longmind", "semantic", "episodic", "working", "goals", "procedures", "persona", "dialogue", "tenant"}
FIXTURES = FACES | {"year", "clock", "face_clock", "desk", "talk"}
EMBEDDED = set((Path(__file__).parent / "embedded.txt").read_text().split())


TAKING_PART: set[str] = set()


def _load() -> None:
    for path in MODULES:
        name = path.removesuffix(".py").replace("/", "_")
        spec = importlib.util.spec_from_file_location(f"faces_{name}", UNIT / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for test, function in vars(module).items():
            if test.startswith("test_") and inspect.isfunction(function):
                _add(f"test_{name.removeprefix('test_')}__{test.removeprefix('test_')}", function)


def _add(name: str, function: Any) -> None:
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    arguments = {part.strip() for mark in marks for part in _names(mark.args[0])}
    wanted = set(inspect.signature(function).parameters) - arguments
    if not wanted <= FIXTURES or not wanted & FACES:
        return
    TAKING_PART.add(name)
    if name not in EMBEDDED:
        globals()[name] = function


def _names(names: Any) -> list[str]:
    return names.split(",") if isinstance(names, str) else list(names)


_load()


def test_the_list_names_tests_that_there_are() -> None:
    assert len(TAKING_PART) > 150
    assert EMBEDDED <= TAKING_PART
