"""What the trading brought, for people: figures in the terminal, and a page with charts."""

from taat.reports.html import html_report
from taat.reports.json_form import json_value, position_json, report_json, trip_json
from taat.reports.report import Report, announced_fills, build_report
from taat.reports.tables import draw, figures_table, positions_table, rows_table, summary_lines, trades_table

__all__ = [
    "Report",
    "announced_fills",
    "build_report",
    "draw",
    "figures_table",
    "html_report",
    "json_value",
    "position_json",
    "positions_table",
    "report_json",
    "rows_table",
    "summary_lines",
    "trades_table",
    "trip_json",
]
