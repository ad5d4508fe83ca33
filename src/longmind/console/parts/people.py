"""Whose memory a page shows that is about one user: the chosen one, or else the first."""

from __future__ import annotations

from longmind.agent_memory import AgentMemory
from longmind.console.parts.elements import attributes, box, link, text
from longmind.console.view import View


def person_of(view: View) -> tuple[AgentMemory, str | None]:
    """Return what the agent knows with the chosen user and who that is; for everyone it is the first user."""
    assert view.agent is not None
    user = view.user if not view.everyone else next(iter(view.users), None)
    return view.longmind.agent(view.agent, user), user


def choose_person(view: View, user: str | None) -> None:
    """Show whose memory it is, with links to the others where everyone was chosen."""
    if not view.everyone or len(view.users) < 2:
        return
    with attributes(box("nav", "lm-people"), aria_label="User of this page"):
        for name in view.users[:12]:
            anchor = link(name, view.link(view.path, user=name), "lm-person")
            if name == user:
                attributes(anchor, aria_current="true")
        if len(view.users) > 12:
            text(f"and {len(view.users) - 12:,} more above", "lm-note")
