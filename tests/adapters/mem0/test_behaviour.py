"""Behaviour that a program written for mem0 relies on: the same tests on mem0 2.2.1 and on Longmind.

mem0's own suite is not in its source distribution, and most of it is about its internals (mocked stores and prompts).
These are written from its documentation and its source. What needs a language model in mem0 (``infer=True``) is tested
on Longmind alone.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

CHAT = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "I live in Lisbon.", "name": "alice"},
    {"role": "assistant", "content": "Noted: Lisbon."},
]
DAY = timedelta(days=1)


def add(m: Any, text: Any, **more: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = m.add(text, infer=False, **{"user_id": "alice", **more})["results"]
    return results


def texts(answer: Any) -> set[str]:
    return {item["memory"] for item in answer["results"]}


# -- add ---------------------------------------------------------------------------------------------------------------


def test_add_returns_what_was_added(m: Any) -> None:
    first, second = add(m, CHAT)
    assert {key: first[key] for key in ("memory", "event", "actor_id", "role")} == {
        "memory": "I live in Lisbon.",
        "event": "ADD",
        "actor_id": "alice",
        "role": "user",
    }
    assert (second["memory"], second["role"], second["actor_id"]) == ("Noted: Lisbon.", "assistant", None)
    assert first["id"] != second["id"]


def test_of_a_content_in_parts_the_text_is_added(m: Any) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/cup.png"}}
    parts = [{"type": "text", "text": "I like tea."}, image, {"type": "text", "text": "Look!"}]
    added = add(m, [{"role": "user", "content": content} for content in (parts, [image], image)])
    assert [item["memory"] for item in added] == ["I like tea. Look!"]


@pytest.mark.parametrize("messages", ["I like tea.", {"role": "user", "content": "I like tea."}])
def test_add_takes_a_text_and_a_message(m: Any, messages: Any) -> None:
    (added,) = add(m, messages)
    assert added["memory"] == "I like tea."


def test_every_raw_message_is_a_memory_of_its_own(m: Any) -> None:
    add(m, "I like tea.")
    add(m, "I like tea.")
    assert len(m.get_all(filters={"user_id": "alice"})["results"]) == 2


def test_what_is_no_message_is_left_out(m: Any) -> None:
    (added,) = add(m, [{"role": "user"}, {"content": "x"}, {"role": "user", "content": "I like tea."}])
    assert added["memory"] == "I like tea."


@pytest.mark.parametrize("messages", [7, None, ("a", "b")])
def test_add_refuses_what_holds_no_messages(m: Any, messages: Any) -> None:
    with pytest.raises(Exception, match="messages must be str, dict, or list"):
        add(m, messages)


def test_add_needs_an_id(m: Any) -> None:
    with pytest.raises(Exception, match="At least one of 'user_id', 'agent_id', or 'run_id' must be provided"):
        m.add("I like tea.", infer=False)


@pytest.mark.parametrize(("id", "words"), [("", "cannot be empty"), ("  ", "cannot be empty"), ("a b", "whitespace")])
def test_an_id_is_checked(m: Any, id: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        add(m, "I like tea.", user_id=id)
    with pytest.raises(ValueError, match=words):
        m.search("tea", filters={"user_id": id})
    with pytest.raises(ValueError, match=words):
        m.get_all(filters={"user_id": id})
    with pytest.raises(ValueError, match=words):
        m.delete_all(user_id=id)


def test_an_id_is_trimmed_and_may_be_a_number(m: Any) -> None:
    add(m, "I like tea.", user_id=" alice ")
    add(m, "I like coffee.", user_id=7)
    assert texts(m.get_all(filters={"user_id": "alice"})) == {"I like tea."}
    assert texts(m.get_all(filters={"user_id": "7"})) == {"I like coffee."}
    assert texts(m.get_all(filters={"user_id": 7})) == {"I like coffee."}


def test_add_refuses_unknown_types_and_times(m: Any) -> None:
    with pytest.raises(Exception, match="Invalid 'memory_type'"):
        add(m, "x", memory_type="semantic")
    with pytest.raises(ValueError, match="timestamp"):
        add(m, "x", timestamp=1)
    with pytest.raises(ValueError, match="expiration_date must be a valid date"):
        add(m, "x", expiration_date="tomorrow")
    with pytest.raises(ValueError, match="expiration_date must be a date string"):
        add(m, "x", expiration_date=7)


# -- get ---------------------------------------------------------------------------------------------------------------


def test_get_tells_everything_of_a_memory(m: Any) -> None:
    (added,) = add(m, CHAT[1:2], agent_id="guide", run_id="r1", metadata={"topic": "home", "rank": 2})
    item = m.get(added["id"])
    assert set(item) == {
        *("id", "memory", "hash", "metadata", "score", "created_at", "updated_at"),
        *("user_id", "agent_id", "run_id", "actor_id", "role"),
    }
    assert item["metadata"] == {"topic": "home", "rank": 2}
    assert (item["user_id"], item["agent_id"], item["run_id"]) == ("alice", "guide", "r1")
    assert (item["actor_id"], item["role"], item["score"]) == ("alice", "user", None)
    assert item["hash"] == hashlib.md5(b"I live in Lisbon.").hexdigest()
    assert item["created_at"] == item["updated_at"]
    assert datetime.fromisoformat(item["created_at"]).tzinfo is not None


def test_get_of_no_memory_is_none(m: Any) -> None:
    assert m.get("0190a1b2-0000-7000-8000-000000000000") is None


def test_metadata_is_none_where_there_is_none(m: Any) -> None:
    (added,) = add(m, "I like tea.")
    assert m.get(added["id"])["metadata"] is None


def test_ids_cannot_come_from_the_metadata(m: Any) -> None:
    (added,) = add(m, "I like tea.", metadata={"user_id": "bob", "agent_id": "x", "topic": "drinks"})
    item = m.get(added["id"])
    assert item["user_id"] == "alice"
    assert "agent_id" not in item
    assert item["metadata"] == {"topic": "drinks"}


# -- get_all -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(m: Any) -> Any:
    """Memories of two users, two agents and two runs."""
    add(m, "I live in Lisbon.", agent_id="guide", run_id="r1", metadata={"topic": "home", "rank": 1})
    add(m, "I like green tea.", agent_id="cook", run_id="r1", metadata={"topic": "drinks", "rank": 2})
    add(m, "I like black coffee.", agent_id="cook", run_id="r2", metadata={"topic": "drinks", "rank": 3})
    add(m, "I live in Porto.", user_id="bob", agent_id="guide", metadata={"topic": "home", "rank": 4})
    return m


def test_each_id_selects_by_itself_and_together(filled: Any) -> None:
    def all_of(**filters: Any) -> set[str]:
        return texts(filled.get_all(filters=filters))

    assert all_of(user_id="alice") == {"I live in Lisbon.", "I like green tea.", "I like black coffee."}
    assert all_of(agent_id="guide") == {"I live in Lisbon.", "I live in Porto."}
    assert all_of(run_id="r1") == {"I live in Lisbon.", "I like green tea."}
    assert all_of(user_id="alice", agent_id="cook", run_id="r2") == {"I like black coffee."}
    assert all_of(user_id="carol") == set()


def test_get_all_has_no_score_and_is_limited(filled: Any) -> None:
    listed = filled.get_all(filters={"user_id": "alice"}, top_k=2)["results"]
    assert len(listed) == 2
    assert "score" not in listed[0]
    assert {"id", "memory", "hash", "metadata", "created_at", "updated_at", "user_id", "role"} <= set(listed[0])


@pytest.mark.parametrize("method", ["get_all", "search"])
def test_filters_need_an_id_and_ids_belong_into_filters(m: Any, method: str) -> None:
    call = (lambda **more: m.search("tea", **more)) if method == "search" else m.get_all
    for filters in (None, {}, {"topic": "home"}):
        with pytest.raises(ValueError, match="filters must contain at least one of: user_id, agent_id, run_id"):
            call(filters=filters)
    with pytest.raises(ValueError, match="Top-level entity parameters"):
        call(user_id="alice")
    with pytest.raises(ValueError, match="Invalid top_k"):
        call(filters={"user_id": "alice"}, top_k=-1)
    with pytest.raises(ValueError, match="top_k must be a valid integer"):
        call(filters={"user_id": "alice"}, top_k="3")


# -- search ------------------------------------------------------------------------------------------------------------


def test_search_finds_the_best_first_with_its_score(filled: Any) -> None:
    found = filled.search("green tea", filters={"user_id": "alice"}, threshold=0.0)["results"]
    assert found[0]["memory"] == "I like green tea."
    assert 0 <= found[0]["score"] <= 1
    assert [item["score"] for item in found] == sorted((item["score"] for item in found), reverse=True)
    assert {item["user_id"] for item in found} == {"alice"}
    assert found[0]["metadata"] == {"topic": "drinks", "rank": 2}


def test_search_is_limited(filled: Any) -> None:
    assert len(filled.search("I like", filters={"user_id": "alice"}, top_k=1, threshold=0.0)["results"]) == 1


def test_search_reaches_no_other_user(filled: Any) -> None:
    assert texts(filled.search("Porto", filters={"user_id": "alice"}, threshold=0.0)).isdisjoint({"I live in Porto."})
    assert "I live in Porto." in texts(filled.search("Porto", filters={"agent_id": "guide"}, threshold=0.0))


@pytest.mark.parametrize(
    ("condition", "ranks"),
    [
        ({"topic": "drinks"}, {2, 3}),
        ({"rank": 2}, {2}),
        ({"rank": {"gt": 1}}, {2, 3}),
        ({"rank": {"gte": 2, "lt": 3}}, {2}),
        ({"topic": {"eq": "home"}}, {1}),
        ({"topic": {"ne": "home"}}, {2, 3}),
        ({"topic": {"in": ["home", "work"]}}, {1}),
        ({"topic": {"nin": ["home", "work"]}}, {2, 3}),
        ({"topic": "*"}, {1, 2, 3}),
        ({"AND": [{"topic": "drinks"}, {"rank": {"lt": 3}}]}, {2}),
        ({"OR": [{"rank": 1}, {"rank": 3}]}, {1, 3}),
        ({"NOT": [{"topic": "drinks"}]}, {1}),
    ],
    ids=str,
)
def test_search_filters_by_metadata(filled: Any, condition: dict[str, Any], ranks: set[int]) -> None:
    found = filled.search("I like Lisbon tea coffee", filters={"user_id": "alice", **condition}, threshold=0.0)
    assert {item["metadata"]["rank"] for item in found["results"]} == ranks


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"rank": {"gt": 1, "near": 2}}, "Unsupported metadata filter operator: near"),
        ({"AND": {"topic": "x"}}, "AND operator requires a list"),
        ({"OR": []}, "OR operator requires a non-empty list"),
        ({"NOT": []}, "NOT operator requires a non-empty list"),
    ],
    ids=str,
)
def test_a_filter_that_cannot_be_is_refused(filled: Any, condition: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        filled.search("tea", filters={"user_id": "alice", **condition})


@pytest.mark.parametrize("query", ["", "   ", 7, None])
def test_a_query_must_say_something(m: Any, query: Any) -> None:
    with pytest.raises(ValueError, match="Invalid query"):
        m.search(query, filters={"user_id": "alice"})


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "high"])
def test_a_threshold_is_checked(m: Any, threshold: Any) -> None:
    with pytest.raises(ValueError, match="threshold"):
        m.search("tea", filters={"user_id": "alice"}, threshold=threshold)


def test_explain_gives_details(filled: Any) -> None:
    found = filled.search("green tea", filters={"user_id": "alice"}, explain=True, threshold=0.0)["results"]
    assert found[0]["score_details"]


# -- update, delete, history -------------------------------------------------------------------------------------------


def test_update_changes_the_text(m: Any) -> None:
    (added,) = add(m, "I live in Lisbon.", metadata={"topic": "home"})
    before = m.get(added["id"])
    assert m.update(added["id"], "I live in Porto.") == {"message": "Memory updated successfully!"}
    after = m.get(added["id"])
    assert (after["memory"], after["metadata"], after["user_id"]) == ("I live in Porto.", {"topic": "home"}, "alice")
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    assert after["hash"] != before["hash"]


def test_update_merges_metadata_and_keeps_ids(m: Any) -> None:
    (added,) = add(m, "I live in Lisbon.", metadata={"topic": "home", "rank": 1})
    m.update(added["id"], metadata={"rank": 2, "user_id": "bob"})
    item = m.get(added["id"])
    assert (item["memory"], item["metadata"]) == ("I live in Lisbon.", {"topic": "home", "rank": 2})
    assert item["user_id"] == "alice"


def test_update_takes_data_for_text(m: Any) -> None:
    (added,) = add(m, "I live in Lisbon.")
    m.update(added["id"], data="I live in Porto.")
    assert m.get(added["id"])["memory"] == "I live in Porto."


def test_update_needs_a_change_and_a_memory(m: Any) -> None:
    (added,) = add(m, "I live in Lisbon.")
    with pytest.raises(ValueError, match="At least one of text, metadata, or expiration_date must be provided"):
        m.update(added["id"])
    with pytest.raises(ValueError, match="not found"):
        m.update("0190a1b2-0000-7000-8000-000000000000", "x")


def test_delete_removes_a_memory(m: Any) -> None:
    first, second = add(m, CHAT)
    assert m.delete(first["id"]) == {"message": "Memory deleted successfully!"}
    assert m.get(first["id"]) is None
    assert texts(m.get_all(filters={"user_id": "alice"})) == {"Noted: Lisbon."}
    assert texts(m.search("Lisbon", filters={"user_id": "alice"}, threshold=0.0)) == {"Noted: Lisbon."}
    with pytest.raises(ValueError, match=f"Memory with id {first['id']} not found"):
        m.delete(first["id"])
    assert m.get(second["id"]) is not None


def test_delete_all_removes_what_ids_select(filled: Any) -> None:
    assert filled.delete_all(user_id="alice", agent_id="cook") == {"message": "Memories deleted successfully!"}
    assert texts(filled.get_all(filters={"user_id": "alice"})) == {"I live in Lisbon."}
    filled.delete_all(agent_id="guide")
    assert texts(filled.get_all(filters={"agent_id": "guide"})) == set()
    assert filled.delete_all(user_id="nobody") == {"message": "Memories deleted successfully!"}
    with pytest.raises(ValueError, match="At least one filter is required to delete all memories"):
        filled.delete_all()


def test_history_tells_every_change(m: Any) -> None:
    (added,) = add(m, CHAT[1:2])
    m.update(added["id"], "I live in Porto.")
    m.update(added["id"], metadata={"topic": "home"})
    m.delete(added["id"])
    rows = m.history(added["id"])
    assert [(row["event"], row["old_memory"], row["new_memory"], row["is_deleted"]) for row in rows] == [
        ("ADD", None, "I live in Lisbon.", False),
        ("UPDATE", "I live in Lisbon.", "I live in Porto.", False),
        ("UPDATE", "I live in Porto.", "I live in Porto.", False),
        ("DELETE", "I live in Porto.", None, True),
    ]
    assert {row["memory_id"] for row in rows} == {added["id"]}
    assert {(row["actor_id"], row["role"]) for row in rows} == {("alice", "user")}
    assert set(rows[0]) == {
        *("id", "memory_id", "old_memory", "new_memory", "event"),
        *("created_at", "updated_at", "is_deleted", "actor_id", "role"),
    }
    assert m.history("0190a1b2-0000-7000-8000-000000000000") == []


def test_reset_removes_everything(filled: Any) -> None:
    filled.reset()
    assert texts(filled.get_all(filters={"user_id": "alice"})) == set()
    assert texts(filled.get_all(filters={"user_id": "bob"})) == set()
    add(filled, "I am back.")
    assert texts(filled.get_all(filters={"user_id": "alice"})) == {"I am back."}


# -- expiry ------------------------------------------------------------------------------------------------------------


def test_an_expired_memory_is_hidden_unless_it_is_asked_for(m: Any) -> None:
    today = datetime.now(UTC).date()
    (gone,) = add(m, "The sale is on.", expiration_date=(today - DAY).isoformat())
    (lasts,) = add(m, "The sale ends today.", expiration_date=today)
    visible = {"user_id": "alice"}
    assert texts(m.get_all(filters=visible)) == {"The sale ends today."}
    assert texts(m.search("sale", filters=visible, threshold=0.0)) == {"The sale ends today."}
    everything = {"The sale is on.", "The sale ends today."}
    assert texts(m.get_all(filters=visible, show_expired=True)) == everything
    assert texts(m.search("sale", filters=visible, show_expired=True, threshold=0.0)) == everything
    assert m.get(gone["id"])["expiration_date"] == (today - DAY).isoformat()
    assert [row["event"] for row in m.history(gone["id"])] == ["ADD"]
    m.update(gone["id"], expiration_date=None)
    m.update(lasts["id"], expiration_date=(today - DAY).isoformat())
    assert texts(m.get_all(filters=visible)) == {"The sale is on."}
