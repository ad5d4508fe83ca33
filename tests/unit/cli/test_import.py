"""``longmind import --from``."""

from pathlib import Path
from typing import Any

from tests.unit.importing import samples


def test_an_import_for_people_and_for_programs(cli: Any, tmp_path: Path) -> None:
    path = str(samples.chatgpt(tmp_path))
    told = cli("import", "--from", "chatgpt", path, "--user", "alice").stdout
    assert told.startswith("Imported 4 messages.\nNot mapped: 2\n")
    assert "image_asset_pointer (in chatgpt.zip:conversations.json, conversation 1, message c1-d)" in told.replace(
        "\n", " "
    ).replace("  ", " ")
    again = cli.json("import", "--from", "chatgpt", path, "--user", "alice")
    assert (again["counts"], again["already_there"], again["unmapped_count"]) == ({"messages": 4}, 4, 2)
    assert set(again["unmapped"][0]) == {"place", "reason"}
    assert cli.json("recall", "Where did she move?", "--user", "alice")["hits"]


def test_a_preview_stores_nothing(cli: Any, tmp_path: Path) -> None:
    path = str(samples.mem0_json(tmp_path))
    told = cli("import", "--from", "mem0", path, "--preview").stdout
    assert "Would import 2 notes, 1 fact." in told
    assert "Users: alice, bob" in told
    assert "note 2024-05-01: Lives in Lisbon" in told
    read = cli.json("import", "--from", "mem0", path, "--preview")
    assert (read["counts"], read["users"]) == ({"notes": 2, "facts": 1}, ["alice", "bob"])
    assert not cli.stored()


def test_options_that_the_other_kind_of_import_has_are_refused(cli: Any, tmp_path: Path) -> None:
    path = str(samples.chatgpt(tmp_path))
    for words in (["--preview"], ["--agent", "a"], ["--user", "u"]):
        assert "names agents and users itself" in cli("import", path, *words, code=2).output
    assert "has tenants" in cli("import", "--from", "chatgpt", path, "--across-tenants", code=2).output
    assert "is not one of" in cli("import", "--from", "gpt", path, code=2).output


def test_what_is_missing_or_damaged_is_told_with_its_place(cli: Any, tmp_path: Path) -> None:
    cli.error("import", "--from", "chatgpt", str(tmp_path / "no.zip"), code=3)
    path = tmp_path / "conversations.json"
    path.write_text('[{"mapping": {}, "id": "c"},\n {"mapping": ')
    told = cli.error("import", "--from", "chatgpt", str(path))
    assert told["message"].startswith("conversations.json, line 2: element 2 is not JSON")
    assert not cli.stored()
