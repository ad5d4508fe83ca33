"""Judging a signal: all rules are asked, and the strictest answer counts."""

from taat.models import Signal
from taat.validation.checks import CHECKS, Case, size
from taat.validation.situation import ZERO, Situation
from taat.validation.verdict import Outcome, Verdict


def validate(signal: Signal, situation: Situation) -> Verdict:
    """Return whether a signal is followed, with one entry for each rule and the size allowed.

    It does no I/O and reads no clock. Rules that protect from opening say of a signal that leaves or protects a
    position that they do not apply, so such a signal is refused only when nothing is held or it is a duplicate.
    """
    case = Case(signal, situation)
    sized = size(case)
    checks = (*(check(case) for check in CHECKS), *sized.checks)
    outcomes = {check.outcome for check in checks}
    outcome: Outcome = "accepted"
    if "refused" in outcomes:
        outcome = "refused"
    elif "needs_confirmation" in outcomes:
        outcome = "needs_confirmation"
    return Verdict(outcome=outcome, checks=checks, size=ZERO if outcome == "refused" else sized.size, price=case.price)
