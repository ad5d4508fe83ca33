"""Run npm ``@modelcontextprotocol/conformance`` against ``longmind serve`` and print what passed.

    python -m tools.mcp_conformance [FOLDER]

FOLDER is where npm installed the packages (``make mcp-packages``; by default ``.npm``). Many scenarios of the suite
call tools, resources and prompts of its own sample server, such as ``test_simple_text``; a server for something else
does not have them, so that they are not applicable. Others are about optional parts of the protocol that are not
offered. Both are listed here with the reason; if one of them passes, or another one fails, the exit code is 1.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_STAYS = "needs a connection that stays open; over HTTP each request stands for itself"
_LOGGING = "logging to the client is deprecated in the protocol"
NOT_OFFERED: Mapping[str, str] = {
    "logging-set-level": _LOGGING,
    "tools-call-with-logging": _LOGGING,
    "tools-call-with-progress": "no call reports progress",
    "tools-call-sampling": "no call asks the client's model",
    "tools-call-elicitation": "no call asks the user",
    "elicitation-sep1034-defaults": "no call asks the user",
    "elicitation-sep1330-enums": "no call asks the user",
    "resources-subscribe": f"{_STAYS}; offered on stdio",
    "resources-unsubscribe": f"{_STAYS}; offered on stdio",
    "server-sse-polling": _STAYS,
    "server-sse-multiple-streams": _STAYS,
}
"""Scenarios about optional parts of the protocol that the server does not offer, and why."""
SAMPLE_SERVER: Mapping[str, str] = {
    "completion-complete": "test_prompt_with_arguments",
    "tools-call-simple-text": "test_simple_text",
    "tools-call-image": "test_image_content",
    "tools-call-audio": "test_audio_content",
    "tools-call-embedded-resource": "test_embedded_resource",
    "tools-call-mixed-content": "test_multiple_content_types",
    "tools-call-error": "test_error_handling",
    "json-schema-2020-12": "json_schema_2020_12_tool",
    "resources-read-text": "test://static-text",
    "resources-read-binary": "test://static-binary",
    "resources-templates-read": "test://template/{id}/data",
    "prompts-get-simple": "test_simple_prompt",
    "prompts-get-with-args": "test_prompt_with_arguments",
    "prompts-get-embedded-resource": "test_prompt_with_embedded_resource",
    "prompts-get-with-image": "test_prompt_with_image",
}
"""Scenarios that ask for a tool, resource or prompt of the suite's sample server, and its name."""
_STAMP = len("-2026-11-16T04-57-58-527Z")


@contextmanager
def serving() -> Iterator[str]:
    """Run ``longmind serve`` on a store in memory, and yield its address."""
    words = ["serve", "--json", "--url", "memory:", "--port", "0", "--no-consolidation"]
    server = subprocess.Popen([sys.executable, "-m", "longmind.cli", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        text = ""
        while True:  # the answer is one JSON document, on one line or several
            line = server.stdout.readline()
            if not line:
                raise SystemExit("The server did not start.")
            text += line
            try:
                yield json.loads(text)["address"]
            except json.JSONDecodeError:
                continue
            break
    finally:
        server.terminate()
        server.wait()


def run(folder: Path, address: str) -> dict[str, list[str]]:
    """Run all scenarios, and return the states of the checks of each."""
    modules = folder / "node_modules"
    own = modules / "node/bin/node"
    suite = modules / "@modelcontextprotocol/conformance/dist/index.js"
    if not suite.exists():
        raise SystemExit(f"The suite is not in {folder}: make mcp-packages")
    with tempfile.TemporaryDirectory() as results:
        words = [str(own) if own.exists() else "node", str(suite), "server", "--url", f"{address}/mcp"]
        subprocess.run([*words, "--suite", "all", "-o", results], check=False, capture_output=True)
        return {
            path.parent.name[len("server-") : -_STAMP]: [check["status"] for check in json.loads(path.read_text())]
            for path in sorted(Path(results).glob("server-*/checks.json"))
        }


def judge(states: Sequence[str]) -> str:
    """Return whether a scenario passed, from the states of its checks."""
    if "FAILURE" in states:
        return "failed"
    return "passed" if "SUCCESS" in states else "skipped"


def main(folder: Path) -> int:
    with serving() as address:
        outcomes = {scenario: judge(states) for scenario, states in run(folder, address).items()}
    if not outcomes:
        raise SystemExit("The suite ran no scenario.")
    states: dict[str, list[str]] = {"passed": [], "failed": [], "not offered": [], "not applicable": []}
    for scenario, outcome in outcomes.items():
        reason = NOT_OFFERED.get(scenario) or SAMPLE_SERVER.get(scenario) or ""
        if outcome == "passed" or not reason:
            state = "passed" if outcome == "passed" and not reason else "failed"
            reason = reason and "it passes now: take it out of the list"
        else:
            state = "not offered" if scenario in NOT_OFFERED else "not applicable"
        states[state].append(f"{state:15} {scenario:32} {reason}".rstrip())
    for lines in states.values():
        sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.write(", ".join(f"{len(lines)} {state}" for state, lines in states.items()) + "\n")
    return 1 if states["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".npm")))
