"""The page Procedures: a procedure is rolled back, run, and its run refused, and the store says so."""

from __future__ import annotations

from typing import Any

from tests.console.harness import Open, Server


def procedural(server: Server) -> Any:
    return server.memory().procedural


def test_a_procedure_shows_its_steps_versions_and_trial(open_page: Open) -> None:
    page = open_page("procedures", procedure="reserve_a_seat")
    assert page.locator(".lm-flow > li").count() == 3
    assert page.get_by_text("needs approval", exact=True).count() == 1
    assert page.get_by_role("img", name="Version 1: 1 of 4 succeeded; between 8% and 66%").count() == 1
    assert page.locator(".lm-lines-added").count() >= 1
    assert page.get_by_role("heading", name="On trial").count() == 1


def test_a_procedure_is_run_and_its_step_refused(open_page: Open, server: Server) -> None:
    page = open_page("procedures", procedure="reserve_a_seat")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_label("city").fill("Coimbra")
    page.get_by_role("button", name="Run now").click()
    page.get_by_text("The run is waiting.").wait_for()
    run = next(run for run in procedural(server).runs("reserve_a_seat").items if run.params["city"] == "Coimbra")
    assert run.status == "waiting"
    page.get_by_role("button", name="Refuse").first.click()
    page.get_by_text("The run failed.").wait_for()
    assert procedural(server).run(run.id).status == "failed"


def test_a_run_is_resumed_and_another_cancelled(open_page: Open, server: Server) -> None:
    begun, dropped = (procedural(server).execute("reserve_a_seat", {"city": city}) for city in ("Faro", "Braga"))
    approved = procedural(server).approve(begun.id, approved=True, resume=False)
    assert approved.status == "interrupted"
    page = open_page("procedures", procedure="reserve_a_seat")
    page.locator("tr", has_text="interrupted").get_by_role("button", name="Resume").click()
    page.get_by_text("The run succeeded.").wait_for()
    assert procedural(server).run(begun.id).result == "sent: IC 521 to Faro, seat 61"
    page.locator("tr", has_text="Braga").get_by_role("button", name="Cancel").click()
    page.get_by_text("The run was cancelled.").wait_for()
    assert procedural(server).run(dropped.id).status == "cancelled"
    page.locator("tr", has_text="cancelled").first.wait_for()


def test_a_procedure_is_rolled_back(open_page: Open, server: Server) -> None:
    page = open_page("procedures", procedure="reserve_a_seat")
    page.get_by_role("button", name="Roll back").click()
    page.get_by_label("Why (optional)").fill("the old one was kinder")
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    page.get_by_text("Version 1 is in use.").wait_for()
    assert procedural(server).retrieve("reserve_a_seat").number == 1
    procedural(server).rollback("reserve_a_seat", 2)


def test_an_agent_without_procedures_says_how_to_store_one(open_page: Open) -> None:
    page = open_page("procedures", agent="nobody")
    assert page.get_by_text("procedural.store").count() == 1
