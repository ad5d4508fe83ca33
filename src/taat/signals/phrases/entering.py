"""Positions that are opened or made larger."""

from taat.signals.phrases.forms import Rule
from taat.signals.text import INSTRUMENT

ADDED_PART: list[Rule] = [
    (
        r"\b(?:add?ed|adding|bought|buying|longed|shorted)\s+(?:a|an|the|my|our)?\s*(?:1st|2nd|3rd|4th|5th|first|second"
        r"|third|fourth|next|another|last|final)\s+(?:tranche|piece|unit|lot|part|portion|scale|layer|clip|entry)s?\b"
        r"(?:\s+(?:to|of|in))?",
        "add",
        None,
        "past",
        "",
    ),
]
"""Added one more part: before the rules for parts that are closed."""

ADDED: list[Rule] = [
    (r"\blong(?:ed|ing)?\s+(?:some\s+)?more\b", "add", "long", "past", ""),
    (r"\bshort\s+(?:some\s+)?more\b", "add", "short", "past", ""),
    (
        r"\b(?:bought|buying|buy|bot|grabbed|picked up)\s+(?:(?:some|a few|a little|a bit"
        r"|\d[\d,.]*k?)\s+)*more\b(?:\s+shares)?|\b(?:bought|grabbed|picked up)\s+another\b",
        "add",
        "long",
        "past",
        "",
    ),
    (r"\b(?:shorted|shorting)\s+(?:some\s+)?more\b", "add", "short", "past", ""),
    (
        r"\b(?:add?ed|aded)(?:\s+(?:more|again|another|back|some|a bit"
        r"|a little))*(?:\s+(?:to|on|into)\b)?",
        "add",
        None,
        "past",
        "",
    ),
    (
        r"\badding(?:\s+(?:more|again|another|back|some|a bit|a little))*(?:\s+(?:to|on|into)\b)?",
        "add",
        None,
        "ongoing",
        "",
    ),
    (
        r"\badd(?=\s+(?:(?:more|some|to|another|here|half|a|at|on|below|under|above|if|near"
        r"|around)\b|[$\d@" + INSTRUMENT + r"]))(?:\s+(?:more|some|to|another))*",
        "add",
        None,
        "base",
        "",
    ),
    (
        r"\bav(?:era)?g(?:ed|ing|'d)?\s*-?\s*(?:down|up)\b|\baverag(?:ed|ing)(?:\s+into)?\b"
        r"|\bdca(?:'d|ed|ing)?\b",
        "add",
        None,
        "past",
        "",
    ),
    (
        r"\bdoubl(?:ed|ing)\s+(?:down|up|my)(?:\s+(?:on|position|size|in))*|\btopp(?:ed"
        r"|ing)\s+up\b|\bpyramid(?:ed|ing)(?:\s+into)?\b|\breload(?:ed|ing)?\b|\bscal(?:ed"
        r"|ing)\s+in(?:to)?\b|\badd-on\b",
        "add",
        None,
        "past",
        "",
    ),
]
"""Added to a position."""

OPENED: list[Rule] = [
    (r"\bre[- ]?(?:entry|entries|ent(?:er)(?:ed|ing)?)\b(?:\s+(?:in|into|on|of))?", "open", None, "past", ""),
    (r"\b(?:flipp?(?:ed|ing)?|revers(?:ed|ing))\s+(?:to\s+|back\s+)*long\b", "open", "long", "past", "flip"),
    (r"\b(?:flipp?(?:ed|ing)?|revers(?:ed|ing))\s+(?:to\s+|back\s+)*short\b", "open", "short", "past", "flip"),
    (
        r"\b(?:bought|bougt|boght|bougth|bght|bot)(?:\s+(?:back|into|some"
        r"|in))*\b(?!\s*(?:the\s+(?:rumou?r|hype|news|top)\b|deal"
        r"|by\b|in\s+(?:19|20)\d\d))",
        "open",
        "long",
        "past",
        "",
    ),
    (
        r"\b(?:long(?:ed|ing)|went\s+long|going\s+long|gone\s+long|got\s+long|getting\s+long"
        r"|get\s+long)\b",
        "open",
        "long",
        "past",
        "",
    ),
    (
        r"\b(?:(?<!been\s)short(?:ed|ing)|sold\s+short|selling\s+short|went\s+short|going\s+short"
        r"|gone\s+short|got\s+short|getting\s+short|get\s+short|reshort(?:ed"
        r"|ing)?)\b(?!\s+(?:sellers?|volume))",
        "open",
        "short",
        "past",
        "",
    ),
    (r"\b(?:wrote|writing)(?=\s+(?:\d+\s+|some\s+|the\s+)*" + INSTRUMENT + ")", "open", "short", "past", ""),
    (
        r"\bbuying(?:\s+(?:some|back|into|the\s+dip\s+in))*\b(?!\s*(?:opportunity|pressure|power"
        r"|volume|climax))",
        "open",
        "long",
        "ongoing",
        "",
    ),
    (
        r"\bbuy\b(?!\s*(?:-|rating|signals?|side|the\s+(?:dip|rumor)|back|backs|or\b|and\b|list"
        r"|point|zone|area|stop|alert\w*\s+for|more\s+chips))(?:\s+now)?",
        "open",
        "long",
        "base",
        "",
    ),
    (
        r"\b(?:initiat(?:ed|ing)|start(?:ed|ing)|open(?:ed|ing)|enter(?:ed|ing)|establish(?:ed"
        r"|ing)|built|building)\b(?:\s+(?:a|an|new|small|tiny|starter|half|full|my|first"
        r"|long[- ]term|swing|into|in|position|of|the|up)\b)*(?!\s+(?:bell|higher|lower|at\b|range"
        r"|price|day|week|year|coverage|with|as\b|(?!building)\w+ing\b))",
        "open",
        None,
        "past",
        "opened",
    ),
    (
        rf"\b(?:took|taking|take)\s+(?:a|an|my|some)?\s*(?:(?:small|starter|tiny|half|full|new"
        rf"|quick|first|initial|little|long[- ]term|swing)\s+)*(?:positions?|stab|shot|flye?r"
        rf"|flier|starter|entry|swing|nibble|bite|lotto|punt|gamble|scalp|yolo|feeler)(?:\s+(?:in|at|on|of|for))*|\b(?:took|taking)\s+(?:a\s+"
        rf"|some\s+)?(?=(?:quick\s+|small\s+)?(?:long|short)\b)|\btook\s+(?:some\s+"
        rf"|the\s+|a\s+few\s+|a\s+couple\s+(?:of\s+)?)?(?={INSTRUMENT}+\s+(?:long|short|calls|puts|@|here|at))"
        rf"|\btaking\s+(?:some\s+|the\s+)?(?={INSTRUMENT}+\s+(?:long\b|short\b|@|here\b|at\s+\$?\.?\d|\$?\.?\d))",
        "open",
        None,
        "past",
        "",
    ),
    (
        r"\b(?:picked\s+up|picking\s+up|grabb(?:ed|ing)|snagg(?:ed|ing)|scoop(?:ed|ing)(?:\s+up)?"
        r"|nibbl(?:ed|ing)|load(?:ed|ing)(?:\s+up)?|snapp(?:ed|ing)\s+up|jump(?:ed"
        r"|ing)\s+in(?:to)?|hopp(?:ed|ing)\s+in(?:to)?|step(?:ped|ping)\s+in(?:to)?)\b(?:\s+(?:a"
        r"|an|some|small|starter|new|position|in|into|on|of|at)\b)*",
        "open",
        "long",
        "past",
        "",
    ),
    (
        r"\b(?:(?:just|got|was|been)\s+)+filled\b(?!\s+(?:out|up|with|the\s+gap))|\b(?:got\s+|just\s+|been\s+)?filled(?=\s+(?:on\s+|in\s+|at\s+|@|long|short|[$"
        + INSTRUMENT
        + r"]))(?:\s+(?:on|in))?",
        "open",
        None,
        "past",
        "",
    ),
    (
        rf"\bput(?:ting)?\s+(?:\$?\d[\d.,]*[k%]?|some|half|a\s+bit|more)\s+[^.\n{INSTRUMENT}]{{0,24}}?\binto(?=\s+{INSTRUMENT})",
        "open",
        "long",
        "past",
        "",
    ),
    (
        r"\b(?:new|small|starter|opening|initial)\s+(?:swing\s+)?(?:position|starter)\b(?:\s+(?:in"
        r"|on))?|\bstarters?\s+(?:in|on)\b|\bstarters?\b(?=\s*(?:@|at\s+\$?\.?\d|\$?\.?\d))",
        "open",
        None,
        "past",
        "",
    ),
    (
        rf"(?<![\w'])(?:i'?m\s+|im\s+|we'?re\s+|back\s+|all\s+|going\s+)*\bin(?=\s+(?:(?:the|some"
        rf"|more|a few|\d{{1,4}}\s?x?|cons|contracts|of)\s+)*{INSTRUMENT})",
        "open",
        None,
        "state",
        "in",
    ),
    (
        rf"(?<={INSTRUMENT}\s)in(?=\s*(?:@|at\s)?\s*\$?(?!(?:19|20)\d\d\b)\d*\.?\d+\s*(?:$|[\s,;|/-]+(?:stop|sl|stp|tp|pt|target|x?\d"
        r"|risk|w/|with|avg|size|\n)))",
        "open",
        None,
        "state",
        "in",
    ),
    (
        r"(?<![\w'])(?:i'?m\s+|im\s+|we'?re\s+|back\s+)+in(?=\s*(?:@|at\b|here|[.!]|$|\$?\d))",
        "open",
        None,
        "state",
        "in",
    ),
]
"""Opened."""

SIDES: list[Rule] = [
    (
        r"\blong\b(?!\s*(?:-?\s*term|weekend|time|way|run|shot|story|day|week|live|list|overdue"
        r"|haul|enough|before|after|gone|ago|exposure|positions\b|candle|as\b|wick)|-\w)",
        "open",
        "long",
        "side",
        "",
    ),
    (
        r"(?<!in\s)\bshort\b(?!\s*(?:-?\s*term|squeeze|interest|sell\w*|report|float|cover\w*"
        r"|volume|of\b|story|list|version|seller|ratio|data|thesis|attack|answer|week|day"
        r"|positions\b|candle)|-\w)",
        "open",
        "short",
        "side",
        "",
    ),
]
"""Bare sides."""
