"""The graph in the browser: a path between two concepts, what held before, and the retraction of a fact."""

from __future__ import annotations

from tests.console.harness import Open, Server


def test_a_path_is_found_and_a_concept_is_looked_at(open_page: Open, server: Server) -> None:
    path = server.memory(user="alice").semantic.path("Marta", "Lisbon")
    page = open_page("graph", user="alice", concept="Alice")
    page.get_by_label("From", exact=True).fill("Marta")
    page.get_by_label("To", exact=True).fill("Lisbon")
    page.get_by_role("button", name="Find the path").click()
    for step in path.steps:
        page.locator(".lm-steps").get_by_text(str(step.fact)).wait_for()
    page.get_by_role("button", name="more").click()
    before = page.locator(".lm-facts > li", has_text="Alice lives in Porto")
    before.wait_for()
    assert before.get_by_text("ended").count() == 1
    page.get_by_label("Name of a concept").fill("Ines")
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator(".lm-facts").get_by_text("Ines diet vegetarian").wait_for()


def test_a_fact_is_retracted(open_page: Open, server: Server) -> None:
    page = open_page("graph", user="alice", concept="Dr. Lima")
    page.get_by_role("button", name="Retract: Rex treated by Dr. Lima").click()
    page.get_by_role("button", name="Retract", exact=True).click()
    page.get_by_text("Retracted.").wait_for()
    (fact,) = server.memory(user="alice").semantic.history("Rex", "treated by")
    assert fact.retracted
