"""``longmind models`` tells what is configured and whether it answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from longmind.cli.models import models

app = typer.Typer()
app.command()(models)


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LONGMIND_MODEL", "LONGMIND_MODEL_KEY", "LONGMIND_EMBEDDER", "OPENAI_API_KEY", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")


def run(*words: str, code: int = 0, **env: str) -> Result:
    result = CliRunner().invoke(app, words, env=env, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def test_with_nothing_configured_the_embedder_answers_and_no_model_is_no_fault() -> None:
    told = run().stdout
    assert "static" in told
    assert "answers" in told
    assert "No language model is configured" in told


def test_the_configured_model_is_tried_with_one_call(server: Any, key: str) -> None:
    env = {"LONGMIND_MODEL": f"{server.address}/v1?price=1/10#alpha", "LONGMIND_MODEL_KEY": key}
    told = json.loads(run("--json", **env).stdout)
    assert told["ok"] is True
    embedder, chat = told["models"]
    assert (embedder["use"], embedder["ok"], embedder["told"]) == ("embedder", True, "256 numbers a vector")
    assert (chat["use"], chat["ok"], chat["offers"]) == ("chat", True, ["alpha", "zeta"])
    assert (chat["input_tokens"], chat["output_tokens"]) == (11, 7)
    assert chat["cost"] == pytest.approx(81e-6)
    assert [path for path, _, _ in server.seen] == ["/v1/chat/completions"]
    shown = run("--offers", **env).stdout
    assert "test-model-2026" in shown
    assert "alpha, zeta" in shown
    assert key not in shown


def test_models_to_try_are_named_and_one_that_fails_is_told(server: Any) -> None:
    server.plan("Paris.", server.status(404))
    specs = [f"{server.address}/v1#alpha", f"anthropic+{server.address}#beta", "gemini://gamma"]
    told = json.loads(run(*specs, "--json", code=1).stdout)
    assert [(one["model"], one["ok"]) for one in told["models"]] == [
        (specs[0], True),
        (specs[1], False),
        (specs[2], False),
    ]
    assert "404" in told["models"][1]["told"]
    shown = run("gemini://gamma", code=1).stdout
    assert "fails" in shown
    assert "gemini" in shown
    assert "try: " in shown


@pytest.mark.parametrize(("status", "why"), [(403, "status 403"), (404, "status 404"), (500, "status 500")])
def test_a_server_that_does_not_tell_its_models_is_said_to_and_why(
    server: Any, key: str, status: int, why: str
) -> None:
    server.listing = status
    env = {"LONGMIND_MODEL": f"{server.address}/v1#alpha", "LONGMIND_MODEL_KEY": key}
    chat = json.loads(run("--json", **env).stdout)["models"][1]
    assert (chat["ok"], chat["offers"]) == (True, [])
    assert why in chat["unlisted"]
    shown = run("--offers", **env).output
    assert "does not tell which models it has" in shown
    assert key not in shown + chat["unlisted"]


def test_a_password_in_the_address_is_not_shown() -> None:
    assert "s3cret" not in run("http://me:s3cret@localhost/v1#m", code=1).output


def test_the_embedder_may_be_switched_off() -> None:
    assert "switched off" in run(LONGMIND_EMBEDDER="none").stdout
