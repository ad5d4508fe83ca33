"""Who may see the console: keys, sessions, other sites, and headers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.console.harness import PATIENCE_MS, Server, Watch, serving
from tests.console.test_pages import barriers

from longmind.console.sessions import COOKIE, LIFETIME_SECONDS, Sessions
from longmind.console.sign_in import local_path


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Keys of a store: one for everything, one that reads a single agent."""
    store = tmp_path_factory.mktemp("keys") / "memory.db"

    def create(name: str, *options: str) -> str:
        command = [sys.executable, "-m", "longmind.cli", "keys", "create", name, *options, "--url", str(store)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return next(word for word in printed.split() if word.startswith("lm_"))

    return {
        "store": str(store),
        "admin": create("admin", "--permission", "admin"),
        "reader": create("reader", "--permission", "read", "--agent", "helper"),
    }


@pytest.fixture(scope="module")
def guarded(keys: dict[str, str]) -> Iterator[Server]:
    """A server that asks for keys, on a store without memories."""
    with serving(Path(keys["store"])) as running:
        yield running


get = partial(httpx2.get, timeout=PATIENCE_MS / 1000)


def post(address: str, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
    return httpx2.post(
        f"{address}{path}", data=fields, headers=headers, follow_redirects=False, timeout=PATIENCE_MS / 1000
    )


def test_without_a_session_every_page_leads_to_the_sign_in(guarded: Server) -> None:
    response = get(f"{guarded.address}/?agent=x", follow_redirects=False)
    assert response.status_code == 303
    assert response.headers["location"] == "/sign-in?next=%2F%3Fagent%3Dx"


def test_a_wrong_key_is_refused_in_words(guarded: Server) -> None:
    response = post(guarded.address, "/sign-in", {"key": "nonsense"}, Origin=guarded.address)
    assert response.status_code == 401
    assert 'role="alert"' in response.text
    assert "nonsense" not in response.text
    assert "set-cookie" not in response.headers


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(guarded: Server, keys: dict[str, str]) -> None:
    response = post(guarded.address, "/sign-in", {"key": keys["admin"]}, Origin=guarded.address)
    cookie = response.headers["set-cookie"]
    assert response.status_code == 303
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.replace("; ", ";").split(";"))
    assert keys["admin"] not in cookie


@pytest.mark.parametrize("origin", ["https://evil.example", "null", None])
def test_another_site_cannot_sign_in_or_out(guarded: Server, keys: dict[str, str], origin: str | None) -> None:
    headers = {"Origin": origin} if origin else {}
    assert post(guarded.address, "/sign-in", {"key": keys["admin"]}, **headers).status_code == 403
    assert post(guarded.address, "/sign-out", {}, **headers).status_code == 403


def upgrade(server: Server, origin: str | None) -> int:
    """Return the status with which a websocket is answered."""
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    if origin is not None:
        headers["Origin"] = origin
    url = f"{server.address}/_nicegui_ws/socket.io/?EIO=4&transport=websocket&client_id=x&implicit_handshake=true"
    with httpx2.stream("GET", url, headers=headers, timeout=PATIENCE_MS / 1000) as response:
        return response.status_code


def test_a_websocket_needs_the_origin_of_the_server(server: Server) -> None:
    assert upgrade(server, server.address) == 101
    assert upgrade(server, "https://evil.example") == 403
    assert upgrade(server, None) == 403


def test_a_websocket_needs_a_session(guarded: Server) -> None:
    assert upgrade(guarded, guarded.address) == 403


def test_a_page_by_another_name_of_this_machine_is_refused(server: Server) -> None:
    assert get(server.address, headers={"Host": "rebound.example"}).status_code == 403


def test_what_is_not_the_consoles_stays_the_servers(server: Server) -> None:
    for path in ("/v1/nothing", "/nothing", "/v1"):
        answer = get(server.address + path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json"), path
    assert httpx2.put(server.address + "/v1/agents", timeout=PATIENCE_MS / 1000).status_code == 405
    assert get(server.address + "/healthz").json() == {"status": "ok"}


def test_the_headers_of_a_page(server: Server) -> None:
    first, second = (get(server.address) for _ in range(2))
    policy = first.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.partition("style-src")[0]
    assert policy != second.headers["content-security-policy"], "the nonce is new each time"
    assert first.headers["x-frame-options"] == "DENY"
    assert first.headers["referrer-policy"] == "same-origin"
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert first.text.count("<script") == first.text.count(f'<script nonce="{nonce}"') > 0


def test_signing_in_and_out_in_the_browser(guarded: Server, keys: dict[str, str], browser: Any) -> None:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    watch = Watch(guarded.address.removeprefix("http://"))
    watch.follow(page)
    page.goto(guarded.address)
    page.get_by_label("API key").fill(keys["admin"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Nothing is remembered yet").wait_for()
    assert keys["admin"] not in page.url
    assert keys["admin"] not in page.content()
    assert COOKIE not in page.evaluate("document.cookie")
    page.wait_for_function("window.did_handshake === true")
    page.get_by_label("Sign out").click()
    page.get_by_role("heading", name="Sign in to Longmind").wait_for()
    context.close()
    assert watch.problems == []


def test_the_audit_lists_accesses_and_filters_them(guarded: Server, keys: dict[str, str], browser: Any) -> None:
    with httpx2.Client(base_url=f"{guarded.address}/v1", timeout=PATIENCE_MS / 1000) as client:
        for name, status in (("admin", 200), ("reader", 403)):
            answer = client.get("/keys", headers={"Authorization": f"Bearer {keys[name]}"})
            assert answer.status_code == status
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    watch = Watch(guarded.address.removeprefix("http://"))
    watch.follow(page)
    page.goto(f"{guarded.address}/admin?tab=audit")
    page.get_by_label("API key").fill(keys["admin"])
    page.get_by_role("button", name="Sign in").click()
    table = page.get_by_role("table", name="accesses")
    refused = table.locator("tbody tr", has_text="403").first
    refused.wait_for()
    assert "keys.list" in refused.inner_text()
    assert "127.0.0.1" in refused.inner_text()
    assert table.locator("tbody tr").count() > 2
    assert barriers(page) == []
    page.get_by_label("Operation, such as recall.recall").fill("keys.list")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => [...document.querySelectorAll('[aria-label=accesses] tbody tr')]"
        ".every(e => e.innerText.includes('keys.list'))"
    )
    assert table.locator("tbody tr").count() >= 2
    context.close()
    assert watch.problems == []


def test_a_key_shows_only_what_it_reaches(guarded: Server, keys: dict[str, str]) -> None:
    with httpx2.Client(base_url=guarded.address, timeout=PATIENCE_MS / 1000) as client:
        client.post("/sign-in", data={"key": keys["reader"]}, headers={"Origin": guarded.address})
        assert "helper" in client.get("/").text
        refused = client.get("/", params={"agent": "other"}).text
        assert '"other"' not in refused


def test_a_session_ends() -> None:
    now = 0.0
    sessions = Sessions(lambda: now)
    id = sessions.sign_in("key")
    session = sessions.get(id)
    assert session is not None
    now = LIFETIME_SECONDS
    assert sessions.get(id) is None
    assert session.signed_out
    assert session.key is None


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "/a\nb"])
def test_the_sign_in_leads_nowhere_else(target: str) -> None:
    assert local_path(target) == "/"
    assert local_path("/explorer?id=1") == "/explorer?id=1"
