"""The report of a long fuzz run: what is through is left out when the run goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.api.fuzz import left_out, lines, summary


def line(operation: str, *, passed: bool, requests: int = 3) -> str:
    fields = {"operation": operation, "passed": passed, "examples": 300, "seed": 1, "requests": requests}
    return json.dumps({**fields, "statuses": {"200": requests}, "cpu_seconds": 30.0}) + "\n"


def test_what_passed_is_left_out_and_what_failed_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "report.jsonl"
    monkeypatch.setenv("LONGMIND_FUZZ_REPORT", str(report))
    assert left_out() == []
    report.write_text(line("GET /v1/a", passed=True) + line("GET /v1/b", passed=False))
    assert left_out() == ["GET /v1/a"]
    assert "1 of 5 operations passed, 1 failed ['GET /v1/b']; 6 requests {'200': 6}, 1.0 minutes" in summary(report, 5)
    with report.open("a") as file:
        file.write(line("GET /v1/b", passed=True, requests=7))
    assert left_out() == ["GET /v1/a", "GET /v1/b"]
    assert [each["requests"] for each in lines(report)] == [3, 7]
