"""Settings come from defaults, the environment and the caller, and say what is wrong with a bad one."""

import asyncio
from pathlib import Path

import pytest

from longmind import Longmind
from longmind.config import SYSTEMS, AgentSettings, Settings, default_path, variable_of
from longmind.errors import InvalidSetting
from longmind.systems.configuration import check_defaults, settings_class


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


async def test_a_default_of_the_process_holds_until_the_agent_has_its_own(tmp_path: Path) -> None:
    settings = Settings.load({"LONGMIND_DIALOGUE_WINDOW": "3", "LONGMIND_AGENT_RECALL_K": "4"})
    assert settings.defaults == {"dialogue": {"window": "3"}, "agent": {"recall_k": "4"}}
    async with Longmind.open(str(tmp_path / "a.db"), settings=settings) as longmind:
        mem = longmind.agent("a")
        assert (await mem.dialogue.configuration()).window == 3
        assert (await mem.configuration()).recall_k == 4
        await mem.dialogue.configure(hot=4.0)
        await mem.configure(recall_k=6)
        assert (await mem.dialogue.configuration()).window == 3
    async with Longmind.open(str(tmp_path / "a.db"), settings=Settings.load({})) as longmind:
        mem = longmind.agent("a")
        assert (await mem.dialogue.configuration()).window == 7, "only what the agent chose is stored"
        assert (await mem.dialogue.configuration()).hot == 4.0
        assert (await mem.configuration()).recall_k == 6


async def test_the_defaults_of_the_process_reach_the_cycle(tmp_path: Path) -> None:
    settings = Settings.load({"LONGMIND_DIALOGUE_WINDOW": "2"})
    async with Longmind.open(str(tmp_path / "a.db"), settings=settings) as longmind:
        mem = longmind.agent("a")
        for number in range(5):
            turns = [{"role": "user", "content": f"Line {number}"}, {"role": "assistant", "content": f"Yes {number}"}]
            await mem.remember(turns, session="s")
        await mem.consolidate()
        assert len(await mem.dialogue.short_term()) == 2


@pytest.mark.parametrize(
    ("variable", "value", "what"),
    [("LONGMIND_DIALOGUE_WINDOW", "0", "window"), ("LONGMIND_PERSONA_COLOUR", "red", "colour")],
)
async def test_a_bad_default_is_refused_when_the_store_is_opened(variable: str, value: str, what: str) -> None:
    with pytest.raises(InvalidSetting, match=what) as refused:
        await Longmind.open("memory:", settings=Settings.load({variable: value}))
    assert variable in refused.value.hint


async def test_every_default_can_be_set_by_the_environment() -> None:
    for system in SYSTEMS:
        for name, field in settings_class(system).model_fields.items():
            value = field.get_default(call_default_factory=True)
            if isinstance(value, tuple):
                continue
            settings = Settings.load({variable_of(system, name): str(value).lower()})
            check_defaults(settings.defaults)
            assert set(settings.defaults[system]) == {name}


async def test_the_limits_of_working_memory_have_a_default_for_all_agents(tmp_path: Path) -> None:
    async with Longmind.open(
        str(tmp_path / "a.db"), settings=Settings.load({"LONGMIND_WORKING_ITEMS": "2"})
    ) as longmind:
        working = longmind.agent("a").working
        for number in range(4):
            await working.put(f"item {number}", f"Something else entirely, number {number}")
        assert len(await working.slots()) == 2
        await working.resize(items=3)
        await working.put("more", "A third thing")
    async with Longmind.open(str(tmp_path / "a.db"), settings=Settings.load({})) as longmind:
        context = await longmind.agent("a").working.context("dict")
        assert context["limits"] == {"items": 3, "tokens": 2_000}
