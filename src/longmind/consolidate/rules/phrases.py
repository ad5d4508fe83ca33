"""From the words after a verb to what they name: cut where the phrase ends, freed of filler, or refused."""

from __future__ import annotations

import re

from longmind.text.dates import TIME_PHRASE

_END = re.compile(
    r"""\s*(?:(?P<mark>[,;:!?…()\[\]|/*~]|\s[-–—]+\s|[–—]|\s-|-\s)
    |\s(?P<such>like\s(?:this|that|these|those|it|you|him|her|them)|such\sas\s(?:this|that|these))\b
    |\s(?P<soft>because|'cause|cuz|coz|since|so|but|while|whenever|though|although|as|till|after|before|even|plus|then
       |than|like|or|except|instead|despite|yet|too|lol|haha|thanks|thank)\b
    |\s(?P<hard>if|unless|until|whether|how|what|why|when|where|wherever|whom|I|I'm|I've|I'll|I'd|we|we're|he|she|they
       |they're|it|it's|that's|you|you're|there|is|are|was|were|has|had|will|can|could|would|did|does|makes|made
       |helps|helped|means|meant|feels|felt|gives|gave|brings|brought|keeps|kept|isn't|aren't|wasn't|don't|didn't)\b
    |(?<!\bto)\s(?P<verb>have|do|make|help|mean|feel|give|bring|keep)\b
    |\s(?P<relative>that|who|which|whose)\b
    |\s(?P<and>and|&)\s(?!(?!also|then|even|just)(?:[a-z]+ing|[a-z]+s|[A-Z]\w+|the|a|an|some|other|my|[a-z]+)
       \s*(?:[,.;!?]|$|(?:and|of|in|for)\s))
    )""",
    re.VERBOSE,
)
_UNFINISHED = re.compile(r"\b(?:an?|the|my|our|some|new|more|really|very|so)\s+[a-z-]+$")
_ADJECTIVE = re.compile(r"\b(?:an?|really|very|so)\s+[a-z-]+$")
_LISTED = re.compile(r"[a-z]\s[A-Z]\w+$")
_NEXT_NAME = re.compile(r"\s*[A-Z]\w+")
_LONE = re.compile(r"\s[\w-]+")
_GOES_ON = re.compile(
    r"\s*(?!(?:the|a|an|my|our|some|it|i|we|they|he|she|you|so|but|and|also|then|even|just|now|"
    r"have|had|got|[a-z]+ed|which|who|to|for|in|at|on|with)\b)[a-z]"
)
_DOING = re.compile(r"\s*[a-z]+ing\b")
_CLAUSE_END = re.compile(r"[,;:.!?…()\[\]]|\s[-–—]+\s|\sand\s+(?:I|we|it|they|he|she|you)\b")
_FILLER = re.compile(
    r"\s+(?:too|also|a lot|so much|very much|as well|these days|though|anyway|lately|right now|now|today|the most|"
    r"more|rather|ever|in the future|sometime|someday|one day|some day|in particular|back|"
    r"back then|itself|already|of course|for sure|actually|really|right|though|best|together|"
    r"all the time|all|everything|btw|"
    r"myself|much|especially|mostly|still|just|once more|soon|already|either|always|in|on|at|to|"
    r"for|with|from|of|by|the|a|an|"
    r"and|about|into|out|up|over|some|more and more|more than anything|every time|every day|every chance|my|their)$",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"^(?:it|that|this|these|those|them|him|her|he|she|they|you|your|yours|such|so|one|ones|how|"
    r"what|when|where|why|who|"
    r"there|here|anything|everything|something|nothing|all|both|each|some|any|every|other|others|more|"
    r"seeing|hearing|knowing|being able|having you|to see|to hear|to know|to be|to say|to tell|to think|"
    r"to do it|to try|in|on|at|for|with|from|about|of|by|to me|not|no|as|if|if you|someone|"
    r"somebody|everyone|people|things|stuff)\b",
    re.IGNORECASE,
)
_POINTS_INSIDE = re.compile(
    r"\b(?:you|your|yours|you're|this|these|those|it|its|him|her|his|them|their|he|she|they|that|"
    r"there|here|we|us|stuff|"
    r"something|anything|everything|someone|same|above|below)\b",
    re.IGNORECASE,
)
_KNOWN_PLACES = re.compile(
    r"^the (?:outdoors|beach|mountains?|ocean|sea|city|countryside|water|sun|rain|snow|gym|park|"
    r"forest|woods|piano|guitar|"
    r"violin|drums|flute|cello|saxophone|clarinet|arts?|theat(?:er|re)|cinema|movies|zoo|library|museum|lake|river|"
    r"stage|kitchen|night sky|stars|moon|cold|heat|[A-Z]\w+)\b"
)
_PARTICLE = re.compile(r"^(?:down|up|out|off|over|back|around|away|through|together|along|forward|onto|into|like|as)\b")
_AMOUNT = re.compile(r"(?:an? )?(?:ton|lot|bit|bunch|load|heap)s?")
_DANGLING = re.compile(r"\s+(?:to\s+[a-z]+|doing|making|going|trying|taking|getting|having|using|learning)$")
_VAGUE = re.compile(
    r"^(?:keep|stay|continue|help out|help you|try|let|thank|check|chat|talk|catch|hang|meet|"
    r"share|come|believe|push|focus|"
    r"look|think|miss|support|stick|remember|hold|grab|send|show|tell|ask|give it|take a|be)\b"
)
_RELATIVE = re.compile(
    r"(?<!\bto)(?<!\bof)(?<!\bin)(?<!\bon)(?<!\bat)(?<!\bfor)(?<!\bwith)(?<!\babout)(?<!ing)\s(?:that|"
    r"who|which|whose)\s"
)
_QUOTES = "\"'“”‘’«»"
MAX_WORDS = 12


def cut(rest: str) -> tuple[str | None, int]:
    """The phrase with which a text begins, and how many characters of the text it takes.

    There is no phrase where the words go on in a way that changes what they say: a condition, or another clause whose
    subject they are. A clause that says which one is meant belongs to the phrase.
    """
    padded, at = f" {rest}", 0
    while (end := _END.search(padded, at)) is not None and (end["and"] or end["mark"] == ","):
        said = padded[: end.start()]
        adjective = _ADJECTIVE.search(said) or (end["and"] and _LONE.fullmatch(said))
        if not (adjective or (end["and"] and _UNFINISHED.search(said))) or not _GOES_ON.match(padded, end.end()):
            break
        if not adjective and _DOING.match(padded, end.end()):
            break
        if end["mark"]:
            return None, end.start()
        at = end.end()  # "a safe and loving home": the noun is still to come
    if end is None:
        return rest.strip(), len(rest)
    if end["mark"] == "," and _LISTED.search(padded[: end.start()]) and _NEXT_NAME.match(padded, end.end()):
        return None, max(0, end.start() - 1)  # a list of names, of which the first alone would be less than was said
    if end["hard"] or end["verb"] or end["such"]:
        return None, max(0, end.start() - 1)
    if end["relative"]:
        stop = _CLAUSE_END.search(padded, end.end())
        last = len(padded) if stop is None else stop.start()
        return padded[:last].strip(), last - 1
    return padded[: end.start()].strip(), max(0, end.start() - 1)


_ITEM = (
    r"(?:(?:the|an?|some|my|our)\s)?(?!(?:I|we|he|she|they|it|you|and|or|but|so)\b)[\w'’-]+"
    r"(?:\s(?!and\b|or\b)[\w'’-]+){0,2}"
)
_LIST = re.compile(rf"\s*{_ITEM}(?:,\s+{_ITEM})+,?\s+(?:and|&)\s+{_ITEM}(?=\s*(?:[.;!]|$))")
_LIST_SIGN = re.compile(r",?\s+(?:and|&)\s+|,\s+|$")


_COUNTED = (
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|some|several)\s(?!(?:few|lot|bit|couple)\b)"
    r"[\w'’-]+(?:\s(?!and\b|or\b|called\b|named\b)[\w'’-]+){0,2}?(?:\s(?:called|named)\s[A-Z][\w'’-]+)?"
)
_COUNTED_LIST = re.compile(
    rf"\s*{_COUNTED}(?:,\s+{_COUNTED})*,?\s+(?:and|&)\s+{_COUNTED}"
    r"(?=\s*(?:[.;!,(]|$|(?:and|but|so|who|that|which|because|in|at|on|with|for|from|since)\b))"
)


def counted(rest: str) -> list[tuple[int, int]]:
    """Return where the items of a list are of which each is counted, "two cats and a dog"; none if it is no such list.

    Two are enough, since a number or an article begins each: in "tea and coffee" nothing tells where the second ends.
    """
    return _places(_COUNTED_LIST.match(rest))


def listed(rest: str) -> list[tuple[int, int]]:
    """Return where the items of a list are with which a text begins, "tea, coffee and juice"; none if it is no list."""
    return _places(_LIST.match(rest))


def _places(match: re.Match[str] | None) -> list[tuple[int, int]]:
    """Return where the items of a list are that was matched."""
    if match is None:
        return []
    places, start = [], 0
    for sign in _LIST_SIGN.finditer(match.group()):
        places.append((start, sign.start()))
        start = sign.end()
    return places


def spoken(text: str, speaker: str) -> str:
    """A phrase with the speaker's own words turned to the speaker's name."""
    text = re.sub(r"(?<![-\w])(?:my|our)(?![-\w])", f"{speaker}'s", text)
    return re.sub(r"(?<![-\w])(?:me|myself)(?![-\w])", speaker, text)


def thing(text: str, *, definite: bool = False, described: bool = False) -> str | None:
    """Return a noun phrase or an activity; None if it refers to something outside the sentence.

    "The colours" refers to something that was shown. With ``definite`` it is accepted, and with ``described`` if it has
    more than three words: "the adoption agency interviews".
    """
    phrase = _stripped(text)
    if not phrase or _POINTING.match(phrase) or _points(phrase):
        return None
    phrase = _DANGLING.sub("", phrase)
    if _AMOUNT.fullmatch(phrase):
        return None
    if _PARTICLE.match(phrase) or _DANGLING.search(f" {phrase}"):
        return None
    if not definite and re.match(r"the\s", phrase, re.IGNORECASE) and not _KNOWN_PLACES.match(phrase):
        if re.match(r"the (?:way|fact|thought|idea|color|look|feeling|sense|details?)\b", phrase):
            return None
        if not re.search(r"\bof\b", phrase) and not (described and len(phrase.split()) > 3):
            return None
    words = phrase.split()
    if len(words) > MAX_WORDS or not re.search(r"[^\W\d_]{3}", phrase):
        return None
    return phrase


def _points(phrase: str) -> bool:
    plain = _RELATIVE.sub(" ", phrase)
    return bool(_POINTS_INSIDE.search(plain) or re.search(r"\bI\b|\bones?$", plain) or TIME_PHRASE.match(plain))


def act(text: str) -> str | None:
    """What somebody does or will do, from a verb on; None if it says nothing by itself."""
    phrase = _stripped(text)
    words = phrase.split()
    if not 2 <= len(words) <= MAX_WORDS or not words[0].isalpha() or not words[0].islower():
        return None
    if _points(phrase) or _VAGUE.match(phrase) or _DANGLING.search(phrase):
        return None
    if words[0] in ("say", "see", "know", "have", "not", "get", "do", "hear", "make", "need", "feel"):
        return None
    if re.search(r"\b(?:the|a|an)\s+(?:one|thing|chance|same)\b", phrase):
        return None
    return phrase


_NAME = re.compile(r"[A-Z][\w'’.&-]*(?:\s+(?:(?:of|the|de|da|del|la|le|von|van|and|&)\s+)?[A-Z][\w'’.&-]*){0,5}")
_NO_NAMES = frozenset(
    """I I'm I've I'll I'd Ok Okay Oh Wow Yes Yeah No Hey Hi Thanks And But So The A An This That It Its Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October
    November December Christmas Thanksgiving Easter Halloween Lol God LOL BTW OMG""".split()
)


def name(text: str) -> str | None:
    """The proper name with which a text begins, if it does."""
    match = _NAME.match(text.lstrip(_QUOTES))
    if match is None:
        return None
    proper = match.group().rstrip(".'’-&")
    proper = re.sub(r"['’]s$", "", proper)
    return None if proper.split()[0] in _NO_NAMES or len(proper) < 2 else proper


def _stripped(text: str) -> str:
    phrase = " ".join(text.split()).strip(" .,;:-–—*~")
    phrase = re.sub(r"^(?:also|just|really|even)\s+", "", phrase)
    before = None
    while before != phrase:
        before = phrase
        phrase = _FILLER.sub("", phrase).strip(" .,;:-–—*~")
        if len(phrase) > 1 and phrase[0] in _QUOTES and phrase[-1] in _QUOTES:
            phrase = phrase[1:-1]
        if (ends := list(TIME_PHRASE.finditer(phrase))) and ends[-1].end() == len(phrase):
            phrase = phrase[: ends[-1].start()].rstrip(" ,")
    return phrase
