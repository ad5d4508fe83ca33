"""Charts in the console's colours.

They are drawn as SVG, so that colours can be the palette's variables and follow the theme. Tooltips are drawn too and
are no HTML. Keys of options are constants: the browser evaluates options whose key begins with a colon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from longmind.console.parts.elements import attributes

FONT = 'Inter, "Segoe UI", Roboto, system-ui, sans-serif'
_AXIS = {
    "axisLine": {"lineStyle": {"color": "var(--line-strong)"}},
    "axisTick": {"show": False},
    "axisLabel": {"color": "var(--muted)", "fontSize": 12},
    "splitLine": {"lineStyle": {"color": "var(--line)"}},
    "nameTextStyle": {"color": "var(--muted)"},
}


def axis(type: str, **more: Any) -> dict[str, Any]:
    """Return the options of an axis: ``category``, ``value`` or ``time``."""
    return {"type": type, **_AXIS, **more}


def options(**more: Any) -> dict[str, Any]:
    """Return the options of a chart, with the fonts and colours of the console."""
    return {
        "animation": False,
        "textStyle": {"fontFamily": FONT, "color": "var(--ink)"},
        "grid": {"left": 8, "right": 8, "top": 16, "bottom": 8, "containLabel": True},
        "tooltip": tooltip(),
        **more,
    }


def tooltip(**more: Any) -> dict[str, Any]:
    """Return the options of a tooltip that is drawn, not written as HTML."""
    return {
        "renderMode": "richText",
        "confine": True,
        "backgroundColor": "var(--surface)",
        "borderColor": "var(--line)",
        "textStyle": {"color": "var(--ink)", "fontSize": 13},
        "shadowBlur": 0,
        **more,
    }


def stacked_over_time(
    days: Sequence[str], series: Mapping[str, Sequence[float]], colours: Mapping[str, str]
) -> dict[str, Any]:
    """Return a chart of bars over days, one colour a series."""
    return options(
        tooltip=tooltip(trigger="axis", axisPointer={"type": "shadow", "shadowStyle": {"color": "var(--sunken)"}}),
        xAxis=axis("category", data=list(days), splitLine={"show": False}),
        yAxis=axis("value", minInterval=1, axisLine={"show": False}),
        series=[
            {
                "name": name,
                "type": "bar",
                "stack": "all",
                "data": list(values),
                "barMaxWidth": 28,
                "itemStyle": {"color": colours[name]},
                "emphasis": {"disabled": True},
            }
            for name, values in series.items()
        ],
    )


def chart(chart_options: dict[str, Any], label: str) -> ui.echart:
    """Show a chart; ``label`` says what it shows to those who cannot see it."""
    shown = ui.echart(chart_options, renderer="svg").classes("lm-chart")
    attributes(shown, role="img", aria_label=label)
    return shown
