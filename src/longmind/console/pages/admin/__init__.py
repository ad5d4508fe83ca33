"""Admin: keys, the tenant and its agents, configuration with its defaults, the audit, and erasure with its receipt."""

from __future__ import annotations

from nicegui import ui

from longmind.console.pages.admin.accesses import build_audit
from longmind.console.pages.admin.configuration import build_configuration
from longmind.console.pages.admin.erasure import build_erasure
from longmind.console.pages.admin.keys import build_keys
from longmind.console.pages.admin.tenant import build_tenant
from longmind.console.parts.panels import title
from longmind.console.view import View

_TABS = {
    "Keys": build_keys,
    "Configuration": build_configuration,
    "Tenant": build_tenant,
    "Audit": build_audit,
    "Erasure": build_erasure,
}


async def build(view: View) -> None:
    """Build the page; ``?tab=`` opens it at one of its parts."""
    title("Admin", f"Who may use the memories of the tenant {view.principal.tenant}, how agents work, and erasure.")
    wanted = (view.query.get("tab") or "").capitalize()
    opened = wanted if wanted in _TABS else "Keys"
    with ui.tabs().classes("lm-tabs").props("align=left no-caps inline-label") as tabs:
        for name in _TABS:
            ui.tab(name)
    with ui.tab_panels(tabs, value=opened, animated=False).classes("lm-wide-panels"):
        for name, build_tab in _TABS.items():
            with ui.tab_panel(name):
                await build_tab(view)
