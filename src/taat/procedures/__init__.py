"""The stored procedures of TAAT, the functions that their steps call, and what they learn."""

from taat.procedures.definitions import DRAFT_MESSAGE, EXECUTE_TRADE, MANAGE_ORDERS, PROCEDURES, PROCESS_POST
from taat.procedures.limits import LearntLimits, Limits, install, learnt_limits
from taat.procedures.tools import OrderTools, read_reports

__all__ = [
    "DRAFT_MESSAGE",
    "EXECUTE_TRADE",
    "MANAGE_ORDERS",
    "PROCEDURES",
    "PROCESS_POST",
    "LearntLimits",
    "Limits",
    "OrderTools",
    "install",
    "learnt_limits",
    "read_reports",
]
