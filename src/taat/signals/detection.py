"""Telling an announcement from chatter: who acts, when, and whether it happened at all."""

import re
from collections.abc import Sequence

from taat.signals.actions import Event
from taat.signals.text import ACTION, IGNORED, INSTRUMENT, LEVEL, QUANTITY, sentence_around

_RETWEET = re.compile(r"^\W*(?:RT|MT)\b[\s:]*@|\bRT @|\bMT @|^\W*via @", re.I)

_FIRST_PERSON = re.compile(
    r"(?:^|[^\w'])(?:i|we|i'?ve|we'?ve|i'?m|im|we'?re|ive|i am|we are|i have"
    r"|we have)\s+(?:(?:just|also|now|have|finally|then|am|are|already|only|again|both|all"
    r"|decided to|went ahead and|actually|had to|today|here|got|getting|took|did|even|quickly"
    r"|gladly|happily|simply)\s+)*$"
)
_QUIET = frozenset(
    """
    i we i've we've ive i'm im we're am are have just also now today again finally then and but so ok okay alert
    alerts update trade trades swing day scalp new position my our the quick here going got s'more action side
    direction type signal signals long short at for on in of a this morning afternoon open close out took take
    taking all some rest again same time note fyi first second small starter entry entries exit in's with w stop
    stopped size risk lotto lottos risky yolo option options call calls put puts order filled fill portfolio account
    acct challenge journal log live play plays setup re trimmed sold bought added closed after getting back into yes
    boom nice ugh damn welp alright well guys gang team folks everyone heads up fam hi hey morning gm status result
    closing opening trading bot st rd th nd half more another final last tp sl pt hit done ticker symbol stock
    crypto futures spot premium free vip pro main group fast risk-off premarket pm ah etf index forex gold then's
    fully completely manually limit set placed
    market lot lots contract contracts con cons share shares micro micros mini minis x unit units
    runner runners remaining remainder balance trim tranche
    next today's quickly decided finally actually early late little bit per plan as planned planning's
    """.split()
)
"""Words that may stand before an action without being somebody else who acts."""

_MODAL = re.compile(
    r"\b(?:would|wouldn'?t|could|couldn'?t|should|shouldn'?t|might|may|will|won'?t|i'?ll"
    r"|we'?ll|gonna|wanna|plan|plans|planning"
    r"|looking\s+(?:to|for|at)|look\s+to|want|wants|wanted|hoping|hope|wish|wished|trying|try"
    r"|tried|tempted|thinking|think|thought|considering|consider"
    r"|waiting|wait|watching|watch|until|till|unless|never|not|no|n't|don'?t|didn'?t|doesn'?t"
    r"|isn'?t|aren'?t|haven'?t|hasn'?t|wasn'?t|can'?t|cannot|can"
    r"|who|whoever|whom|people|everyone|everybody|anyone|anybody|nobody|someone|somebody"
    r"|others|remember|rule|ready\s+to|about\s+to|able\s+to"
    r"|love\s+to|like\s+to|happy\s+to\s+(?:buy|sell|add)|need\s+to|needs|needed|had\s+i|if"
    r"|when|whenever|once|how|why|what|always|usually|typically|often|sometimes|tend"
    r"|instead\s+of"
    r"|rather\s+than|without|before|you|your|he|she|they|his|her|their|should've|would've"
    r"|could've|i'd|we'd|let'?s|were\s+to|going\s+to(?!\s+cash)|to\s+be|worth|stocks?\s+to"
    r"|time\s+to"
    r"|best|learn|lesson|idea|hypothetical(?:ly)?|paper|imagine|suppose|example|e\.g|say|says"
    r"|said|told|tells|reportedly|according|by)\b"
)
_PAST = re.compile(
    r"\b(?:yesterday(?!'s)|last\s+(?:week|month|year|night|summer|winter|fall|spring|monday"
    r"|tuesday|wednesday|thursday|friday|quarter|time|cycle)"
    r"|(?:years?|months?|weeks?|days?)\s+ago|back\s+in\s+(?:the|19|20|jan|feb|mar|apr|may|jun"
    r"|jul|aug|sep|oct|nov|dec|\d{4})\w*|in\s+(?:19|20)\d\d\b|earlier\s+this\s+(?:week|month"
    r"|year)"
    r"|the\s+other\s+day|this\s+week(?!'s)|this\s+(?:month|year)(?!'s)|on\s+(?:mon|tues|wednes"
    r"|thurs|fri)day|recap|over\s+the\s+(?:past|last)|in\s+the\s+past|used\s+to"
    r"|growing\s+up)\b"
)
_PAST_EXEMPT = re.compile(r"\b(?:since|from|after|before|than|vs|like|until|above|below|over|for)\s+(?:the\s+)?$")
_RELATIVE_VERB = re.compile(r"[a-z]\s+(?:that\s+)?(?:i|we)\s+(\w+)\s+$")
_OWNER = re.compile(r"\s*(?:of\s+)?(?:its|their|his|her|your)\b")
"""What is traded belongs to somebody else: ``trimmed its forecast``."""
_REGRET = re.compile(r"\b(?:regrets?|mistakes?|missed|dream|fear)\b")
_IF_FIRST = re.compile(r"\W*(?:if|when|whenever|unless|once)\b")
_CONDITION_AFTER = re.compile(
    r"^[^,.;\n]{0,40}?\b(?:if|once|when|unless|only\s+(?:above|below|over|under)"
    r"|on\s+(?:a\s+)?(?:break|dip|dips|pullback|retest|close|weakness|strength\s+above)|above"
    r"|below|over|under)\b"
)
_HYPOTHETICAL_AFTER = re.compile(
    r"^[^.;\n]{0,60}\b(?:if|should)\s+(?:i|we|it|you|had)\b|^\s*(?:idea|ideas|setup|scenario|bias|plan|watch|trigger)\b"
)
_PLAN = re.compile(
    r"\b(?:plans?\s+for|game\s?plan|watch\s?list|watching|trade\s+ideas?|(?:long"
    r"|short)\s+(?:idea|setup|scenario)|ideas?\s*:|levels\s+to\s+watch"
    r"|key\s+levels|on\s+watch|hypothetical|what\s+if|poll)\b"
)
_NEWS = re.compile(
    r"\b(?:upgrad\w+|downgrad\w+|analysts?|price\s+target\s+(?:raised|cut|lowered|to)"
    r"|pt\s+(?:raised|cut|lowered)|reiterat\w+|coverage|overweight|underweight|outperform"
    r"|ratings?|insiders?|ceo|cfo|director|acqui\w+|merger|hedge\s+funds?|according\s+to"
    r"|breaking|reports?|reported|earnings\s+(?:beat|miss)|shareholders?|13f|sec\s+filing"
    r"|filing|unusual|sweeps?|block\s+trade|dark\s+pool|flow|premium\s+(?:spent|bought)"
    r"|open\s+interest|institutional|etf\s+inflows?|dividend|buybacks?|lawsuit"
    r"|stake\s+in\s+(?:the|a)\b"
    r"|billion|million|\d+(?:\.\d+)?[mb]n?\b|investors?|traders\s+(?:bought|sold)|ipo|q[1-4]\b|revenue|guidance)\b"
)
_ADVERT = re.compile(
    r"\b(?:join|subscribe|sign\s*up|link\s+in\s+bio|free\s+trial|members?|click|giveaway"
    r"|webinar|course|newsletter|discount|promo|chat\s?room|learn\s+how|check\s+out|retweet"
    r"|follow\s+us"
    r"|dm\s+me|picks|stock\s+alerts|must\s+(?:see|read|have)|read\s+more|new\s+video|article"
    r"|blog|podcast|penny\s?stocks?|millionaire|want\s+to)\b"
)
_NUMBER_SUBJECT = re.compile(r"\d[\d,.]*k?\s*(?:contracts?|shares?|of\s+the)?\s*$")
_COUNTED_OBJECT = re.compile(
    r"^\s*\$?\d[\d,.]*\+?k?\s*(?:points?|pts|%|percent|jobs|million|billion|bn\b|[mb]\b|new|employees|stores|handles)"
)
_BEFORE_IN = frozenset(
    "alert alerts update new trade swing now just also and ok okay lotto scalp day all back entry small".split()
)
_ACTORS = frozenset(
    "company firm fund bank ceo cfo management board money retail public crowd smart buyer seller guy man woman"
    " trader investor whale insider analyst broker dealer government fed bull bear friend dad mom wife husband boss who"
    " which that there it this".split()
)
"""Words for those whose trades are told as news."""
_FILL = re.compile(rf"[{INSTRUMENT}{QUANTITY}]\s*(?:here\s+|today\s+)?(?:@|at)\s*\$?\.?\d")
_TOKEN = re.compile(r"[a-z][a-z']*")
_CLAUSE = re.compile(rf"[.!?;,\n|•(){ACTION}{LEVEL}{IGNORED}{QUANTITY}]|:(?=\s)|\s-+\s|[^\x00-\u02ff]")


def is_retweet(text: str) -> bool:
    """Whether a post repeats somebody else's."""
    return bool(_RETWEET.search(text[:200]))


def post_penalty(text: str) -> float:
    """Return how much the whole post speaks against an announcement: news, adverts, lists of symbols."""
    penalty = 0.0
    if _NEWS.search(text):
        penalty += 0.25
    if _ADVERT.search(text):
        penalty += 0.3
    if text.count("#") > 3:
        penalty += 0.15
    return penalty


_DECIDED = re.compile(r"\b(?:decided\s+to|had\s+to|chose\s+to|went\s+ahead\s+and)\s+$")


def _prefix(text: str, event: Event) -> str:
    """Return what stands before an action in its clause; a decision counts as the act."""
    boundaries = [match.end() for match in _CLAUSE.finditer(text, 0, event.start)]
    return _DECIDED.sub("", text[boundaries[-1] if boundaries else 0 : event.start])


def is_first_person(text: str, event: Event) -> bool:
    """Whether the author is named as the one who acts."""
    return bool(_FIRST_PERSON.search(text[max(0, event.start - 60) : event.start])) or event.phrase.startswith(
        ("i'm", "im ", "we're")
    )


def is_relative(text: str, event: Event) -> bool:
    """Whether an action only tells which position is meant: ``the $SNOW I sold last week``."""
    before = text[max(0, event.start - 24) : event.start]
    return bool(
        re.search(rf"[{INSTRUMENT}\w]\s+(?:i|we|that\s+i|that\s+we|which\s+i)\s+(?:just\s+|had\s+)?$", before)
    ) and bool(
        re.search(
            rf"(?:{INSTRUMENT}|it|one|shares|position|calls|puts)\s+(?:that\s+|which\s+)?(?:i"
            rf"|we)\s+(?:just\s+|had\s+)?$",
            before,
        )
    )


def is_preposition(text: str, event: Event) -> bool:
    """Whether ``in`` only belongs to the word before it: ``a position in $XOM``."""
    if event.form != "state" or event.phrase.split()[-1] != "in" or len(event.phrase) > 2:
        return False
    return not set(_TOKEN.findall(_prefix(text, event))) <= _BEFORE_IN or text[: event.start].rstrip()[-1:] == ACTION


def refusal(text: str, plain: str, event: Event, segment: tuple[int, int], cased: str) -> str | None:
    """Return why an action is no announcement, or ``None``.

    ``text`` has marks for what was read, ``plain`` none, and ``cased`` is the post's own text.
    """
    start, end = sentence_around(plain, event.start)
    sentence = plain[start:end]
    if "?" in sentence.rstrip()[-3:] or "?" in plain[event.end : min(segment[1], end)]:
        return "a question"
    before = text[max(start, segment[0]) : event.start]
    lead = text[start : event.start]
    prefix = _prefix(text, event)
    if _MODAL.search(prefix) or re.search(
        r"\b(?:if|when|whenever|unless|would|plan|imagine)\b", _since_last_action(lead)
    ):
        return "not done: wished, planned, denied or conditional"
    for match in _PAST.finditer(sentence):
        told = _RELATIVE_VERB.search(sentence[: match.start()])
        of_another = told is not None and told.start(1) + start > event.end
        if not of_another and not _PAST_EXEMPT.search(sentence[: match.start()]):
            return "of the past"
    if _OWNER.match(text, event.end) or _REGRET.search(lead):
        return "what others did"
    if _IF_FIRST.match(sentence) and not is_first_person(text, event):
        return "conditional"
    after = text[event.end : min(segment[1], end)]
    if event.form in ("side", "base", "ongoing", "state") and event.action != "limit" and _conditional(after):
        return "conditional"
    if _HYPOTHETICAL_AFTER.search(after):
        return "conditional"
    if _PLAN.search(plain) and event.form in ("side", "base", "ongoing", "none"):
        return "a plan"
    if event.action == "add" and _COUNTED_OBJECT.match(plain[event.end :]):
        return "news"
    if event.form == "code":
        return None
    if is_first_person(text, event):
        return None
    if (
        _NUMBER_SUBJECT.search(before)
        and event.form == "past"
        and event.action in ("open", "close")
        and INSTRUMENT not in before[-3:]
        and not event.phrase.startswith("stop")
    ):
        return "what others did"
    return "what others did" if _has_other_subject(text, prefix, event, segment, cased) else None


def _has_other_subject(text: str, prefix: str, event: Event, segment: tuple[int, int], cased: str) -> bool:
    """Whether the words before an action may name somebody else who acts.

    Words that are nobody's name are let through when a price stands with the action: nobody quotes the fills of others.
    """
    unknown = [match for match in _TOKEN.finditer(prefix) if match[0] not in _QUIET]
    if not unknown:
        return False
    start = event.start - len(prefix)
    written = [cased[start + match.start() : start + match.end()] for match in unknown]
    named = any(not word.islower() or word.endswith("s") or word in _ACTORS for word in written)
    return named or event.form not in ("past", "state") or not _FILL.search(text, event.end, segment[1])


def _since_last_action(text: str) -> str:
    return text.rsplit(ACTION, 1)[-1]


def _conditional(after: str) -> bool:
    match = _CONDITION_AFTER.search(after)
    return match is not None and LEVEL not in match[0]


def inherits_refusal(text: str, event: Event, previous: Event) -> bool:
    """Whether an action has the subject of the one before: ``Buffett exited airlines and bought $OXY``."""
    between = text[previous.end : event.start]
    return (
        not re.search(r"[.!?\n;]", between)
        and not is_first_person(text, event)
        and bool(re.search(r"(?:\band\b|&|,|\bthen\b|\bbut\b)\s*(?:then\s+|also\s+|just\s+)?$", between))
    )


_SPREAD = re.compile(
    r"\b(?:verticals?|spreads?|condors?|butterfl(?:y|ies)|strangles?|straddles?|diagonals?"
    r"|buy-?writes?|collars?|flies)\b"
    r"|\b\d+(?:\.\d+)?[cp]?/\d+(?:\.\d+)?\s?[cp](?:alls?|uts?|s)?\b"
)


_NAMED_SPREAD = re.compile(
    r"\b(?:credit|debit|puts?|calls?|bull|bear|calendar|vertical|ratio)\s+spreads?\b"
    r"|\biron\s+(?:condors?|butterfl(?:y|ies)|fl(?:y|ies))\b|\b(?:condors?|straddles?|strangles?|butterfl(?:y|ies))\b"
    r"|\b\d+(?:\.\d+)?[cp]?/\d+(?:\.\d+)?\s?(?:[cp]|calls?|puts?|pcs|ccs)\b"
)


def is_spread(text: str, options: bool) -> bool:
    """Whether a part of a post speaks of several options traded as one: no single instrument says that rightly.

    ``options`` tells whether it names an option; without one only words that nothing else is called by count.
    """
    return bool((_SPREAD if options else _NAMED_SPREAD).search(text))


def is_listed(count: int, actions: Sequence[Event]) -> bool:
    """Whether a post names so many symbols that it is a list and no announcement."""
    return count > 5 and count > 3 * max(1, len(actions))
