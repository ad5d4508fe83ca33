"""``longmind forget``, ``history`` and ``undo``, and naming things by a part of their id."""

import asyncio
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from longmind.cli.command import Invocation, read_stdin
from longmind.cli.forget import ask


def test_forget_tells_how_to_bring_it_back(cli: Any) -> None:
    id = cli.remember("A secret of mine.")
    told = cli("forget", id, "--reason", "she asked").stdout
    assert told.startswith("Forgot 1 memory.")
    assert cli.json("list")["items"] == []
    assert cli.json("history", id)["changes"][-1]["reason"] == "she asked"
    cli(*told.split("longmind ")[1].split())
    assert [m["id"] for m in cli.json("list")["items"]] == [id]


@pytest.mark.parametrize("command", ["forget", "consolidate"])
def test_the_command_that_takes_it_back_can_be_pasted(cli: Any, tmp_path: Path, command: str) -> None:
    """It is for another store and agent than the usual ones, and says so."""
    there = ["--url", str(tmp_path / "another store.db"), "--agent", "bob", "--tenant", "acme"]
    id = cli.remember("I moved to Lisbon in May.", *there)
    told = cli(command, *([id] if command == "forget" else []), *there).stdout
    line = next(line for line in told.splitlines() if line.startswith("To "))
    longmind, *words = shlex.split(line.partition(": ")[2])
    assert longmind == "longmind"
    assert cli(*words).stdout.startswith("Undone")


@pytest.mark.parametrize("part", [slice(-8, None), slice(0, 20), slice(-14, None), slice(None)])
def test_a_part_of_an_id_is_enough_if_it_is_the_only_one(cli: Any, part: slice) -> None:
    ids = [cli.remember("First thing."), cli.remember("Second thing.")]
    assert cli.json("show", ids[0][part])["memory"]["id"] == ids[0]
    assert cli.json("show", ids[0][part].upper())["memory"]["id"] == ids[0]
    assert cli.json("history", ids[1][part])["id"] == ids[1]


def test_an_ambiguous_part_names_the_candidates(cli: Any) -> None:
    ids = [cli.remember("First thing."), cli.remember("Second thing.")]
    common = ids[0][:8]
    assert ids[1].startswith(common), "ids of the same minute begin alike"
    told = cli.error("forget", common)
    assert told["error"] == "invalid_input"
    assert set(told["details"]["ids"]) == set(ids)
    assert cli.json("stats")["memories"] == 2


def test_a_part_that_is_too_short_or_unknown(cli: Any) -> None:
    cli.remember("First thing.")
    assert "at least 8" in cli.error("show", "0190", code=2)["message"]
    assert cli.error("show", "ffffffff", code=3)["error"] == "not_found"
    assert cli.error("history", "f" * 8 + "-ffff-7fff-8fff-" + "f" * 12, code=3)["error"] == "not_found"
    assert cli.error("forget", "ffffffff", code=3)["error"] == "not_found"
    assert cli.error("undo", "ffffffff", code=3)["error"] == "not_found"


def test_the_history_of_what_was_forgotten_is_found_by_a_part_too(cli: Any) -> None:
    id = cli.remember("Gone soon.")
    cli("forget", id[-8:])
    assert [c["action"] for c in cli.json("history", id[-8:])["changes"]] == ["put", "delete"]
    assert "Gone soon." in cli("history", id[-8:]).stdout
    assert cli.error("show", id, code=3)["error"] == "not_found"


def test_an_agent_cannot_name_anothers_memory(cli: Any) -> None:
    id = cli.remember("Mine.", "--agent", "me")
    for verb in ("show", "history", "forget"):
        for given in (id, id[-8:]):
            assert cli.error(verb, given, "--agent", "you", code=3)["error"] == "not_found"
    operation = cli.json("history", id, "--agent", "me")["changes"][0]["operation"]
    assert cli.error("undo", operation, "--agent", "you", code=3)["error"] == "not_found"
    assert cli.json("stats", "--agent", "me")["memories"] == 1


def test_forgetting_by_filter_asks_first(cli: Any) -> None:
    cli.remember("One.", "--session", "old")
    cli.remember("Two.", "--session", "old")
    kept = cli.remember("Three.")
    cli("forget", "--session", "old", input="n\n", code=1)
    assert cli.json("stats")["memories"] == 3
    assert "Forget 2 memories?" in cli("forget", "--session", "old", input="y\n").stderr
    assert [m["id"] for m in cli.json("list")["items"]] == [kept]


def test_forgetting_all_in_a_script(cli: Any) -> None:
    cli.remember("One.")
    cli.remember("Two.")
    told = cli.json("forget", "--all", "--yes")
    assert told["count"] == 2
    assert [change["action"] for change in cli.json("undo", told["operation"])["changes"]] == ["restored"] * 2
    assert cli.json("stats")["memories"] == 2


def test_without_an_answer_nothing_is_forgotten(cli: Any) -> None:
    cli.remember("One.")
    result = cli("forget", "--all", code=1)
    assert (result.stdout, "Aborted" in result.stderr) == ("", True)
    assert cli.json("stats")["memories"] == 1


def test_a_program_is_not_asked_but_told_to_be_sure(cli: Any) -> None:
    """A question on the standard error would stand before the JSON that is read there."""
    cli.remember("One.")
    told = cli.error("forget", "--all", code=2)
    assert "--yes" in told["message"]
    assert cli.json("stats")["memories"] == 1


@pytest.mark.parametrize("where", ["forget", "remember"])
def test_ctrl_c_is_heard_where_something_is_typed(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop would only make a note of the first one, and go on waiting for a line."""
    typed = Interrupted()
    monkeypatch.setattr("sys.stdin", typed)

    async def work() -> None:
        if where == "forget":
            ask(Invocation(), 1, erase=True)
        else:
            read_stdin()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())
    assert not typed.waited_on


class Interrupted:
    """A terminal at which somebody presses Ctrl-C."""

    def __init__(self) -> None:
        self.buffer = self
        self.waited_on = False

    def readline(self) -> str:
        signal.raise_signal(signal.SIGINT)
        self.waited_on = True
        return "y"

    read = readline


def test_forgetting_nothing_is_said(cli: Any) -> None:
    cli.remember("one")
    cli("forget", "--all", "--yes")
    assert cli("forget", "--session", "none", "--yes").stdout == "Forgot 0 memories.\n"
    assert cli.json("forget", "--all", "--yes") == {"count": 0, "ids": [], "operation": None, "erased": False}


@pytest.mark.parametrize("words", [[], ["0190aaaa-bbbb", "--all"], ["--session", "a", "--all"]])
def test_what_to_forget_must_be_said_once(cli: Any, words: list[str]) -> None:
    assert cli.error("forget", *words, code=2)["error"] == "usage"


def test_erasing_leaves_no_words(cli: Any) -> None:
    id = cli.remember("The code is tangerine.")
    cli("forget", id, "--erase", input="n\n", code=1)
    assert "Erased 1 memory." in cli("forget", id, "--erase", "--yes").stdout
    assert "tangerine" not in cli("history", id, "--json").stdout
    operations = [change["operation"] for change in cli.json("history", id)["changes"]]
    assert cli.error("undo", operations[-1])["error"] == "conflict"


def test_undo_of_what_was_changed_since_is_refused(cli: Any) -> None:
    id = cli.remember("First.")
    put = cli.json("history", id)["changes"][0]["operation"]
    cli("forget", id)
    told = cli.error("undo", put)
    assert told["error"] == "conflict"
    assert told["hint"]


def test_undo_takes_an_operation_by_a_part_of_its_id(cli: Any) -> None:
    id = cli.remember("First.")
    operation = cli.json("history", id)["changes"][0]["operation"]
    told = cli("undo", operation[-8:]).stdout.splitlines()
    assert told == [f"Undone: operation {operation[-8:]}.", f"  removed: message {id[-8:]} First."]
    assert cli.json("stats")["memories"] == 0
