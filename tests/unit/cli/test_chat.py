"""``longmind chat``: from a pipe, from a terminal, with and without a language model."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.unit.models.chat.conftest import KEY, Server
from typer.testing import CliRunner, Result

from longmind.cli import app as longmind
from longmind.cli.chat import chat

app = typer.Typer()
app.command()(chat)


class Chat:
    """Runs ``longmind chat`` on a store of the test's own."""

    def __init__(self, url: str) -> None:
        env = {"LONGMIND_URL": url, "COLUMNS": "120", "LONGMIND_MODEL": None, "NO_COLOR": "1"}
        self._runner = CliRunner(env=env)

    def __call__(self, *lines: str, words: tuple[str, ...] = ("--session", "s1"), code: int = 0, **env: str) -> Result:
        said = "".join(f"{line}\n" for line in lines)
        result = self._runner.invoke(app, words, input=said, env=env, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    def json(self, *lines: str, code: int = 0, **env: str) -> list[Any]:
        """What each line was answered with."""
        result = self(*lines, words=("--session", "s1", "--json"), code=code, **env)
        assert result.stderr == ""
        return [json.loads(line) for line in result.stdout.splitlines()]

    def run(self, *words: str) -> Any:
        """Another command on the same store."""
        result = self._runner.invoke(longmind, [*words, "--json"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chat:
    for name in [name for name in os.environ if name.startswith("LONGMIND_")]:
        monkeypatch.delenv(name)
    return Chat(str(tmp_path / "memory.db"))


def model(server: Server) -> dict[str, str]:
    return {"LONGMIND_MODEL": f"{server.address}/v1#alpha", "LONGMIND_MODEL_KEY": KEY}


def test_without_a_model_it_answers_from_memory_and_says_so(talk: Chat) -> None:
    told = talk("I moved to Lisbon in May.", "Where did I move to?").stdout
    assert "none: answers are taken from memory" in told
    assert "0 memories of assistant" in told
    assert "I remember nothing about this. No language model is configured" in told
    assert '"I moved to Lisbon in May." (user' in told
    assert told.rstrip().splitlines()[-1] == "To go on: longmind chat --session s1"
    messages = [one["content"] for one in talk.run("list", "--kind", "message", "--session", "s1")["items"]]
    assert {"I moved to Lisbon in May.", "Where did I move to?"} <= set(messages)
    assert len(messages) == 4


def test_an_empty_chat_says_how_to_go_on_and_names_the_user(talk: Chat) -> None:
    told = talk(words=("--user", "ann")).stdout
    assert "with ann" in told
    assert "To go on: longmind chat --session chat-" in told
    assert told.rstrip().endswith("--user ann")
    assert "/help" in talk("", "   ", "/quit", "never said").stdout
    assert talk.run("agents")["agents"] == []


def test_each_answer_is_a_line_of_json(talk: Chat) -> None:
    first, second, why = talk.json("My dog is called Rex.", "What is my dog called?", "/why")
    assert (first["ending"], first["memories"], first["session"]) == ("answered", [], "s1")
    assert "Rex" in second["text"]
    assert second["problems"] == []
    used = next(one for one in second["memories"] if one["content"] == "My dog is called Rex.")
    assert used["score"] > 0
    assert used["why"]
    assert [hit["memory"]["id"] for hit in why["hits"]] == [one["id"] for one in second["memories"]]


def test_a_later_chat_knows_what_an_earlier_one_heard(talk: Chat) -> None:
    talk("My dog is called Rex.", words=("--session", "monday"))
    assert "Rex" in talk("What is my dog called?", words=("--session", "friday")).stdout


def test_why_shows_the_memories_with_score_and_reason(talk: Chat) -> None:
    talk("My dog is called Rex.")
    told = talk("What is my dog called?", "/why").stdout
    (line,) = [line for line in told.splitlines() if "user: My dog is called Rex." in line]
    assert 0 < float(line.split()[0]) <= 1
    assert "/why" in talk("What is my dog called?").stdout
    early = talk("/why", code=1)
    assert "Nothing was answered yet" in early.stderr


def test_memory_is_searched_and_counted(talk: Chat) -> None:
    assert "0 memories" in talk("/memory").stdout
    talk("My dog is called Rex.")
    assert "My dog is called Rex." in talk("/memory dog").stdout
    (counted,) = talk.json("/memory")
    assert counted["stats"]["by_kind"]["message"] == 2
    (found,) = talk.json("/memory dog")
    assert "My dog is called Rex." in [hit["memory"]["content"] for hit in found["hits"]]


def test_what_is_forgotten_from_a_pipe_needs_an_exclamation_mark(talk: Chat) -> None:
    talk("My dog is called Rex.")
    found = talk.run("list", "--kind", "message")["items"]
    id = next(one["id"] for one in found if one["content"] == "My dog is called Rex.")
    refused = talk(f"/forget {id[-8:]}", code=1)
    assert "exclamation mark" in refused.stderr
    assert len(talk.run("list", "--kind", "message")["items"]) == 2
    told = talk(f"/forget {id[-8:]}!").stdout
    assert "Forgot 1 memory." in told
    operation = told.split("longmind undo ")[1].split()[0]
    assert [one["id"] for one in talk.run("list", "--kind", "message")["items"]] != [id]
    talk.run("undo", operation)
    assert id in [one["id"] for one in talk.run("list", "--kind", "message")["items"]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/forget", "Say what to forget"),
        ("/forget 12!", "too short"),
        ("/forget 00000000!", "no memory"),
        ("/dance", "no command /dance"),
        ("/plan", "no open goal"),
        ("/plan 00000000-0000-0000-0000-000000000007", "no goal"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_chat_goes_on(talk: Chat, line: str, said: str) -> None:
    told = talk(line, "/memory", code=1)
    assert said in " ".join(told.stderr.split())
    assert "0 memories" in told.stdout
    error, counted = talk.json(line, "/memory", code=1)
    assert said in error["message"]
    assert counted["command"] == "memory"


def test_goals_and_plans(talk: Chat) -> None:
    told = talk("/goal", "/goal Learn to sing", "/goal", "/plan").stdout
    assert "No goal is open." in told
    assert "To pursue it: longmind goal run " in told
    assert "[ ] Learn to sing (active, 0%)" in told
    assert "No plan yet" in told
    (goal,) = talk.run("goal", "list")["items"]
    assert goal["description"] == "Learn to sing"
    (plan,) = talk.json(f"/plan {goal['id'][-8:]}")
    assert (plan["goal"], plan["plan"]) == (goal["id"], None)
    assert talk.json("/goal")[0]["goals"][0]["id"] == goal["id"]


def test_help_names_every_command_and_two_slashes_begin_a_message(talk: Chat) -> None:
    told = talk("/help").stdout
    for name in ("/why", "/memory", "/forget", "/goal", "/plan", "/quit"):
        assert name in told
    talk("//etc is a folder")
    assert "/etc is a folder" in [one["content"] for one in talk.run("list", "--kind", "message")["items"]]


def test_a_memory_cannot_play_tricks_on_the_terminal(talk: Chat) -> None:
    talk.run("remember", "My dog \x1b[2J is called Rex.")
    told = talk("What is my dog called?", "/why", "/memory dog").stdout
    assert "\x1b" not in told
    assert "␛[2J" in told


def test_bytes_that_are_no_text_are_no_reason_to_stop(talk: Chat) -> None:
    result = talk._runner.invoke(app, ["--session", "s1"], input=b"caf\xe9 is open\n", catch_exceptions=False)
    assert result.exit_code == 0
    assert "caf� is open" in [one["content"] for one in talk.run("list", "--kind", "message")["items"]]


# -- with a language model ---------------------------------------------------------------------------------------------


def test_a_model_answers_with_what_memory_has(talk: Chat, server: Server) -> None:
    server.plan("Noted.", "Rex-of-course.")
    told = talk("My dog is called Rex.", "What is my dog called?", **model(server)).stdout
    assert told.splitlines()[0].split() == ["model", "openai/alpha"]
    assert "Rex-of-course." in told
    asked = server.bodies[1]["messages"]
    assert [one["role"] for one in asked] == ["system", "user", "assistant", "user"]
    messages = [one["content"] for one in talk.run("list", "--kind", "message")["items"]]
    assert "Rex-of-course." in messages


def test_a_model_calls_a_tool(talk: Chat, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kitchen_tools.py").write_text(
        "from longmind.systems.procedural import ToolRegistry\n"
        "tools = ToolRegistry()\n\n"
        "@tools.tool\ndef weigh(what: str) -> int:\n    'Weigh something.'\n    return 120\n"
    )
    monkeypatch.chdir(tmp_path)
    server.plan(Server.Say("", calls=(("weigh", '{"what": "salt"}'),), finish="tool_calls"), "120-grams.")
    told = talk(
        "How much salt is there?", words=("--session", "s1", "--tools", "kitchen_tools"), **model(server)
    ).stdout
    assert "120-grams." in told
    assert "(weigh worked" in told


def test_a_model_that_fails_is_told_and_the_chat_goes_on(talk: Chat, server: Server) -> None:
    server.plan(server.status(401), "Again.")
    first, second = talk.json("Are you there?", "And now?", code=1, **model(server))
    assert first["ending"] == "failed"
    assert "The model failed" in first["text"]
    assert KEY not in json.dumps(first)
    assert (second["ending"], second["text"]) == ("answered", "Again.")


# -- at a terminal -----------------------------------------------------------------------------------------------------


class Terminal:
    """``longmind chat`` in a process of its own, at a terminal of its own."""

    def __init__(self, url: str, **env: str) -> None:
        main = "import typer\nfrom longmind.cli.chat import chat\napp = typer.Typer()\napp.command()(chat)\napp()"
        ours, theirs = pty.openpty()
        told = {"LONGMIND_URL": url, "TERM": "dumb", "COLUMNS": "100", "PATH": os.environ["PATH"], **env}
        self.process = subprocess.Popen(
            [sys.executable, "-c", main, "--session", "s1"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=told,
            start_new_session=True,
        )
        os.close(theirs)
        self._ours = ours
        self.seen = ""

    def until(self, text: str, *, interrupting: bool = False) -> None:
        """Read until this was shown. A signal between the prompt and the waiting for a key is not heard, so a person
        who is ``interrupting`` presses Ctrl-C again."""
        end = time.monotonic() + 60
        if interrupting:
            self.interrupt()
        while text not in self.seen:
            ready, _, _ = select.select([self._ours], [], [], 1.0)
            assert ready or time.monotonic() < end, f"{text!r} was never shown:\n{self.seen}"
            if not ready:
                if interrupting:
                    self.interrupt()
                continue
            try:
                self.seen += os.read(self._ours, 4096).decode("utf-8", "replace")
            except OSError as error:
                raise AssertionError(f"{text!r} was not shown before the end:\n{self.seen}") from error
        self.seen = self.seen.split(text, 1)[1]

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@pytest.fixture
def terminal(tmp_path: Path, server: Server) -> Iterator[Terminal]:
    made = Terminal(str(tmp_path / "memory.db"), **model(server))
    yield made
    made.close()


def test_ctrl_c_stops_the_answer_and_not_the_chat(terminal: Terminal, server: Server, talk: Chat) -> None:
    server.plan(Server.Say("One " + "more " * 500, chunk_pause=0.05), "Fine.")
    terminal.until("you> ")
    terminal.until("you> ", interrupting=True)
    terminal.type("Count.\n")
    terminal.until("One")
    terminal.interrupt()
    terminal.until("stopped")
    terminal.until("you> ")
    terminal.type("And how are you?\n")
    terminal.until("Fine.")
    terminal.until("you> ")
    terminal.type("\x04")
    terminal.until("To go on: longmind chat --session s1")
    assert terminal.process.wait(30) == 0
    messages = {one["content"] for one in talk.run("list", "--kind", "message")["items"]}
    assert {"Count.", "And how are you?", "Fine."} <= messages
    assert any(message.startswith("One") for message in messages)


def test_a_person_is_asked_before_something_is_forgotten(terminal: Terminal, server: Server, talk: Chat) -> None:
    id = talk.run("remember", "I like rain.")["memories"][0]["id"]
    terminal.until("you> ")
    terminal.type(f"/forget {id[-8:]}\n")
    terminal.until("Forget this? [y/N] ")
    terminal.type("n\n")
    terminal.until("Nothing was forgotten.")
    terminal.until("you> ")
    terminal.type(f"/forget {id[-8:]}\n")
    terminal.until("Forget this? [y/N] ")
    terminal.type("y\n")
    terminal.until("Forgot 1 memory.")
    terminal.type("/quit\n")
    terminal.until("To go on")
    assert terminal.process.wait(30) == 0
    assert talk.run("list")["items"] == []
