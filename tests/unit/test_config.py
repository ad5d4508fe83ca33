"""Settings come from defaults, the environment and the caller, and say what is wrong with a bad one."""

import asyncio
from pathlib import Path

import pytest

from longmind import Longmind
from longmind.config import AgentSettings, Settings, default_path
from longmind.errors import InvalidSetting


def test_the_environment_changes_defaults_and_the_caller_changes_both() -> None:
    told = Settings.load({"LONGMIND_URL": "x.db", "LONGMIND_VIEW_MB": "7"}, tenant="t")
    assert (told.url, told.view_mb, told.tenant) == ("x.db", 7, "t")
    assert Settings.load({"LONGMIND_TENANT": "env"}, tenant=None).tenant == "env"


def test_a_bad_setting_is_named() -> None:
    with pytest.raises(InvalidSetting, match="view_mb"):
        Settings.load({"LONGMIND_VIEW_MB": "many"})


def test_a_key_is_never_shown() -> None:
    assert "s3cret" not in repr(Settings.load({"LONGMIND_EMBEDDER_KEY": "s3cret"}))


def test_the_default_store_is_in_the_users_data_folder() -> None:
    assert str(default_path({"XDG_DATA_HOME": "/data"})) == "/data/longmind/memory.db"


def test_there_are_not_too_many_settings() -> None:
    assert len(Settings.model_fields) + len(AgentSettings.model_fields) <= 40


def test_an_unknown_agent_setting_lists_those_there_are() -> None:
    with pytest.raises(InvalidSetting, match="recall_k"):
        AgentSettings().changed({"recal": 3})
    with pytest.raises(InvalidSetting, match="recall_k"):
        AgentSettings().changed({"recall_k": 0})


def test_an_empty_url_is_not_the_users_own_store() -> None:
    assert Settings.load({}, url="").store_url() == ""
    assert Settings.load({"LONGMIND_URL": ""}).store_url() == str(default_path())


async def test_a_store_with_an_empty_url_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    monkeypatch.setenv("XDG_DATA_HOME", str(own))
    with pytest.raises(InvalidSetting, match="URL is empty"):
        await Longmind.open("")
    assert not await asyncio.to_thread(own.exists)
