"""Test the adapters, each in an environment of its own, and print what passed.

    python -m tools.adapters [NAME ...]          build what is missing, test, print, write docs/reference/adapters.md
    python -m tools.adapters --lock [NAME ...]   resolve the versions of the environments anew

An adapter NAME is an extra of that name in pyproject.toml, ``adapters/NAME.txt`` (every version that its environment
has, made by ``--lock``; ``adapters/NAME.in`` may name further packages for its tests), ``tests/adapters/NAME`` and the
page ``docs/howto/adapters/NAME.md``. Environments are kept in ``.adapters`` until their pins change.
``importers`` is no adapter: its environment has packages whose exports are imported, and it has no extra.

A test that runs a suite of somebody else's sets the property ``suite`` and, for its cases, the properties ``passed``,
``failed`` and ``not_applicable``. A skipped test is not applicable. The fixture ``measure_cost`` sets ``cost``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tools.markdown import table

ROOT = Path(__file__).parents[1]
PINS = ROOT / "adapters"
RESULTS = PINS / "results"
ENVIRONMENTS = ROOT / ".adapters"
PAGE = ROOT / "docs/reference/adapters.md"
OWN = "tests of ours"
COUNTS = ("passed", "failed", "not applicable")
Result = dict[str, Any]
"""Of one adapter: its name, the tested versions, the counts of each suite, and what calls cost."""


def adapters() -> list[str]:
    """Return the names of all adapters, sorted."""
    return sorted(path.stem for path in PINS.glob("*.txt"))


def extras() -> dict[str, list[str]]:
    """Return the extras of the project with their requirements."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return dict(project["optional-dependencies"])


def packages_of(name: str) -> list[str]:
    """Return the packages that the extra of an adapter asks for, or its own file where there is no extra."""
    known = extras()
    requirements = known[name] if name in known else (PINS / f"{name}.in").read_text("utf-8").split()
    return [re.split(r"[\s<>=!~\[;]", requirement, maxsplit=1)[0] for requirement in requirements]


def page_of(name: str) -> Path:
    """Return the page of an adapter."""
    return ROOT / "docs/howto" / ("import.md" if name == "importers" else f"adapters/{name}.md")


def pinned_versions(name: str) -> dict[str, str]:
    """Return the versions of the framework's packages in an adapter's environment."""
    pins = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (PINS / f"{name}.txt").read_text("utf-8"), re.MULTILINE))
    return {package: pins[package] for package in packages_of(name)}


def lock(name: str) -> None:
    """Resolve the newest versions for an adapter's environment."""
    words = ["pip", "compile", "--quiet", "--upgrade", "--python-version", "3.11", "--no-header", "--no-annotate"]
    words += ["--no-emit-index-url", "--extra", "http", "pyproject.toml", "adapters/tests/tests.in"]
    words += ["--extra", name] if name in extras() else []
    own = PINS / f"{name}.in"
    words += [str(own.relative_to(ROOT))] if own.exists() else []
    _uv(*words, "--output-file", f"adapters/{name}.txt")


def environment(name: str) -> Path:
    """Return the Python of an adapter's environment, built first if it is not there or its pins have changed."""
    folder, pins = ENVIRONMENTS / name, PINS / f"{name}.txt"
    python, stamp = folder / "bin/python", folder / ".installed"
    wanted = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
        _uv("pip", "install", "--quiet", "--no-deps", "--python", str(python), "--requirement", str(pins))
        _uv("pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--python", str(python), "-e", ".")
        stamp.write_text(wanted)
    return python


def _uv(*words: str) -> None:
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        raise SystemExit("uv is not installed: pip install uv")
    subprocess.run([uv, *words], check=True, cwd=ROOT)


def test(name: str) -> Result:
    """Run the tests of an adapter and its page, and return what came of them."""
    python = environment(name)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        words = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-o",
            "filterwarnings=default",
            "-o",
            "junit_family=xunit1",
            "--confcutdir=tests/adapters",
        ]
        page = f"tests/adapters/test_pages.py::test_the_page_of_an_adapter_runs[{name}]"
        command = [str(python), "-m", "pytest", *words, f"--junitxml={report}", f"tests/adapters/{name}", page]
        variables = {**os.environ, "LONGMIND_ADAPTER": name, "LONGMIND_SERVER_PYTHON": sys.executable}
        variables.pop("PYTHONPATH", None)
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False)
        if not report.exists():
            raise SystemExit(f"The tests of {name} did not run: pytest exited with {done.returncode}.")
        cases = list(ElementTree.parse(report).iter("testcase"))
    return {
        "adapter": name,
        "versions": pinned_versions(name),
        "suites": count_suites(cases),
        "costs": [json.loads(value) for case in cases for value in _properties(case, "cost")],
    }


def count_suites(cases: Sequence[ElementTree.Element]) -> dict[str, dict[str, int]]:
    """Count what passed, failed and is not applicable, by suite."""
    suites: dict[str, dict[str, int]] = {}
    for case in cases:
        suite = next(_properties(case, "suite"), OWN)
        counts = suites.setdefault(suite, dict.fromkeys(COUNTS, 0))
        stated = {state: sum(map(int, _properties(case, state.replace(" ", "_")))) for state in COUNTS}
        if any(stated.values()):
            for state, number in stated.items():
                counts[state] += number
        else:
            tags = {child.tag for child in case}
            state = "failed" if tags & {"failure", "error"} else "not applicable" if "skipped" in tags else "passed"
            counts[state] += 1
    return suites


def _properties(case: ElementTree.Element, name: str) -> Iterator[str]:
    return (found.get("value", "") for found in case.iter("property") if found.get("name") == name)


def suite_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return the rows of the table of suites."""
    return [
        (
            result["adapter"] if number == 0 else "",
            ", ".join(f"{package} {version}" for package, version in result["versions"].items()) if number == 0 else "",
            suite,
            *(str(counts[state]) for state in COUNTS),
        )
        for result in results
        for number, (suite, counts) in enumerate(result["suites"].items())
    ]


def cost_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return the rows of the table of costs."""
    return [
        (
            result["adapter"],
            cost["call"],
            *(f"{ms:.2f}" for ms in (cost["direct_ms"], cost["adapter_ms"], _added(cost))),
        )
        for result in results
        for cost in result["costs"]
    ]


def _added(cost: Mapping[str, float]) -> float:
    return max(0.0, cost["adapter_ms"] - cost["direct_ms"])


def stored_results() -> list[Result]:
    """Return the last result of each adapter."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("*.json"))]


def page(results: Sequence[Result]) -> str:
    """Return the page of the reference."""
    return "\n".join(
        [
            "<!-- Written by `python -m tools.adapters`. Do not edit. -->\n",
            "# Adapters\n",
            "Each adapter is tested against the real package, the newest at the time, in an environment of its own:",
            "`make test-adapters`. What is not applicable is skipped with a reason. `importers` is not the newest:",
            "it has the last letta with the classes of agent files, and the graphiti-core that can stand beside it.\n",
            table(suite_rows(results), "adapter", "tested with", "suite", *COUNTS),
            "\n## What an adapter adds to a call\n",
            "CPU time of one call in milliseconds, on a store in a file: through the public face alone, through the",
            "adapter, and the difference. Figures of one machine; read them beside each other.\n",
            table(cost_rows(results), "adapter", "call", "alone", "through it", "added"),
            "",
        ]
    )


def main(names: Sequence[str], *, relock: bool) -> int:
    unknown = sorted(set(names) - set(adapters())) if not relock else []
    if unknown:
        raise SystemExit(f"No adapter is called {', '.join(unknown)}. There are: {', '.join(adapters())}.")
    chosen = list(names) or adapters()
    if relock:
        for name in chosen:
            lock(name)
        return 0
    for name in chosen:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(test(name), indent=1) + "\n", "utf-8")
    results = [result for result in stored_results() if result["adapter"] in adapters()]
    PAGE.write_text(page(results), "utf-8")
    _print(("adapter", "tested with", "suite", *COUNTS), suite_rows(results))
    _print(("adapter", "call", "alone", "through it", "added ms"), cost_rows(results))
    return 1 if any(counts["failed"] for result in results for counts in result["suites"].values()) else 0


def _print(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(f"{line.rstrip()}\n")
    sys.stdout.write("\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--lock", action="store_true")
    arguments = parser.parse_args()
    sys.exit(main(arguments.names, relock=arguments.lock))
