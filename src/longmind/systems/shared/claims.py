"""When two statements are the same claim: equal words, apart from those that only carry the grammar.

The key of a claim is made from the stems of its words in their order. Articles, the present of "be" and "do", "of" and
punctuation are left out, negations are kept in one form, and clauses that are only told in another order ("Before a
release, run the tests") are put in one order. Similar meaning is not enough: vectors put "doors open" next to "doors
close".
"""

from __future__ import annotations

import re
from hashlib import sha256

from longmind.systems.shared.models import KnowledgeCandidate
from longmind.text.analysis import stem, words

_GRAMMAR = frozenset("a an the is are am be do does of that to please always just also really".split())
_NEGATIONS = frozenset("not no never cannot cant dont doesnt isnt arent wont shouldnt mustnt neednt without".split())
_SAME = {"requir": "need", "necessit": "need", "must": "need", "should": "need", "utilis": "use", "utiliz": "use"}
_CLAUSE = re.compile(
    r"[,;:]\s*|\s+(?=(?:before|after|when|while|if|unless|until|because|since|whenever|once)\b)", re.IGNORECASE
)

ROLE_OF = re.compile(
    r"^the (?P<role>[\w ]{2,40}?) of (?:the )?(?P<x>[^,;:]{2,60}?) (?:is|are) (?P<y>[^,;:]{1,60})$", re.IGNORECASE
)
"""A statement of a role: "The capital of Ghana is Accra"."""


def claim_key(candidate: KnowledgeCandidate) -> str:
    """Return the key of a candidate: equal for the same claim, whoever states it."""
    claim = candidate.claim
    if candidate.identity is not None:
        normal = f"identity {candidate.identity}"
    elif claim is not None:
        normal = _clause(f"{claim.subject} {claim.predicate} {claim.object}")
    elif (role := ROLE_OF.match(candidate.text.strip().rstrip(".!"))) is not None:
        normal = _clause(f"{role['x']} {role['role']} {role['y']}")  # as a fact says it
    else:
        normal = " | ".join(sorted(filter(None, map(_clause, _CLAUSE.split(candidate.text)))))
    return f"shared:{sha256(normal.encode()).hexdigest()[:32]}"


def _clause(text: str) -> str:
    stems = []
    for word in words(text):
        if word in _NEGATIONS:
            stems.append("not")
        elif word not in _GRAMMAR:
            stemmed = stem(word)
            stems.append(_SAME.get(stemmed, stemmed))
    return " ".join(stems)
