"""Words that tell of a change: what a sentence says replaces, ends or corrects something that was said before."""

from __future__ import annotations

import re

_NOW = (
    r"now|nowadays|these days|currently|from now on|as of|by now|since then|no longer|any ?more|any longer|used to"
    r"|formerly"
)
_IN_PLACE = (
    r"instead|rather than|in place of|(?-i:[Nn]ew)(?=\s(?-i:[a-z]))|another|again|other than|back (?:to|in|at|on|with)"
    r"|chang(?:e|es|ed|ing)|switch(?:ed|es|ing)?|swap(?:ped|ping)?|replac(?:e|es|ed|ing|ement)|mov(?:ed|ing)"
    r"|shift(?:ed|ing)|convert(?:ed|ing)|upgrad(?:e|ed|ing)|trad(?:ed|ing)|exchang(?:ed|ing)|transferr(?:ed|ing)"
)
"""One thing in the place of another. A capital after "new" makes it part of a name."""
_END = (
    r"stop(?:s|ped|ping)?|quit(?:s|ting)?|g[ai]ven? up|giving up|drop(?:ped|ping)|left|leaving|sold|selling"
    r"|cancel(?:l?ed|l?ing|s)?|call(?:ed)? off|end(?:ed|s)|finished|clos(?:ed|ing)|br(?:oke|oken|eaking) up|split up"
    r"|divorced?|retired?|resign(?:ed|ing)?|fired|laid off|died|passed away|expired|gone|is over|got rid|g[ai]ven? away"
    r"|lost"
)
_BEGINNING = r"start(?:ed|ing|s)|beg(?:an|un|inning)|took up|taken up|joined|became|become|turned into"
_CORRECTION = (
    r"actually|in fact|turn(?:s|ed) out|correction|update|after all|in the end|finally|eventually|decid(?:ed|ing)"
    r"|decision|mistaken|not true|wrong"
)
_OTHER_TIME_OR_AMOUNT = (
    r"postpon(?:e|ed|ing)|reschedul(?:e|ed|ing)|push(?:ed)? back|brought forward|put off|delay(?:ed|ing)?"
    r"|extend(?:ed|ing)|rais(?:ed|ing)|increas(?:e|ed|ing)|lower(?:ed|ing)|reduc(?:ed|ing)|cut to"
    r"|(?:went|gone) (?:up|down)|(?:up|down) to"
)
_CHANGE = re.compile(
    rf"\b(?:{'|'.join((_NOW, _IN_PLACE, _END, _BEGINNING, _CORRECTION, _OTHER_TIME_OR_AMOUNT))})\b", re.IGNORECASE
)


def tells_of_change(text: str) -> bool:
    """Return whether a text has words that tell of a change."""
    return _CHANGE.search(text) is not None
