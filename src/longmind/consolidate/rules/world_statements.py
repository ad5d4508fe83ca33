"""What a sentence states of the world, when the whole sentence is such a statement: "The capital of Ghana is Accra".

The forms are general ("The <role> of <X> is <Y>", "<X> was <done> by <Y>", "<X>'s <role> is <Y>" ...); a sentence
counts only if nothing of it is left over. What is said so definitely has one value, and a later statement takes its
place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longmind.consolidate.rules.claims import Claim, Refused
from longmind.text.sentences import Sentence

_X = r"(?P<x>[^,;:!?\"]{1,70}?(?:, [^,;:!?\"]{1,30}){0,2}?|\"[^\"]{1,80}\")"
_BIG = r"(?P<x>(?:the |[a-z]+ )?[\"“]?(?:[A-Z0-9]|[a-z]{1,2}[A-Z]|[^\x00-\x7f])[^;:!?]{0,70}?)"
_Y = r"(?P<y>\S[^;:!?]{0,80}?)"
_TYPED = "city|town|village|country|state|continent|county|province|region|island|place"
_KINDS = f"{_TYPED}|religion|sport|language|position|field|genre|type|team|party|company|school|profession|occupation"
_FORMS = tuple(
    (name, re.compile(f"^{pattern}$"))
    for name, pattern in (
        ("head of government", rf"The (?:name of the )?(?:current )?(?P<r>head) of the {_BIG} government is {_Y}"),
        ("clause", (rf"The (?P<r>[a-z]+(?: [a-z]+){{0,3}}?) (?:where|that|which) {_BIG} (?P<v>(?:was |"
            rf"is )?[a-z]+) is {_Y}")),
        ("maker", (rf"The (?P<r>[a-z]+(?: [a-z]+){{0,3}}?) that (?P<v>[a-z]+ed|made|built|wrote|runs|"
            rf"owns) {_BIG} is {_Y}")),
        ("role", (rf"The (?:name of the )?(?:current )?(?P<r>[A-Za-z]+(?: [A-Za-z]+){{0,4}}?) (?:of|in|at|"
            rf"for) {_BIG} is (?:located in )?(?:the (?:{_TYPED}) of )?{_Y}")),
        ("own", rf"{_X}['’]s (?P<r>[a-z]+(?: [a-z]+){{0,2}}) is (?:named |called )?{_Y}"),
        ("turned", (r"(?P<y>[A-Z]\S*(?: [A-Z]\S*){0,3}) is (?P<x>[A-Z]\S*(?: [A-Z]\S*){0,3})['’]s (?P<r>[a-z]+(?: "
            r"[a-z]+)?)")),
        ("typed", (rf"{_X} (?P<v>(?:is |was )?(?!(?:in|with|to|from|for|by|of|on|at)\b)[a-z]+(?: (?:in|with|to|"
            rf"from|for|by))?) the (?P<k>{_KINDS}) of {_Y}")),
        ("passive", rf"{_X} (?:was|is|were|are) (?P<v>[a-z]+(?:ed|en|un|ilt|ade|old|ven|ung)) by {_Y}"),
        ("citizen", (rf"{_X} is an? (?P<v>citizen|member|resident|native|employee|student|graduate|subsidiary|part|"
            rf"child|friend|fan) of {_Y}")),
        ("state", (rf"{_X} is (?P<v>married to|employed by|famous for|known for|located in|based in|related to|"
            rf"owned by|allergic to|named after|headquartered in) {_Y}")),
    )
)  # fmt: skip
_NEEDED: dict[str, tuple[str, ...]] = {
    "head of government": ("The ", " government is "),
    "clause": ("The ", " is "),
    "maker": ("The ", " that ", " is "),
    "role": ("The ", " is "),
    "own": ("s ", " is "),
    "turned": ("s ", " is "),
    "typed": (" the ", " of "),
    "passive": (" by ",),
    "citizen": (" is a", " of "),
    "state": (" is ",),
}
"""What a form cannot do without. It is looked for first, since expressions take far longer."""
_MANY = frozenset(
    {
        "member of",
        "famous for",
        "known for",
        "child",
        "friend of",
        "friend",
        "sister",
        "brother",
        "sibling",
        "fan of",
        ("allergic to"),
        "related to",
    }
)
_POINTS = re.compile(
    r"^(?:it|he|she|they|this|that|there|these|those|we|i|you|who|which|what|my|your|his|her|our|"
    r"their|one|here|everything"
    r"|everyone|nothing|something|all|so|and|but|also|yes|no|wow|oh|if|when|the (?:best|one|only|"
    r"thing|way|most|next|last"
    r"|first|other|same|rest|whole|idea|goal|key|problem|point|fact))\b(?!\s+(?-i:[A-Z]))",
    re.IGNORECASE,
)
_NAMED = re.compile(r"[\"“]?(?:the |The |(?:de|von|van|al|bin|el|la|le) )?(?:[A-Z0-9]|[a-z]{1,2}[A-Z])|[^\x00-\x7f]")
_PERSON = re.compile(
    r"^(?P<x>[A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:really |also )?(?P<v>likes|loves|enjoys|adores|"
    r"hates|dislikes|lives in|works at|works for|works as|plays|speaks|owns|studies) (?!(?:is|are|"
    r"was|were|will|have|has|had)\b)(?P<y>[^;:!?]{2,60})$"
)
_NAMING = re.compile(r"^(?:called|named|known as) (?=\S)")
"""What stands before a name and is no part of it: "The landlady in Anjos is called Marta"."""
_VERBS = {
    "loves": "likes", "enjoys": "likes", "adores": "likes", "hates": "dislikes", "works for": "works at",
}  # fmt: skip
_RELATING = frozenset({"lives in", "works at", "owns"})
_SPOKEN = re.compile(r"\b(?:you|your|my|me|our|we|it|this|that's)\b|\bI(?:'m|'ve|'d|'ll| (?!\||of\b|the\b)[a-z])")
_MADE = re.compile(r"(?:found|creat|develop|invent|discover|compos|paint|writt|direct|produc|design|perform|publish)")
_NO_SUBJECT = frozenset(
    "Everyone Everybody Nobody Someone Who That This It He She They Anyone Life Nature Music Art".split()
)


def world_statements(sentence: Sentence) -> Iterator[Claim | Refused]:
    """Yield what a sentence states of the world, if all of it is one statement."""
    text = sentence.text.rstrip(" .!")
    if text.endswith((" Inc", " Ltd", " Co", " Jr", " Sr", " Corp", "D.C", "U.S", "U.K", "U.S.A", "F.C", "A.F.C")):
        text = sentence.text.rstrip(" !")
        text = text[:-1] if text.endswith("..") else text
    if " is " not in text and " was " not in text and " the " not in text and not _PERSON.match(text):
        return
    span = (sentence.start, sentence.start + len(text))
    if claim := _claim(text, span):
        yield Refused("question", text, span) if sentence.asks else claim


def _claim(text: str, span: tuple[int, int]) -> Claim | None:
    for name, form in _FORMS:
        match = form.match(text) if all(piece in text for piece in _NEEDED[name]) else None
        if match is not None:
            claim = _of(name, match, span)
            if claim is not None:
                return claim
    match = _PERSON.match(text)
    if match is None or match["x"].split()[0] in _NO_SUBJECT or _POINTS.match(match["y"]):
        return None
    verb = _VERBS.get(match["v"], match["v"])
    if re.search(r"\b(?:you|your|it|him|her|them|this|that)\b", match["y"]):
        return None
    single = verb in ("lives in", "works at")
    return Claim(match["x"], verb, match["y"], span, 0.8, "person", many=not single, relates=verb in _RELATING)


def _of(name: str, match: re.Match[str], span: tuple[int, int]) -> Claim | None:
    x, y = match["x"].strip(' "“”'), _NAMING.sub("", match["y"]).strip(' "“”')
    if not x or not y or _POINTS.match(x) or _POINTS.match(y) or x.lower() == y.lower():
        return None
    if _SPOKEN.search(f"{x} | {y}"):
        return None
    if not _about_names(name, x, y, match):
        return None
    predicate = _predicate(name, match)
    if name in ("role", "clause") and not _plain(match["r"], y):
        return None
    return Claim(x, predicate, y, span, 0.8, f"stated {name}", many=predicate in _MANY, relates=True)


def _about_names(form: str, x: str, y: str, match: re.Match[str]) -> bool:
    """Whether what must be a name is one; "painting was loved by everyone" is no statement about the world."""
    if form in ("typed", "head of government"):
        return True
    if form in ("role", "clause"):
        return True
    if form == "passive":
        return bool(_NAMED.match(y) and (_NAMED.match(x) or _MADE.match(match["v"])))
    if form == "state":
        return bool(_NAMED.match(x))
    return bool(_NAMED.match(x) and _NAMED.match(y))


def _plain(role: str, y: str) -> bool:
    """Whether a role and its value are short enough, and concrete enough, to be one."""
    vague = (
        r"(?:sense|beauty|importance|thought|idea|power|joy|feeling|love|way|rest|part|time|day|look|"
        r"sound|best|kind|lot)"
    )
    return not re.search(rf"\b{vague}\b", role) and not re.match(
        r"(?:so|very|really|just|always|about|to|not|like)\b|\w+ing\b", y
    )


def _predicate(name: str, match: re.Match[str]) -> str:
    if name == "head of government":
        return "head of government"
    if name in ("clause", "maker"):
        verb = re.sub(r"^(?:was|is) ", "", match["v"])
        return f"{match['r']} ({verb})"
    if name in ("role", "own", "turned"):
        return match["r"].lower()
    verb = re.sub(r"^(?:is|was) ", "", match["v"])
    if name == "typed":
        return verb if re.fullmatch(_TYPED, match["k"]) else f"{verb} {match['k']}"
    return {"passive": f"{verb} by", "citizen": f"{verb} of"}.get(name, verb)
