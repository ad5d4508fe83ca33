"""The table of kinds: what each part of the package reads from it."""

from __future__ import annotations

from longmind import kinds


def test_each_kind_has_one_row_and_a_known_group() -> None:
    assert len(kinds.KINDS) == len(set(kinds.KINDS)) == 28
    assert {kind.group for kind in kinds.TABLE} | {"About the agent itself"} == set(kinds.GROUPS)
    assert kinds.group_of("trait") == kinds.group_of("trait", "user") == "About the user"
    assert kinds.group_of("trait", "agent") == kinds.group_of("knowledge", "agent") == "About the agent itself"


def test_what_counts_in_word_statistics() -> None:
    counted = {"message", "document", "episode", "event", "procedure", "run", "step", "decision"}
    counted |= {"goal", "plan", "revision", "working", "rule", "record"}
    assert set(kinds.KINDS) - kinds.UNCOUNTED == counted


def test_what_recall_and_listings_leave_out_unless_it_is_asked_for() -> None:
    gathered = {"page", "segment", "summary"}
    parts = {"event", "run", "step", "decision", "revision"}
    assert gathered | parts | {"claim"} | kinds.INTERNAL == set(kinds.ON_REQUEST)


def test_what_was_said_and_what_facts_are_extracted_from() -> None:
    assert kinds.SAID == ("message", "document")
    assert set(kinds.SOURCES_OF_FACTS) == {"message", "page", "document"}
    assert {"alias", "configuration", "item", "session_item", "state"} == kinds.INTERNAL
    dead_ends = {"message", "document", "configuration", "item", "state", "working", "session_item", "claim"}
    assert dead_ends == kinds.DEAD_ENDS


def test_a_kind_of_a_custom_system_comes_last_in_a_context() -> None:
    assert kinds.group_of("trait") == "About the user"
    assert kinds.group_of("invoice") == kinds.GROUPS[-1] == "Other"


def test_the_kinds_of_a_system_without_its_bookkeeping() -> None:
    assert kinds.owned_by("semantic") == ("fact", "concept", "rule")
    assert set(kinds.owned_by("procedural", "working")) == {"procedure", "run", "step", "decision", "working"}
