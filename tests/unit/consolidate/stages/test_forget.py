"""What fades, when, and what does not."""

from datetime import UTC, datetime, timedelta

from longmind.config import AgentSettings
from longmind.consolidate.stages.forget import faded, outlived, stays
from longmind.testing import memory

BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
SETTINGS = AgentSettings(archive_after_days=100, archive_below_importance=0.7)


def after(days: float) -> datetime:
    return BEGAN + timedelta(days=days)


def test_what_is_recalled_more_often_stays_longer() -> None:
    never = memory("x", recorded_at=BEGAN, importance=0.5)
    often = memory("x", recorded_at=BEGAN, importance=0.5, access_count=9)
    assert stays(never, 100) == after(100)
    assert stays(often, 100) == after(200)
    lately = memory("x", recorded_at=BEGAN, importance=0.5, access_count=9, last_accessed_at=after(50))
    assert stays(lately, 100) == after(250)


def test_what_matters_less_goes_sooner_and_what_matters_much_never() -> None:
    dull = memory("x", recorded_at=BEGAN, importance=0.0)
    plain = memory("x", recorded_at=BEGAN, importance=0.5)
    vital = memory("x", recorded_at=BEGAN, importance=0.7)
    assert faded([dull, plain, vital], SETTINGS, after(60)) == [dull]
    assert faded([dull, plain, vital], SETTINGS, after(10_000)) == [dull, plain]


def test_without_the_policy_nothing_goes() -> None:
    old = memory("x", recorded_at=BEGAN, importance=0.0)
    assert faded([old], AgentSettings(archive_after_days=None), after(10_000)) == []
    assert outlived([old], SETTINGS, after(100_000)) == []
    policy = SETTINGS.changed({"delete_archived_after_days": 30})
    assert outlived([old], policy, after(70)) == []
    assert outlived([old], policy, after(80)) == [old]


def test_a_time_that_no_calendar_has_is_never() -> None:
    assert stays(memory("x", recorded_at=BEGAN), 1e9).year == 9999
