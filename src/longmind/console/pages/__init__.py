"""The pages of the console, one file each.

To add a page:

1. Write ``pages/NAME.py`` with ``async def build(view: View) -> None``. It is called inside the page's frame, for each
   load, and builds its content from ``longmind.console.parts``. ``view.memory`` is what the chosen agent knows (an
   ``AgentMemory`` whose calls are requests with the key of who looks); ``view.longmind`` is the whole tenant. Errors of
   Longmind need not be caught: the frame shows them in words, and those of event handlers as a notice.
2. Add a row to ``PAGES``. Its name is that of the module.
3. Add its name to ``tests/console/test_pages.py``: it is then opened with data and empty, in both themes and at two
   widths, and checked with axe.

Text of memories is shown with ``parts.elements.text`` and nothing else. Arguments of ``props``, ``classes``, ``style``
and ``run_javascript`` are constants; ``parts.elements.attributes`` and ``sized`` set the rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from longmind.security import Permission

if TYPE_CHECKING:
    from longmind.console.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: where it is, how it is named, and who may see it."""

    name: str
    """The name of its module."""
    path: str
    title: str
    icon: str
    """A Material icon."""
    key: str
    """The letter that goes to it after ``g``."""
    group: str
    """The heading under which it stands in the navigation."""
    permission: Permission = "read"
    needs_agent: bool = True
    """Whether it shows one agent. Without any agent the frame says how to make one."""
    module: str | None = None
    """Where ``build`` is, for a page of an application that is built on Longmind."""
    episode: str | None = None
    """The type of episode that an agent must have for the page to be in the navigation; None: it always is."""

    @property
    def build(self) -> Callable[[View], Awaitable[None]]:
        """The function that builds its content."""
        build: Callable[[View], Awaitable[None]] = import_module(self.module or f"{__name__}.{self.name}").build
        return build


PAGES = (
    Page(name="overview", path="/", title="Overview", icon="space_dashboard", key="o", group="Look"),
    Page(name="explorer", path="/explorer", title="Explorer", icon="search", key="e", group="Look"),
    Page(name="timeline", path="/timeline", title="Timeline", icon="timeline", key="t", group="Memory"),
    Page(name="graph", path="/graph", title="Graph", icon="hub", key="n", group="Memory"),
    Page(name="dialogue", path="/dialogue", title="Dialogue", icon="chat_bubble_outline", key="d", group="Memory"),
    Page(name="working", path="/working", title="Working memory", icon="psychology", key="w", group="Memory"),
    Page(name="playground", path="/playground", title="Playground", icon="forum", key="p", group="Work"),
    Page(
        name="admin",
        path="/admin",
        title="Admin",
        icon="admin_panel_settings",
        key="a",
        group="Manage",
        permission="admin",
        needs_agent=False,
    ),
    Page(name="procedures", path="/procedures", title="Procedures", icon="account_tree", key="r", group="Work"),
    Page(
        name="trading",
        path="/trading",
        title="Trading",
        icon="candlestick_chart",
        key="x",
        group="Work",
        module="taat.trading_page",
        episode="announcer",
    ),
    Page(name="goals", path="/goals", title="Goals", icon="flag", key="l", group="Work"),
    Page(name="consolidation", path="/consolidation", title="Consolidation", icon="merge", key="c", group="Work"),
)
"""Every page, in the order of the navigation."""
GROUPS = ("Look", "Memory", "Work", "Manage")
"""The headings of the navigation, in their order."""
