"""Two hundred hostile memories in the browser: no script of theirs runs, no request leaves, no dialog opens."""

from __future__ import annotations

from typing import Any

import pytest
from tests.console.harness import Open, Server
from tests.console.hostile import HOSTILE

from longmind.console.pages import PAGES
from longmind.types import Document

_AGENT = "attacked"
_HARMED = "window.harmed === undefined && Object.prototype.harmed === undefined"
_WITHOUT_TEXT = {"playground", "admin", "consolidation"}
"""Pages that show no memory before something is pressed."""
_ELEMENTS = "iframe, object, embed, base, video, details, form:not([action='/sign-out']), meta[http-equiv], main script"


def _short(text: str) -> str:
    """Return the beginning of a text, as a name can be."""
    return " ".join(text.split())[:120].strip()


@pytest.fixture(scope="module")
def attacked(server: Server) -> dict[str, str]:
    """Store every attack as what was said, and some in each other place that a page shows; return ids by text."""
    memory = server.memory(_AGENT, "<img src=x onerror=window.harmed=1>")
    stored = memory.remember(
        [{"role": "user", "content": text, "name": _short(text)[:60].strip()} for text in HOSTILE], session="s"
    )
    for number, text in enumerate(HOSTILE[:40]):
        short = _short(text)
        memory.semantic.learn(short, "says", short)
        memory.remember(Document(content=text, title=short, uri=f"javascript:window.harmed={number}"))
    for text in HOSTILE[:20]:
        short = _short(text)
        memory.goals.create(short, criteria=[short])
        with memory.episodic.episode(short) as episode:
            episode.record(short)
        memory.working.put(short[:60].replace("/", "_") or "x", text[:500])
    for text in HOSTILE[:8]:
        memory.dialogue.add(text, text, session="said")
    memory.procedural.store(
        {
            "name": "attack",
            "purpose": HOSTILE[0],
            "category": HOSTILE[2],
            "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": HOSTILE[3]}}},
            "steps": [{"name": "search", "use": "find_trains", "args": {"city": HOSTILE[1]}}],
        },
        why=HOSTILE[7],
    )
    memory.procedural.execute("attack", {"city": HOSTILE[4]})
    assert server.longmind is not None
    announced = server.longmind.agent(_AGENT).episodic
    with announced.episode(_short(HOSTILE[0]), type="announcer_day") as episode:
        for number, text in enumerate(HOSTILE[:8]):
            post = {"id": str(number), "author": _short(text), "text": text, "created_at": "2026-03-04T15:05:00Z"}
            episode.record(_short(text), type="post", data={"record": post})
    memory.update(stored[0].id, tags=["<b>", "{{ harmed=1 }}"], reason="<script>window.harmed=1</script>")
    return {memory.content: memory.id for memory in stored}


def unharmed(page: Any) -> None:
    """Check that a page is only what the console built."""
    assert page.evaluate(_HARMED)
    assert page.locator(_ELEMENTS).count() == 0
    assert page.locator("main img").count() == 0


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_every_page_shows_them_as_text(open_page: Open, attacked: dict[str, str], name: str) -> None:
    page = open_page(name, agent=_AGENT)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    unharmed(page)
    if name not in _WITHOUT_TEXT:
        assert "harmed" in page.locator("main.lm").inner_text()


def test_all_two_hundred_in_the_list_and_in_a_sheet(open_page: Open, attacked: dict[str, str]) -> None:
    assert len(attacked) == len(set(HOSTILE)) == 200
    page = open_page("explorer", agent=_AGENT)
    page.get_by_label("Kinds").click()
    page.get_by_role("option", name="message", exact=True).click()
    page.keyboard.press("Escape")
    page.wait_for_function(
        "() => [...document.querySelectorAll('tbody .lm-kind')].every(e => e.innerText === 'message')"
    )
    seen = 0
    for number in range(1, 8):
        page.get_by_text(f"Page {number}", exact=True).wait_for()
        seen += page.locator("tbody tr").count()
        unharmed(page)
        if number < 7:
            page.get_by_role("button", name="Next").click()
    assert seen == 200
    page.keyboard.press("Escape")


@pytest.mark.parametrize("place", [0, 4, 7, 38])
def test_a_sheet_shows_the_words_as_they_are(open_page: Open, attacked: dict[str, str], place: int) -> None:
    page = open_page("explorer", agent=_AGENT, id=attacked[HOSTILE[place]])
    shown = page.locator(".lm-said")
    shown.wait_for()
    assert shown.text_content().startswith(HOSTILE[place][:10_000])
    unharmed(page)


def test_a_search_and_its_reasons(open_page: Open, attacked: dict[str, str]) -> None:
    page = open_page("explorer", agent=_AGENT, q="<script>window.harmed=1</script> {{ harmed }} press me")
    page.locator(".lm-hit").first.wait_for()
    unharmed(page)


def test_a_conversation_and_its_context(open_page: Open, attacked: dict[str, str]) -> None:
    page = open_page("playground", agent=_AGENT, user="<img src=x onerror=window.harmed=1>", session="s2")
    page.get_by_label("Message", exact=True).fill("<img src=x onerror=window.harmed=1> {{ harmed }}")
    page.keyboard.press("Enter")
    page.locator(".lm-chat-note").first.wait_for()
    unharmed(page)
