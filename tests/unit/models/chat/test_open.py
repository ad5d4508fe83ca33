"""From a URL to a model."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from longmind.config import Settings
from longmind.errors import InvalidSetting, ModelMissing
from longmind.models.chat_model import ChatModel, Prices
from longmind.models.chat_open import chat_from, open_chat


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.v1.gguf"
    path.write_bytes(b"GGUF and nothing more")
    return path


def line(chat: ChatModel) -> tuple[float, float, int]:
    retry_policy: Any = chat._caller.retry_policy
    return retry_policy.timeout, retry_policy.deadline, retry_policy.concurrency


@pytest.mark.parametrize(
    ("spec", "name", "address"),
    [
        ("openai://gpt-5-mini", "openai/gpt-5-mini", "api.openai.com"),
        ("anthropic://claude-x", "anthropic/claude-x", "api.anthropic.com"),
        ("http://localhost:11434/v1#llama3.2:1b", "openai/llama3.2:1b", "localhost:11434"),
        ("https://host/api/v1/?timeout=5#org/model", "openai/org/model", "host"),
        ("anthropic+http://127.0.0.1:8080#m", "anthropic/m", "127.0.0.1:8080"),
    ],
)
def test_each_kind(spec: str, name: str, address: str) -> None:
    chat = open_chat(spec, api_key="k")
    assert (chat.name, chat.provider.address) == (name, address)


def test_a_file(gguf: Path) -> None:
    chat = open_chat(f"llamacpp:{gguf}?threads=2&context=512")
    assert (chat.name, line(chat), chat._prices) == ("llamacpp/tiny.v1", (300.0, 900.0, 1), Prices(0.0, 0.0))


def test_options() -> None:
    chat = open_chat("openai://m?timeout=7.5&concurrency=9&price=1/2/0.5&cache=10", api_key="k")
    assert line(chat) == (7.5, 22.5, 9)
    assert chat._prices == Prices(1.0, 2.0, 0.5)
    assert chat._cache is not None
    assert open_chat("openai://m", api_key="k")._cache is None


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("gpt-5", "URL"),
        ("", "URL"),
        ("gemini://x", "gemini"),
        ("openai://", "which model"),
        ("http://localhost/v1", "which model"),
        ("http://localhost/v1#", "which model"),
        ("ftp://localhost/v1#m", "ftp"),
        ("http://#m", "address"),
        ("openai://m?speed=3", "speed"),
        ("openai://m?timeout=0", "timeout"),
        ("openai://m?timeout=soon", "timeout"),
        ("openai://m?concurrency=1.5", "concurrency"),
        ("openai://m?price=3", "price"),
        ("openai://m?price=-1/2", "price"),
        ("openai://m?timeout=nan", "timeout"),
        ("llamacpp:nowhere.gguf", "nowhere.gguf"),
        (f"llamacpp:{__file__}", "not a GGUF"),
    ],
)
def test_what_is_wrong_is_said_when_it_is_opened(spec: str, told: str) -> None:
    with pytest.raises(InvalidSetting, match=told) as caught:
        open_chat(spec, api_key="k")
    assert caught.value.hint


def test_a_providers_own_key_is_for_that_provider_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidSetting, match="no key for openai") as caught:
        open_chat("openai://m")
    assert "OPENAI_API_KEY" in caught.value.hint
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    providers: list[Any] = [open_chat(spec).provider for spec in ("openai://m", "http://localhost/v1#m")]
    assert [provider._wire.key is None for provider in providers] == [False, True]
    with pytest.raises(InvalidSetting, match="no key for anthropic"):
        open_chat("anthropic://m")


def test_the_settings_name_a_model_or_none() -> None:
    assert chat_from(Settings.load({})) is None
    chat = chat_from(Settings.load({"LONGMIND_MODEL": "openai://m", "LONGMIND_MODEL_KEY": "k"}))
    assert chat is not None
    assert chat.name == "openai/m"


@pytest.mark.parametrize(
    ("package", "spec", "extra"),
    [("openai", "openai://m", "openai"), ("anthropic", "anthropic://m", "anthropic"), ("xllamacpp", "", "llamacpp")],
)
def test_what_is_not_installed_is_said(
    package: str, spec: str, extra: str, gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else real(name, *rest))
    with pytest.raises(ModelMissing, match=package) as caught:
        open_chat(spec or f"llamacpp:{gguf}", api_key="k")
    assert f"longmind[{extra}]" in caught.value.hint


QUIET = """
import sys

def heard(event, given):
    if event.startswith("socket.") and event != "socket.__new__":
        raise RuntimeError(f"the network was used: {event} {given!r}")

sys.addaudithook(heard)
from longmind.models.chat_open import open_chat
import longmind.models.chat_openai, longmind.models.chat_anthropic, longmind.models.chat_llamacpp
import longmind.testing
for spec in ("openai://m", "anthropic://m", "http://localhost:1/v1#m"):
    open_chat(spec, api_key="k")
print(sorted({"openai", "anthropic", "xllamacpp", "httpx2", "json_repair", "opentelemetry"} & set(sys.modules)))
"""


def test_opening_a_model_loads_no_package_and_uses_no_network() -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("LONGMIND_")}
    done = subprocess.run([sys.executable, "-c", QUIET], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
