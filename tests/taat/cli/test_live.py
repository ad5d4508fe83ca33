"""``taat run`` with a feed that does not end: what is posted to it, Ctrl-C, and the next run."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

TIMEOUT = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(port: int, store: Path) -> "subprocess.Popen[str]":
    program = [sys.executable, "-m", "taat", "run", "--feed", f"webhook:{port}", "--store", str(store), "--json"]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ})


def send(port: int, id: str, text: str) -> None:
    """Send a post until the feed listens."""
    post = {"id": id, "author": "ann", "text": text, "created_at": datetime.now(UTC).isoformat()}
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        try:
            connection.request("POST", "/", json.dumps(post), {"Content-Type": "application/json"})
            assert connection.getresponse().status < 300
            return
        except ConnectionRefusedError:
            continue
        finally:
            connection.close()


def interrupted(process: "subprocess.Popen[str]") -> tuple[int, list[dict[str, object]], str]:
    process.send_signal(signal.SIGINT)
    out, problems = process.communicate(timeout=TIMEOUT)
    return process.returncode, [json.loads(line) for line in out.splitlines()], problems


def first_line(process: "subprocess.Popen[str]") -> dict[str, object]:
    assert process.stdout is not None
    line: dict[str, object] = json.loads(process.stdout.readline())
    return line


def test_ctrl_c_ends_a_live_run_and_the_next_one_goes_on(tmp_path: Path) -> None:
    store, port = tmp_path / "store", free_port()
    first = started(port, store)
    try:
        send(port, "1", "Bought $BTC at 60000")
        decided = first_line(first)
        assert (decided["kind"], decided["accepted"]) == ("decision", True)
        code, lines, problems = interrupted(first)
    finally:
        first.kill()
    assert code == 130, problems
    (summary,) = [line for line in lines if line["kind"] == "summary"]
    assert (summary["posts"], summary["executions"]) == (1, 1)
    assert any(store.glob("**/*webhook*")), "the spool is in the folder of the store"

    second = started(port, store)
    try:
        send(port, "1", "Bought $BTC at 60000")
        send(port, "2", "Sold all my $BTC at 61000")
        decided = first_line(second)
        assert decided["kind"] == "decision"
        assert decided["signal"]["action"] == "close"  # type: ignore[index]
        code, lines, problems = interrupted(second)
    finally:
        second.kill()
    assert code == 130, problems
    (summary,) = [line for line in lines if line["kind"] == "summary"]
    assert (summary["signals"], summary["accepted"], summary["errors"]) == (1, 1, 0)
