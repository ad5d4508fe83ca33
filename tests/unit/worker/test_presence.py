"""Who counts as lost."""

from __future__ import annotations

from longmind.worker.presence import Watched


def test_a_worker_is_lost_when_its_number_stood_still_for_a_lease() -> None:
    watched = Watched(10.0)
    assert watched.lost({"a": 1, "b": 1}, {"a", "b"}, 100.0) == set()
    assert watched.lost({"a": 2, "b": 1}, {"a", "b"}, 105.0) == set()
    assert watched.lost({"a": 3, "b": 1}, {"a", "b"}, 109.9) == set()
    assert watched.lost({"a": 4, "b": 1}, {"a", "b"}, 110.0) == {"b"}


def test_one_that_is_not_on_the_roster_gets_a_lease_too() -> None:
    watched = Watched(10.0)
    assert watched.lost({}, {"a"}, 0.0) == set()
    assert watched.lost({"a": 0}, {"a"}, 9.0) == set()
    assert watched.lost({"a": 0}, {"a"}, 18.9) == set()
    assert watched.lost({"a": 0}, {"a"}, 19.0) == {"a"}


def test_one_that_starts_again_from_the_beginning_is_alive() -> None:
    watched = Watched(10.0)
    watched.lost({"a": 50}, {"a"}, 0.0)
    assert watched.lost({"a": 1}, {"a"}, 11.0) == set()


def test_one_without_jobs_is_forgotten() -> None:
    watched = Watched(10.0)
    watched.lost({"a": 1}, {"a"}, 0.0)
    assert watched.lost({"a": 1}, set(), 50.0) == set()
    assert watched.seen == {}
    assert watched.lost({"a": 1}, {"a"}, 60.0) == set()
