"""The words by which announcers say what they did, from the most particular to the most general.

Patterns are for lower-case text in which instruments are marked. The first that matches at a place is taken.
"""

import re
from typing import Literal

from taat.models import Action, Side
from taat.signals.numbers import FRACTION, NUMBER
from taat.signals.text import INSTRUMENT

Form = Literal["code", "past", "ongoing", "base", "state", "side", "none"]
"""How a phrase speaks: a brokerage code, what was done, what is being done, an order, a state, a bare side, none."""


_F = FRACTION
_POSS = r"(?:(?:my|our|the|this|these|all|of|on|a|an|some|most|another|about|just|more|his)\s+)*"
_ON = rf"(?:\s+(?:on|for|in)\s+(?:(?:the|my|all|rest|of)\s+)*[{INSTRUMENT}\w ]{{1,24}}?)?"
_STOP = r"(?:(?:trailing|hard|mental|protective)\s+)?(?:stop ?loss(?:es)?|stops?|stp|sl|s/l)"
_ENTRY_WORD = r"(?:flat|b\.?/?e\.?|break[- ]?even|entry|even|cost|cb|scratch)"

STOP_MOVED = re.compile(
    rf"\b(?:mov(?:e|ed|ing)|rais(?:e|ed|ing)|lower(?:ed|ing)?|tighten(?:ed|ing)?|trail(?:ed|ing)?|bring(?:ing)?|brought"
    rf"|adjust(?:ed|ing)?|bump(?:ed|ing)?|set(?:ting)?|slid|pull(?:ed|ing)?)\s+(?:(?:my|the|our"
    rf"|all|up)\s+)*(?:[{INSTRUMENT}\w]{{1,6}}\s+(?:long\s+|short\s+)?)?{_STOP}{_ON}"
    rf"(?:\s+(?:up|down|now|again|over))?\s*(?:to|at|@|>|-|:)+\s*(?:just\s+)?"
    rf"(?:above\s+|below\s+|under\s+)?(?:\$?(?P<to1>{NUMBER})(?!\s?%)|(?:my\s+)?{_ENTRY_WORD}(?![\w/]))"
    rf"|\b{_STOP}(?:{_ON}(?:\s+(?:is|are|has been|was|now|just))*\s*(?:moved|raised|lowered"
    rf"|trailed|tightened|adjusted|up)"
    rf"(?:\s+up)?\s*(?:to|@|at)?|\s*(?:now\s*)?(?:to|>+|->)\s*|\s+now\s*(?:at|@|is|to)?)\s*\$?(?P<to2>{NUMBER})(?!\s?%)"
    rf"|\b{_STOP}{_ON}\s*(?:(?:is|are|has been|was|now|just|moved|raised|up|goes|going"
    rf"|set)\s+)*(?:to|at|@|=|:|>+|->|-)?\s*"
    rf"(?:my\s+)?{_ENTRY_WORD}(?![\w/])"
    rf"|\b(?:b/?e|break[- ]?even)\s+{_STOP}\b"
)

Rule = tuple[str, Action | None, Side | None, Form, str]
"""A pattern, the action and side it means, how it speaks, and marks for what else it says."""

RULES: list[Rule] = [
    # no trade of now: what is only held or watched
    (
        rf"\b(?:still|remain(?:ing|s)?|staying|been)\s+(?:in\b|long|short|holding|hold|flat)(?!\w)"
        rf"|(?<!{INSTRUMENT} )(?<!{INSTRUMENT})\b(?:holding|hold)\b",
        None,
        None,
        "none",
        "",
    ),
    # brokerage codes
    (r"(?<![#\w])(?:bto|b\.t\.o\.?|(?:buy|bought|buying|bot)\s+to\s+open)(?=[\s:]+\S)", "open", "long", "code", ""),
    (r"(?<![#\w])(?:stc|s\.t\.c\.?|(?:sell|sold|selling|sld)\s+to\s+close)(?=[\s:]+\S)", "close", "long", "code", ""),
    (r"(?<![#\w])(?:sto|s\.t\.o\.?|(?:sell|sold|selling|sld)\s+to\s+open)(?=[\s:]+\S)", "open", "short", "code", ""),
    (
        rf"\bbtc(?=\s+(?:\d+x?\s+|{_F}\s+)?(?:of\s+)?{INSTRUMENT})|\b(?:buy|bought|buying"
        rf"|bot)\s+to\s+(?:close|cover)\b",
        "close",
        "short",
        "code",
        "",
    ),
    # orders that wait
    (
        r"\b(?:buy|long)[ -]limits?(?:\s+orders?)?\b|\bbuy[ -]stops?\s+(?=@|at\b|\$?\d)"
        r"|\blimit\s+(?:buy|long)s?\b",
        "limit",
        "long",
        "base",
        "",
    ),
    (
        r"\b(?:sell|short)[ -]limits?(?:\s+orders?)?\b|\bsell[ -]stops?\s+(?=@|at\b|\$?\d)"
        r"|\blimit\s+(?:sell|short)s?\b",
        "limit",
        "short",
        "base",
        "",
    ),
    (
        r"\b(?:placed|put in|putting in|put|set|have|got|working|resting|left)\s+(?:a|an|my|some"
        r"|in a)?\s*(?:gtc\s+|limit\s+|buy\s+)*(?:bids?|buy orders?)\b(?:\s+in)?"
        r"|\bbids?\s+(?:is\s+|are\s+)?(?:in|set|placed|resting|sitting|working)(?=\s+(?:at|@|for"
        r"|on)|\s*\$?\d)|\bbidding(?=\s+\S)",
        "limit",
        "long",
        "past",
        "",
    ),
    (
        r"\b(?:placed|put in|set|working|resting)\s+(?:a|an"
        r"|my)?\s*(?:gtc\s+)?(?:limit\s+)?(?:offers?|sell orders?|short orders?)\b"
        r"|\boffers?\s+(?:is\s+|are\s+)?(?:in|set|placed|resting)\b",
        "limit",
        "short",
        "past",
        "",
    ),
    (
        r"\b(?:placed|put in|set|working|resting|have)?\s*(?:a|an|my)?\s*(?:gtc|limit"
        r"|resting)\s+orders?\b(?:\s+in)?",
        "limit",
        None,
        "past",
        "",
    ),
    # stopped out
    (
        r"\b(?:hit|tagged|took out|triggered)\s+(?:my|the|our)\s+(?:hard\s+|trailing\s+)?(?:stop"
        r"|sl)\b|\b(?:stops?|sl|stop ?loss)\s+(?:was\s+|got\s+|is\s+|just\s+)?(?:hit|triggered"
        r"|tagged|taken(?: out)?)\b",
        "stopped_out",
        None,
        "past",
        "",
    ),
    (
        r"\b(?:flat,?\s+|got\s+|getting\s+|was\s+|were\s+|been\s+|just\s+)*st[o]?p+ed(?:\s+(?:out"
        r"|flat))*(?:\s+(?:of|on|at)\b)?(?!\s+(?:by|working|trading|using|watching|believing"
        r"|buying|selling|caring|doing|paying|going|reading|for\s+a))",
        "stopped_out",
        None,
        "past",
        "",
    ),
    # scales: one more part of a position closed
    (
        r"\b(?:closed?|closing|took|take|taking|sold|covered|out)?\s*(?:my\s+|the\s+)?(?:last"
        r"|final)\s+(?:scale(?:\s*out)?|piece|part|runners?|tranche|portion|lot|contracts?|third"
        r"|half|quarter|leg|bit)\b(?:\s+(?:out|done|closed|off|sold))?",
        "close",
        None,
        "past",
        "whole profit",
    ),
    (
        r"\b(?:closed?|closing|took|take|taking|sold|covered|hit)?\s*(?:my\s+|the\s+|our\s+"
        r"|a\s+)?(?:1st|2nd|3rd|4th|5th|first|second|third|fourth|next|another"
        r"|one more)\s+(?:scale(?:[\s-]*out)?|trim|tranche|partial|piece)s?\b(?:\s+(?:out|done"
        r"|closed|off|taken|sold|here|complete))*",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
    (
        r"\bscal(?:ed|ing|e)\s+(?:(?:some|more|half|a bit|a little)\s+)?out(?:\s+of)?\b"
        r"|\bscale\s+(?:done|closed|off|taken|here)\b",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
    # added
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
        r"\b(?:add?ed|aded|adding)(?:\s+(?:more|again|another|back|some|a bit"
        r"|a little))*(?:\s+(?:to|on|into)\b)?",
        "add",
        None,
        "past",
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
    # a part closed
    (
        rf"\b(?:took|taking|take|takin|pulled|pulling|peel(?:ed|ing)?|knock(?:ed|ing)?)\s+(?!off\b"
        rf"|out\b){_POSS}(?P<f1>{_F}|\d{{1,3}}(?=\s+(?:off|out)))?(?:\s+(?:of|my|the|this|position)\b"
        rf"|\s*{INSTRUMENT})*+\s*\b(?:off|out)\b(?:\s+of)?(?!\s+(?:for|to\s+(?:the|a)\b))",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (
        r"\b(?:took|taking|take|book(?:ed|ing)?|lock(?:ed|ing)?|secur(?:ed|ing)|bank(?:ed"
        r"|ing)?)\s+(?:in\s+)?(?:some|partial|a few|a bit of|a little"
        r"|more)\s+(?:of\s+)?(?:my\s+)?(?:profits?|gains?|money|partials?)(?:\s+(?:off|on|in))*"
        r"|\b(?:took|taking|take)\s+(?:some\s+)?partials?(?:\s+(?:profits?|on|off))*"
        r"|\bpaying myself\b|\bpaid myself\b|\b(?:took|taking|take)\s+some\s+(?:off"
        r"|out)\b(?:\s+the table)?",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
    (
        rf"\b(?:took|taking|take|book(?:ed|ing)?|lock(?:ed|ing)?|secur(?:ed"
        rf"|ing))\s+(?:in\s+)?(?:profits?|gains?)\s+on\s+(?:a\s+)?(?P<f2>{_F})(?:\s+of)?",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
    (
        r"\btrimm?(?:ed|ing)(?:\s+(?:some|more|a bit|a little|another|again|my|of))*\b",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (
        r"\btrims?(?=\s*(?:[$\d@("
        + INSTRUMENT
        + r"]|here|some|more|half|another|a\b|my|now|it|off|1/))(?:\s+(?:some|more|a bit|another"
        r"|my))*",
        "reduce",
        None,
        "base",
        "partial",
    ),
    (
        r"\b(?:lighten(?:ed|ing)(?:\s+up)?|reduc(?:ed|ing)|par(?:ed|ing)\s+(?:down|back)"
        r"|cut(?:ting)?\s+(?:back|down))(?:\s+(?:on|my|the|some|of))*\b",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (
        rf"\b(?:sold|soldd|sld|sell|selling|clos(?:ed|ing|e)|cover(?:ed|ing)?|dump(?:ed|ing)?"
        rf"|exit(?:ed|ing)?|unload(?:ed|ing)?|stc)\s+(?:another\s+|a\s+|my\s+|about\s+"
        rf"|the\s+)?(?P<f3>{_F}|some|partial(?:ly)?|a few|a bit|a little|most|part"
        rf"|a piece)(?!\s*(?:hour|day|week|year|month|cent|million|billion))(?:\s+(?:of|off|my|the"
        rf"|position))*",
        "reduce",
        None,
        "past",
        "partial sold",
    ),
    (
        rf"(?<![\d/])(?P<f4>{_F})\s+(?:off|out|closed|sold|covered|trimmed)\b(?!\s+(?:today|sale"
        rf"|all|for|your|our|its|the|high|coupon))",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (rf"\bout\s+(?:of\s+)?(?P<f5>{_F})\b(?:\s+of)?", "reduce", None, "state", "partial"),
    (
        rf"\b(?:peel(?:ed|ing)?|pull(?:ed|ing)?|knock(?:ed|ing)?|shav(?:ed|ing)|sold|took"
        rf"|taking)\s+off\s+(?:another\s+|a\s+)?"
        rf"(?:(?P<f6>{_F})|some|more|a\s+piece|a\s+bit)(?:\s+of)?",
        "reduce",
        None,
        "past",
        "partial",
    ),
    # all closed
    (
        r"\blet(?:ting)?\s+go\s+of(?:\s+(?:the\s+|my\s+)*(?:last|rest|remaining"
        r"|final)(?:\s+(?:third|half|quarter|piece|of))*)?",
        "close",
        None,
        "past",
        "whole",
    ),
    (
        r"\b(?:all\s+out|fully\s+out|out\s+(?:the\s+)?rest|out\s+(?:all|full))\b(?:\s+of)?",
        "close",
        None,
        "state",
        "whole",
    ),
    (
        rf"(?<![\w'])(?:i'?m\s+|im\s+|we'?re\s+|am\s+|now\s+|just\s+|got\s+|getting\s+|get\s+"
        rf"|stepp(?:ed|ing)\s+|jumped\s+|bailed\s+)*\bout(?=\s+(?:of\s+)?(?:my\s+|the\s+|all\s+"
        rf"|rest\s+)*[{INSTRUMENT}$]|\s*(?:@|here\b|at\s+\$?\.?\d|now\b|for\s+a?\s*\+?\d|flat\b"
        rf"|(?:of\s+)?[a-z]{{2,4}}\s+(?:\d|long\b|short\b|@|at\s+\d)|\$?\.?\d|\s*$"
        rf"|\s*[.!,]))(?:\s+of)?(?!\s+of\s+(?:the\s+(?:woods"
        rf"|gate|box|way|wedge|range|office|blue)|my\s+reach|stock|control|favor|here|reach|touch"
        rf"|nowhere))",
        "close",
        None,
        "state",
        "",
    ),
    (
        r"\b(?:i'?m\s+|im\s+|we'?re\s+|am\s+|now\s+|going\s+|went\s+|back\s+to\s+|all\s+|fully\s+"
        r"|got\s+)*(?<!-)flat(?!\s*(?:open|line|lined|on the|for the|market|price|premarket"
        r"|pre-market|day|today|tire|out|fee|rate|week|after|ahead|and)|[-'\w])",
        "close",
        None,
        "state",
        "",
    ),
    (
        r"\b(?:sold|soldd|sld|sell|selling)(?:\s+(?:out\s+of|everything|it all|all"
        r"|the rest(?: of)?|rest of|rest|remaining|remainder|the remaining|the balance|entire"
        r"|my entire|the last|runners?|my runners?|the runners?))+\b",
        "close",
        "long",
        "past",
        "whole sold",
    ),
    (
        r"\b(?:sold|soldd|sld)\b(?!\s*(?:off|out|short|too\b|to\b|by\b|the\s+(?:news|rip|rally|top"
        r"|bottom)|for\s+\$?[\d.]+\s*(?:million"
        r"|billion|m\b|b\b)))",
        "close",
        "long",
        "past",
        "sold",
    ),
    (r"\bselling\b(?!\s*(?:off|pressure|out|point|to\b|climax|volume))", "close", "long", "ongoing", "sold"),
    (
        r"\bsell\b(?!\s*(?:off|-|signals?|side|in\b|the\s+(?:news|rip|rally)|rating|into|stop|to\b"
        r"|ratings?|alert|mode))(?:\s+now)?",
        "close",
        "long",
        "base",
        "sold",
    ),
    (
        r"\b(?:clos(?:ed|ing)|clsoed|exit(?:ed|ing)|liquidat(?:ed|ing)|dump(?:ed|ing)|ditch(?:ed"
        r"|ing)|bail(?:ed|ing)(?:\s+on)?|unload(?:ed|ing)|kill(?:ed|ing))(?:\s+(?:out|out of"
        r"|the rest(?: of)?|rest of|all|everything|remaining|my|the|of))*\b(?!\s*(?:-|higher|lower"
        r"|at (?:the )?(?:highs?|lows?)|for\b\s+(?:the|june)|green|red|above|below|the (?:gap|day"
        r"|week|year|month|books?|deal)|up\b|down\b|bell|in\b|stores?|its\b|deal|on (?:mon|tue|wed"
        r"|thu|fri)))",
        "close",
        None,
        "past",
        "closed",
    ),
    (
        rf"\bclose(?=\s+(?:(?:the|my|all|out|rest|half|here|now|it|position)\b"
        rf"|[$@{INSTRUMENT}]))(?:\s+(?:the rest(?: of)?|all|out|my))*(?!\s+(?:to|of|at the))"
        rf"|\bexit(?=\s+(?:(?:the|my|all|here|now|rest)\b|[$@{INSTRUMENT}]))",
        "close",
        None,
        "base",
        "closed",
    ),
    (
        r"\bcover(?:ed|ing)(?:\s+(?:the rest(?: of)?|rest of|all|remaining|my|the"
        r"|of))*\b(?!\s+(?:by|in|call|calls|in detail|story|this))|\bcover(?=\s+(?:[$@"
        + INSTRUMENT
        + r"]|here|now|all|the rest|my))",
        "close",
        "short",
        "past",
        "",
    ),
    (
        rf"\bcut(?:ting)?(?=\s+(?:my\s+|the\s+|this\s+|rest\s+|all\s+)*(?:[$@{INSTRUMENT}]|here"
        rf"|loss|position|it\s+(?:here|at)|for\s+(?:a|-)))(?:\s+(?:the rest(?: of)?|all|my))*",
        "close",
        None,
        "past",
        "",
    ),
    (
        r"\b(?:took|taking|take)\s+(?:(?:the|my|a|full|all)\s+)*(?:small\s+)?(?:loss"
        r"|l)\b(?:\s+(?:on|in))?",
        "close",
        None,
        "past",
        "",
    ),
    (
        r"\b(?:took|taking|take|book(?:ed|ing)?|lock(?:ed|ing)?|bank(?:ed|ing)?|secur(?:ed"
        r"|ing))\s+(?:in\s+)?(?:(?:full|all|my|the|nice|quick|great)\s+)*(?:profits?"
        r"|gains?)(?:\s+(?:here|off|on|in|of))*(?:\s+(?:the\s+|my\s+)?(?:rest|remaining|remainder"
        r"|last|balance)(?:\s+of)?)?",
        "close",
        None,
        "past",
        "profit took",
    ),
    # opened
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
        rf"|quick|first|initial|little|long[- ]term|swing)\s+)*(?:positions?|stab|shot|flyer"
        rf"|starter|entry|swing|nibble|bite)(?:\s+(?:in|at|on|of|for))*|\b(?:took|taking)\s+(?:a\s+"
        rf"|some\s+)?(?=(?:quick\s+|small\s+)?(?:long|short)\b)|\btook\s+(?:some\s+"
        rf"|the\s+)?(?={INSTRUMENT}+\s+(?:long|short|calls|puts|@|here|at))",
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
        r"\b(?:got\s+|just\s+|been\s+)?filled(?=\s+(?:on\s+|in\s+|at\s+|@|long|short|[$"
        + INSTRUMENT
        + r"]))(?:\s+(?:on|in))?",
        "open",
        None,
        "past",
        "",
    ),
    (
        r"\b(?:new|small|starter|opening|initial)\s+(?:swing\s+)?(?:position|starter)\b(?:\s+(?:in"
        r"|on))?|\bstarter\s+(?:in|on)\b",
        "open",
        None,
        "past",
        "",
    ),
    (
        rf"(?<![\w'])(?:i'?m\s+|im\s+|we'?re\s+|back\s+|all\s+|going\s+)*\bin(?=\s+(?:(?:the|some"
        rf"|more|a few)\s+)*{INSTRUMENT})",
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
    # bare sides
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


TRIGGER = re.compile(
    r"\b(?:bto|stc|sto|btc|b\.t\.o|s\.t\.[co]|buy|buying|bought|bougt|boght|bougth|bght|bot"
    r"|sell|selling|sold|soldd|sld|long|longed"
    r"|longing|short|shorted|shorting|reshort\w*|add|added|aded|adding|trim\w*|scal(?:e|ed"
    r"|ing)|clos(?:e|ed|ing)|clsoed|exit\w*"
    r"|out|flat|cover\w*|cut|cutting|took|taking|take|takin|stop\w*|stp|sl|s/l|limit|bids?"
    r"|bidding|orders?|offers?|entry"
    r"|enter\w*|re-?ent\w+|in|initiat\w+|start\w*|open\w*|picked|picking|grabb\w+|snagg\w+"
    r"|scoop\w*|nibbl\w+|load\w*|fill\w*"
    r"|position|starter|wrote|writing|avg\w*|averag\w+|dca\w*|doubl\w+|reduc\w+|lighten\w*"
    r"|par(?:ed|ing)|peel\w*|pull\w*|lock\w*"
    r"|book\w*|bank\w*|secur\w+|dump\w*|ditch\w*|bail\w*|unload\w*|kill\w*|liquidat\w+"
    r"|flipp?\w*|revers\w+|jump\w*|hopp\w*|off"
    r"|reload\w*|topp\w+|pyramid\w*|got|went|going|paid|paying|built|building|establish\w*"
    r"|runners?|last|final|calls?|puts?"
    r"|let|letting|tagged|hit|snapp\w+|step\w*|knock\w*|closed|half)\b|\d[cp]\b|_\d{6}[cp]"
)
"""Some word without which a post announces nothing: most posts have none and are read no further."""
