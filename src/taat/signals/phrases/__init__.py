"""The words by which announcers say what they did, from the most particular to the most general.

Patterns are for lower-case text in which instruments are marked. The first that matches at a place is taken.
"""

from taat.signals.phrases.closing import CLOSED, WHOLE
from taat.signals.phrases.entering import ADDED, ADDED_PART, OPENED, SIDES
from taat.signals.phrases.forms import Form, Rule
from taat.signals.phrases.orders import CODES, HELD, WAITING
from taat.signals.phrases.reducing import REDUCED, SCALES
from taat.signals.phrases.stops import STOP_MOVED, STOPPED
from taat.signals.phrases.trigger import TRIGGER

__all__ = ["RULES", "STOP_MOVED", "TRIGGER", "Form", "Rule"]

RULES: tuple[Rule, ...] = (
    *HELD,
    *CODES,
    *WAITING,
    *STOPPED,
    *ADDED_PART,
    *SCALES,
    *ADDED,
    *WHOLE,
    *REDUCED,
    *CLOSED,
    *OPENED,
    *SIDES,
)
"""In the order in which they are tried."""
