"""``taat signals``, run as people run it."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
POSTS = [
    {"id": "1", "author": "ann", "text": "Bought 200 shares of $NVDA at 181.40", "created_at": "2026-03-02T15:10:00Z"},
    {"id": "2", "author": "ann", "text": "What a beautiful morning.", "created_at": "2026-03-02T15:20:00Z"},
    {"id": "3", "author": "ann", "text": "took half off here at 186 🚀", "created_at": "2026-03-02T17:30:00Z"},
]
FIELDS = {"symbol", "action", "side", "price", "quantity", "stop", "targets", "confidence", "span"}


def taat(*words: str, feed: str | None = None, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "taat", *words]
    path = {"PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8", **(env or {})}
    return subprocess.run(command, input=feed, capture_output=True, text=True, encoding="utf-8", env=path, timeout=120)


def lines(posts: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(post) + "\n" for post in posts)


@pytest.fixture
def feed(tmp_path: Path) -> str:
    file = tmp_path / "posts.jsonl"
    file.write_text(lines(POSTS), encoding="utf-8")
    return f"file:{file}"


def test_one_line_of_json_for_each_post(feed: str) -> None:
    done = taat("signals", "--feed", feed, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    first, chatter, half = map(json.loads, done.stdout.splitlines())
    assert [first["id"], chatter["id"], half["id"]] == ["1", "2", "3"]
    assert chatter == {"id": "2", "signals": []}
    (opened,), (reduced,) = first["signals"], half["signals"]
    assert set(opened) >= FIELDS
    assert (opened["symbol"], opened["action"], opened["side"], opened["price"]) == ("NVDA", "open", "long", 181.4)
    assert (opened["quantity"], opened["span"]) == (200, "Bought 200 shares of $NVDA at 181.40")
    assert (reduced["symbol"], reduced["action"], reduced["quantity"]) == ("NVDA", "reduce", 0.5)


def test_the_standard_input_and_an_output_that_is_not_utf_8(feed: str) -> None:
    piped = taat("signals", "--feed", "-", "--json", feed=lines(POSTS), env={"PYTHONIOENCODING": "ascii"})
    assert piped.returncode == 0
    assert piped.stdout.isascii()
    from_file = taat("signals", "--feed", feed, "--json").stdout
    assert [json.loads(row) for row in piped.stdout.splitlines()] == [json.loads(row) for row in from_file.splitlines()]


def test_a_table_for_people_of_the_feed_that_comes_with_it() -> None:
    done = taat("signals")
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows, end = done.stdout.splitlines()
    assert head.split()[:2] == ["posted", "(UTC)"]
    assert end == f"{len(rows)} signals in 40 posts."
    assert rows[-2].split()[2:] == "plainspoken_p… close short DKNG 31.2 0.77 Covered the rest at 31.20".split()


def test_control_characters_of_a_post_do_not_reach_the_terminal() -> None:
    post = {**POSTS[0], "author": "a\x1b[2Jb", "text": "Bought \x1b[31m $NVDA at 181.40"}
    done = taat("signals", "--feed", "-", feed=lines([post]))
    assert "\x1b" not in done.stdout


def test_a_wrong_line_is_told_with_its_number_after_the_whole_lines_before_it() -> None:
    done = taat("signals", "--feed", "-", "--json", feed=lines(POSTS[:2]) + "{oops\n" + lines(POSTS[2:]))
    assert done.returncode == 2
    assert [json.loads(row)["id"] for row in done.stdout.splitlines()] == ["1", "2"]
    problem = json.loads(done.stderr)
    assert (problem["error"], problem["details"]) == ("invalid_input", {"line": 3})
    told = taat("signals", "--feed", "-", feed="{oops\n")
    assert told.returncode == 2
    assert told.stderr.startswith("error: Line 1 of the standard input is not JSON")
    assert "  try: " in told.stderr


def test_a_file_that_is_not_there_and_a_feed_that_does_not_exist(tmp_path: Path) -> None:
    absent = taat("signals", "--feed", f"file:{tmp_path}/absent.jsonl")
    assert absent.returncode == 3
    assert absent.stderr.startswith("error: There is no file")
    assert taat("signals", "--feed", "x:somebody").returncode == 2


def test_a_post_that_comes_again_is_not_counted_twice(feed: str) -> None:
    last = {**POSTS[2], "id": "4", "text": "Sold 100 $NVDA at 190"}
    once = taat("signals", "--feed", "-", "--json", feed=lines([*POSTS, last]))
    again = taat("signals", "--feed", "-", "--json", feed=lines([*POSTS, POSTS[0], POSTS[2], last]))
    rows = [json.loads(row) for row in again.stdout.splitlines()]
    assert [row["id"] for row in rows] == ["1", "2", "3", "1", "3", "4"]
    assert rows[4] == rows[2]
    assert rows[-1] == json.loads(once.stdout.splitlines()[-1])
    assert rows[-1]["signals"][0]["action"] == "close"


def test_a_reader_that_leaves_ends_it_quietly(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text(lines([{**POSTS[0], "id": str(number)} for number in range(3000)]), encoding="utf-8")
    command = [sys.executable, "-m", "taat", "signals", "--feed", f"file:{file}", "--json"]
    env = {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_posts_are_answered_as_they_come() -> None:
    command = [sys.executable, "-m", "taat", "signals", "--feed", "-", "--json"]
    env = {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for post in POSTS:
            process.stdin.write(lines([post]).encode())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == post["id"]
        process.stdin.close()
        assert process.wait() == 0


def test_help_and_no_command() -> None:
    assert "--feed" in taat("signals", "--help", env={"COLUMNS": "200", "NO_COLOR": "1"}).stdout
    assert "signals" in taat("--help").stdout


def test_the_package_and_the_command_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"]["taat"] == "taat.cli:main"
    assert "src/taat" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def test_every_inside_of_longmind_is_forbidden_to_taat() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (forbidden,) = [c["forbidden_modules"] for c in contracts if c.get("source_modules") == ["taat"]]
    inside = {
        file.stem
        for file in (ROOT / "src/longmind").iterdir()
        if file.suffix == ".py" or (file / "__init__.py").exists()
    }
    listed = {name.removeprefix("longmind.") for name in forbidden}
    assert listed == inside - {"__init__", "agent", "sync"} | {"agent.*", "sync.*"}
