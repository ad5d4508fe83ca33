"""A key goes into one header, and nowhere else."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from longmind.errors import InvalidSetting, LongmindError
from longmind.models.chat_model import ChatModel
from longmind.models.chat_open import open_chat

Open = Callable[..., ChatModel]


async def test_only_what_is_needed_is_sent(
    opened: Open, server: Any, key: str, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "another-secret")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Inner: another-secret\nAuthorization: another-secret\nX-Api-Key: another-secret")
    await opened().complete("Hello?")
    _, headers, body = server.seen[0]
    assert "another-secret" not in json.dumps(headers) + json.dumps(body)
    told = {"authorization": f"Bearer {key}"} if protocol == "openai" else {"x-api-key": key}
    assert told.items() <= headers.items()
    extra = {"anthropic-version"} if protocol == "anthropic" else set()
    assert set(headers) == {
        "host", "connection", "content-length", "content-type", "accept", "user-agent", "accept-encoding", *told, *extra
    }  # fmt: skip
    assert headers["user-agent"] == "longmind"


async def test_what_stays_on_this_machine_is_shown_to_no_proxy(
    opened: Open, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert (await opened().complete("Hello?")).text == "Hello there."


async def test_without_a_key_none_is_sent(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another-secret")
    chat = open_chat(f"{server.address}/v1#m")
    await chat.complete("Hello?")
    await chat.close()
    assert "authorization" not in server.seen[0][1]


async def test_a_key_is_in_no_log_error_or_repr(
    opened: Open, server: Any, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    chat = opened()
    echo = json.dumps({"error": f"your key is {key}", "choices": key, "content": key}).encode()
    server.plan(
        server.status(401),
        server.status(400, {"error": {"message": key, "type": key, "code": key, "param": key}}),
        server.status(404, {"error": key}),
        *[server.status(500)] * 4,
        server.raw(echo),
        server.raw(key.encode(), "text/plain"),
    )
    told = repr(chat) + repr(chat.provider) + str(vars(chat.provider))
    for _ in range(6):
        with pytest.raises(LongmindError) as caught:
            await chat.complete("Hello?")
        error = caught.value
        told += str(error) + repr(error) + json.dumps(error.as_dict()) + "".join(traceback.format_exception(error))
    assert len(server.seen) == 9
    assert key not in told
    assert key not in caplog.text


@pytest.mark.parametrize("bad", ["two words", "line\nbreak", "", "ключ"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(bad: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        open_chat("openai://gpt", api_key=SecretStr(bad))
    assert not bad or bad not in str(caught.value)


@pytest.mark.parametrize("spec", ["http://user:s3cret@host/v1#m", "https://s3cret@host/v1#m", "http://[s3cret#m"])
def test_a_password_in_the_address_is_refused_without_being_shown(spec: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        open_chat(spec)
    assert "s3cret" not in str(caught.value) + repr(caught.value.as_dict())
