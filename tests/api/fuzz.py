"""Schemathesis over the OpenAPI document in pieces, a tag at a time; what is in the report is not done again.

    python -m tests.api.fuzz --examples 300 --backend sqlite --report .fuzz/sqlite.jsonl

Each operation that is through adds a line to the report: how many requests it took, how they ended, and the CPU time
of generation, client and server together. Stop it at any time; called again it goes on with what is left. The seed
makes an operation's examples the same in every run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from longmind.server.rest.openapi import openapi

statuses: Counter[int] = Counter()
"""How the requests to the server of this process ended."""


def left_out() -> list[str]:
    """Return the operations that the report says are through, as method and path."""
    report = os.environ.get("LONGMIND_FUZZ_REPORT")
    return sorted(_passed(Path(report))) if report else []


def lines(report: Path) -> list[dict[str, Any]]:
    """Return what a report holds, the last line of each operation."""
    if not report.exists():
        return []
    by_operation = {line["operation"]: line for line in map(json.loads, report.read_text().splitlines())}
    return list(by_operation.values())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Add a line to the report after each operation."""
    statuses.clear()
    began, passed = time.process_time(), False
    try:
        result = yield
        passed = True
        return result
    finally:
        line = {
            "operation": getattr(item, "operation_label", item.name),
            "passed": passed,
            "examples": int(os.environ["LONGMIND_FUZZ_EXAMPLES"]),
            "seed": int(os.environ["LONGMIND_FUZZ_SEED"]),
            "requests": statuses.total(),
            "statuses": {str(status): count for status, count in sorted(statuses.items())},
            "cpu_seconds": round(time.process_time() - began, 1),
        }
        with Path(os.environ["LONGMIND_FUZZ_REPORT"]).open("a") as file:
            file.write(json.dumps(line) + "\n")


def summary(report: Path, operations: int) -> str:
    """Return what a report comes to."""
    found = lines(report)
    ended: Counter[str] = Counter()
    for line in found:
        ended.update(line["statuses"])
    failed = [line["operation"] for line in found if not line["passed"]]
    cpu = sum(line["cpu_seconds"] for line in found)
    return (
        f"{len(found) - len(failed)} of {operations} operations passed, {len(failed)} failed {failed};"
        f" {ended.total():,} requests {dict(sorted(ended.items()))}, {cpu / 60:.1f} minutes of CPU"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=300)
    parser.add_argument("--backend", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tag", action="append", help="only operations with this tag; may be repeated")
    options = parser.parse_args()
    options.report.parent.mkdir(parents=True, exist_ok=True)
    by_tag: dict[str, set[str]] = {}
    for path, methods in openapi("1")["paths"].items():
        for method, operation in methods.items():
            if not path.endswith("/changes"):  # a stream without an end
                by_tag.setdefault(operation["tags"][0], set()).add(f"{method.upper()} {path}")
    environment = {
        **os.environ,
        "LONGMIND_FUZZ_EXAMPLES": str(options.examples),
        "LONGMIND_FUZZ_BACKEND": options.backend,
        "LONGMIND_FUZZ_REPORT": str(options.report),
        "LONGMIND_FUZZ_SEED": str(options.seed),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.api.fuzz", "--timeout", "0", "tests/api/test_fuzz.py"]
    tags = options.tag or sorted(by_tag)
    for tag in tags:
        if by_tag[tag] - _passed(options.report):
            subprocess.run(command, env={**environment, "LONGMIND_FUZZ_TAG": tag}, check=False)
    sys.stdout.write(f"{summary(options.report, sum(map(len, by_tag.values())))}\n")
    left = {operation for tag in tags for operation in by_tag[tag]} - _passed(options.report)
    raise SystemExit(1 if left else 0)


def _passed(report: Path) -> set[str]:
    return {line["operation"] for line in lines(report) if line["passed"]}


if __name__ == "__main__":
    main()
