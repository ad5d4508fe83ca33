"""Admin: keys, configuration, and erasure, with their effect in the store."""

from __future__ import annotations

from typing import Any

import httpx2
from tests.console.harness import Open, Server


def key_names(server: Server) -> dict[str, Any]:
    keys = httpx2.get(f"{server.address}/v1/keys").json()["items"]
    return {key["name"]: key for key in keys}


def test_a_key_is_made_shown_once_and_revoked(open_page: Open, server: Server) -> None:
    page = open_page("admin")
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_role("button", name="Make the key").click()
    shown = page.locator("[data-new-key]")
    shown.wait_for()
    assert shown.inner_text().startswith("lm_")
    assert shown.inner_text() not in page.url
    page.get_by_role("button", name="I kept it").click()
    page.get_by_role("button", name="Revoke laptop").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Revoke").click()
    page.locator("tr", has_text="laptop").get_by_text("revoked").wait_for()
    assert key_names(server)["laptop"]["revoked_at"] is not None
    assert key_names(server)["laptop"]["permissions"] == ["read"]


def test_a_setting_is_changed_beside_its_default(open_page: Open, server: Server) -> None:
    page = open_page("admin", tab="configuration")
    field = page.get_by_label("Recall k", exact=True)
    field.fill("7")
    field.blur()
    page.get_by_role("button", name="Save").click()
    page.locator(".lm-setting", has_text="Recall k").get_by_text("changed").wait_for()
    assert server.memory().configuration().recall_k == 7
    page.get_by_role("button", name="Set everything to its default").click()
    page.wait_for_function("!document.querySelector('.lm-settings').innerText.includes('changed')")
    assert server.memory().configuration().recall_k == 10


def test_a_setting_that_is_not_usable_is_refused_in_words(open_page: Open, server: Server) -> None:
    page = open_page("admin", tab="configuration")
    field = page.get_by_label("Recall k", exact=True)
    field.fill("0")
    field.blur()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("recall_k").wait_for()
    assert server.memory().configuration().recall_k == 10


def test_a_user_is_erased_with_a_receipt_that_can_be_checked(open_page: Open, server: Server) -> None:
    stored = server.memory(user="carol").remember("My locker code is tangerine.")
    page = open_page("admin", tab="erasure")
    page.get_by_label("Name", exact=True).fill("carol")
    page.get_by_role("button", name="Erase", exact=True).click()
    dialog = page.get_by_role("alertdialog")
    final = dialog.get_by_role("button", name="Erase for good")
    assert final.is_disabled()
    dialog.get_by_label("Type carol to go on").fill("carol")
    final.click()
    page.get_by_role("heading", name="Receipt", exact=True).wait_for()
    assert server.memory().get(stored.id) is None
    assert "tangerine" not in str([change.model_dump() for change in server.memory().history(stored.id)])
    page.get_by_role("button", name="Check now").click()
    page.get_by_text("Nothing of this erasure is in the store.").wait_for()
    assert "tangerine" not in page.locator(".lm-receipt").inner_text()


def test_the_tenant_lists_its_agents(open_page: Open) -> None:
    page = open_page("admin", tab="tenant")
    row = page.get_by_role("table", name="agents").locator("tbody tr", has_text="assistant")
    row.wait_for()


def test_without_keys_the_audit_says_what_to_do(open_page: Open) -> None:
    page = open_page("admin", tab="audit")
    page.get_by_text("No access was noted").wait_for()
