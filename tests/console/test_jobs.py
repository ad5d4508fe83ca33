"""Job health on the overview, and who may see which tenants there are."""

from __future__ import annotations

import asyncio
import threading

from tests.console.harness import Open, Server

from longmind.types import Scope
from longmind.worker import Jobs


def test_the_overview_tells_how_consolidation_goes(open_page: Open, server: Server) -> None:
    page = open_page("overview")
    health = page.locator(".lm-panel", has=page.get_by_role("heading", name="Jobs", exact=True))
    health.get_by_text("Nobody consolidates by itself").wait_for()
    asking = threading.Thread(target=asyncio.run, args=(_ask(str(server.store)),))  # playwright has a loop here
    asking.start()
    asking.join()
    page.reload()
    health.get_by_text("By workers").wait_for()
    assert "1 job" in health.get_by_text("Waiting", exact=True).locator("xpath=..").inner_text()
    assert "0 agents" in health.get_by_text("Failing").locator("xpath=..").inner_text()


async def _ask(url: str) -> None:
    async with await Jobs.open(url) as jobs:
        await jobs.ask(Scope(agent="waits", all_users=True))


def test_admin_says_who_can_list_tenants(open_page: Open) -> None:
    page = open_page("admin", tab="tenant")
    tenants = page.locator(".lm-panel", has=page.get_by_role("heading", name="Tenants", exact=True))
    tenants.get_by_text("longmind tenants").wait_for()
    assert "No key shows which tenants there are" in tenants.inner_text()
