"""``longmind remember``: what comes in, from where, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest


def test_a_text_is_stored_and_told(cli: Any) -> None:
    told = cli("remember", "I moved to Lisbon in May.").stdout
    assert told.startswith("Remembered: ")
    assert cli.json("list")["items"][0]["content"] == "I moved to Lisbon in May."


def test_every_option_arrives(cli: Any) -> None:
    words = [
        "--session",
        "s1",
        "--at",
        "2026-05-31T18:30+02:00",
        "--importance",
        "0.9",
        "--tag",
        "home",
        "--tag",
        "new",
    ]
    words += ["--meta", "floor=3", "--meta", "street=Rua Nova", "--meta", 'old="3"', "--role", "assistant"]
    memory = cli.json("remember", "The flat.", *words, "--name", "Bot", "-a", "helper", "-u", "alice", "--tenant", "t")
    memory = memory["memories"][0]
    assert (memory["tenant"], memory["agent"], memory["user"], memory["session"]) == ("t", "helper", "alice", "s1")
    assert memory["occurred_at"] == "2026-05-31T16:30:00Z"
    assert memory["importance"] == 0.9
    assert memory["tags"] == ["home", "new"]
    assert memory["metadata"] == {"floor": 3, "street": "Rua Nova", "old": "3"}
    assert (memory["source"]["role"], memory["source"]["name"]) == ("assistant", "Bot")


def test_a_moment_without_a_zone_is_utc(cli: Any) -> None:
    assert cli.json("remember", "x y", "--at", "2026-05-31")["memories"][0]["occurred_at"] == "2026-05-31T00:00:00Z"


def test_the_same_text_is_known_already(cli: Any) -> None:
    first = cli.json("remember", "Once only.")
    again = cli.json("remember", "Once only.")
    assert first["known_already"] == 0
    assert again["known_already"] == 1
    assert first["memories"][0]["id"] == again["memories"][0]["id"]
    assert cli("remember", "Once only.").stdout.startswith("Known already: ")


@pytest.mark.parametrize("text", ["Grüße aus 東京 🗼", "שלום", "two\nlines", "-- not an option", "e\u0301"])
def test_any_script_survives_the_standard_input(cli: Any, text: str) -> None:
    assert cli.json("remember", "-", input=f"{text}\n".encode())["memories"][0]["content"] == text


def test_unicode_as_an_argument(cli: Any) -> None:
    assert cli.json("remember", "Ærøskøbing — 北京")["memories"][0]["content"] == "Ærøskøbing — 北京"
    assert "北京" in cli("list").stdout


def test_a_file_becomes_a_document(cli: Any, tmp_path: Path) -> None:
    page = tmp_path / "house rules.md"
    page.write_text("\ufeff# Bins\n\nOn Tuesdays.\n\n# Noise\n\nNot after ten.\n", encoding="utf-8")
    passages = cli.json("remember", "--file", str(page))["memories"]
    assert [p["content"] for p in passages] == ["# Bins\n\nOn Tuesdays.", "# Noise\n\nNot after ten."]
    assert {p["body"]["title"] for p in passages} == {"house rules"}
    assert {p["source"]["uri"] for p in passages} == {page.as_uri()}
    assert cli("remember", "--file", str(page)).stdout == "Remembered 0 memories; 2 known already.\n"


@pytest.mark.parametrize("shape", ["list", "lines"])
def test_a_conversation_from_a_file(cli: Any, tmp_path: Path, shape: str) -> None:
    turns = [
        {"role": "user", "content": "My dog is Rex.", "name": "Alice", "occurred_at": "2026-01-02T03:04:05Z"},
        {"role": "assistant", "content": "Hello Rex!", "metadata": {"mood": "good"}},
    ]
    file = tmp_path / "talk.json"
    text = json.dumps(turns, indent=1) if shape == "list" else "\n".join(map(json.dumps, turns)) + "\n\n"
    file.write_text(text, encoding="utf-8")
    stored = cli.json("remember", "--messages", str(file), "--session", "talk")["memories"]
    assert [m["content"] for m in stored] == ["My dog is Rex.", "Hello Rex!"]
    assert stored[0]["occurred_at"] == "2026-01-02T03:04:05Z"
    assert stored[1]["metadata"] == {"mood": "good"}
    assert {m["session"] for m in stored} == {"talk"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"role": "user", "content": "a b"}\n{oops', "line 2"),
        ('[\n{"role": "user",\n]', "line 3"),
        ("[1]", "int is not a message"),
        ('{"role": "king", "content": "a b"}', "role"),
        ('{"content": "a b", "colour": "red"}', "colour"),
        ("[]", "nothing to remember"),
    ],
)
def test_a_bad_conversation_is_refused_whole(cli: Any, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "talk.json"
    file.write_text(text, encoding="utf-8")
    told = cli.error("remember", "--messages", str(file))
    assert told["error"] == "invalid_input"
    assert said in told["message"]
    assert not cli.stored()


def test_a_file_that_is_no_text_is_refused(cli: Any, tmp_path: Path) -> None:
    file = tmp_path / "picture.md"
    file.write_bytes(b"abc\xff\xfe")
    told = cli.error("remember", "--file", str(file))
    assert "picture.md is not UTF-8 text: byte 3" in told["message"]
    assert told["hint"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["text", "--file", __file__],
        ["x", "--at", "yesterday"],
        ["x", "--importance", "2"],
        ["x", "--meta", "floor"],
        ["x", "--meta", "=3"],
        ["x", "--role", "king"],
        ["--file", "/nowhere/at/all.md"],
    ],
)
def test_a_wrong_call_is_told_with_code_2(cli: Any, words: list[str]) -> None:
    assert "Usage" in cli("remember", *words, code=2).stderr
    assert cli.error("remember", *words, code=2)["error"] == "usage"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_text_is_refused(cli: Any, text: str) -> None:
    assert cli.error("remember", text)["error"] == "invalid_input"
    assert cli.error("remember", "-", input=text)["error"] == "invalid_input"


def test_what_is_piped_in_must_be_text(cli: Any) -> None:
    result = cli("remember", "-", input="café".encode("latin-1"), code=1)
    assert "The standard input is not UTF-8 text: byte 3" in result.stderr
    assert not cli.stored()


def test_the_message_that_is_wrong_is_named(cli: Any, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"role": "user", "content": "a b"}\n{"role": "user"}\n', encoding="utf-8")
    told = cli.error("remember", "--messages", str(file))
    assert "talk.jsonl, message 2: content" in told["message"]
    assert told["hint"]


def test_a_memory_can_expire(cli: Any) -> None:
    (stored,) = cli.json("remember", "The door code is 4711.", "--expires", "7d")["memories"]
    assert stored["expires_at"] is not None
    assert "expires" in cli("show", stored["id"]).stdout
    assert cli.json("list", "--expired")["items"] == []
    assert len(cli.json("list")["items"]) == 1
    assert cli.json("update", stored["id"], "--expires", "never")["memory"]["expires_at"] is None
    cli("update", stored["id"], "--expires", "2020-01-01")
    assert cli.json("list")["items"] == []
    assert [memory["id"] for memory in cli.json("list", "--expired")["items"]] == [stored["id"]]
    assert cli.json("forget", "--expired", "--yes")["ids"] == [stored["id"]]


@pytest.mark.parametrize("when", ["soon", "7x", "", "99999999999999d"])
def test_an_expiry_that_is_none_is_refused(cli: Any, when: str) -> None:
    assert cli("remember", "x", "--expires", when, code=2).stdout == ""
