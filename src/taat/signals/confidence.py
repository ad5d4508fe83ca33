"""How sure the reader is of a signal: what speaks for an announcement, added up.

It orders signals by the evidence for them. It is no measured share: that needs confirmed posts of real announcers.
"""

from dataclasses import dataclass

from taat.models import Action
from taat.signals.actions import Event

LEAST = 0.4
"""Below this nothing is reported."""

_BY_FORM = {"code": 0.74, "past": 0.62, "ongoing": 0.52, "base": 0.45, "state": 0.45, "side": 0.42, "none": 0.0}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a signal's confidence is made of."""

    event: Event
    action: Action
    certainty: float
    own: bool
    first_person: bool
    at_once: bool
    priced: bool
    guessed: bool
    both: bool
    levelled: bool
    sized: bool
    option: bool
    dated: bool
    held: bool
    ambiguous: bool
    sided: bool
    near: bool
    after_symbol: bool
    symbol_first: bool
    has_link: bool
    penalty: float
    reply: bool


def confidence(evidence: Evidence) -> float:
    """Return the confidence in a signal, between 0 and 0.99; 0 when something needed is missing."""
    event = evidence.event
    if _lacks(evidence):
        return 0.0
    score = _BY_FORM[event.form]
    score += 0.12 if evidence.priced else 0.0
    score -= 0.08 if evidence.guessed else 0.0
    score += 0.06 if evidence.levelled else 0.0
    score += 0.05 if evidence.sized else 0.0
    score += 0.05 if evidence.option else 0.0
    score += 0.03 if evidence.option and evidence.dated else 0.0
    score += 0.05 if evidence.first_person else 0.0
    score += 0.04 if evidence.at_once else 0.0
    score += 0.08 if evidence.held else 0.0
    score -= 0.35 if evidence.ambiguous else 0.0
    score -= 0.05 if not evidence.sided else 0.0
    score -= (1 - evidence.certainty) * 0.5
    score -= 0.1 if not evidence.own and not evidence.held else 0.0
    score -= 0.12 if evidence.own and not evidence.near else 0.0
    score -= 0.1 if evidence.has_link else 0.0
    score -= 0.08 if evidence.reply else 0.0
    score -= evidence.penalty * (0.4 if event.form == "code" else 1.0)
    return round(max(0.0, min(0.99, score)), 2)


def _lacks(evidence: Evidence) -> bool:
    """Whether something is missing without which such a phrase announces nothing."""
    event = evidence.event
    firm = evidence.priced or evidence.levelled or (evidence.option and evidence.dated)
    if evidence.action == "limit":
        return not evidence.priced
    if event.target and not evidence.held and not event.phrase.startswith(("took", "taking", "closed", "sold")):
        return True
    if event.form in ("past", "ongoing") and evidence.own and not evidence.near and not (firm or evidence.sized):
        return True
    if (
        event.begun
        and event.side is None
        and evidence.symbol_first
        and "position" not in event.phrase
        and not evidence.first_person
    ):
        return True
    if (
        event.phrase.startswith(("clos", "open", "initiat", "start", "enter"))
        and evidence.after_symbol
        and not evidence.option
    ):
        return not (
            evidence.held or evidence.both or event.whole or " my" in event.phrase
        )  # "$TSLA closed at 258" tells the market's price
    if event.form == "past" and event.action in ("open", "close", "add") and not (evidence.own or evidence.held):
        return not (firm or evidence.sized)
    if event.phrase.endswith(" to") and evidence.after_symbol and not firm:
        return True  # "$INTC added to the list"
    if event.phrase == "flat" and evidence.symbol_first and not (evidence.held or evidence.priced):
        return True  # "$SPY flat" tells the market's move
    if event.form in ("side", "base"):
        return not (firm or (evidence.at_once and evidence.near) or (evidence.held and event.form == "base"))
    if event.form == "ongoing":
        return not (firm or evidence.at_once or evidence.first_person or evidence.sized)
    if event.form == "state" and event.action == "open":
        return not (evidence.priced or evidence.option)
    if event.form == "state":
        return not (evidence.own or evidence.held or evidence.priced)
    if event.form == "past" and event.action == "open" and event.side is None:
        return not (firm or evidence.sized or evidence.first_person or evidence.near)
    return False
