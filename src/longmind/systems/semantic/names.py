"""Identity of concepts, predicates and values: how their names are normalised, and the keys they are stored under.

The database keeps keys unique, so two processes cannot both create a record with the same key.
"""

from __future__ import annotations

import unicodedata
from hashlib import sha256

from longmind.errors import InvalidInput
from longmind.types import Scalar

MAX_PREDICATE = 80
_KEY_ROOM = 150
LEARNT = "learnt"
"""The key in the metadata of a concept or predicate that exists only because a fact named it: it goes when the last
such fact is erased. Defining or declaring it takes the mark away."""
STRUCTURAL = frozenset({"about", "achieves", "alias_of", "derived_from", "next", "part_of", "supersedes"})
"""Relations between records. A predicate is stored as a relation too, so it may not have one of these names."""


def fold_name(name: str) -> str:
    """Return a name without differences of case, compatibility form and spacing. Accents count: Peña is not Pena."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def concept_key(name: str) -> str:
    """Return the key of a concept's name or alias. Both share one namespace, so that a name belongs to one concept."""
    text = fold_name(name)
    if not text:
        raise InvalidInput("A concept needs a name.", hint="Give at least one visible character.")
    return f"concept:{text if len(text) <= _KEY_ROOM else '#' + _digest(text)}"


def predicate_name(name: str) -> str:
    """Return the stored form of a predicate: folded, with spaces, so ``Lives_in`` and ``lives in`` are the same."""
    text = fold_name(name.replace("_", " "))
    if not text or len(text) > MAX_PREDICATE:
        raise InvalidInput(
            f"A predicate has 1 to {MAX_PREDICATE} characters, and {name[:40]!r} has {len(text)}.",
            hint="Use a short verb phrase, such as 'lives in'; what is more goes into the object or the qualifiers.",
        )
    if any(ord(c) < 32 or ord(c) == 127 for c in text):
        raise InvalidInput("A predicate has no control characters.", hint="Use a short verb phrase.")
    if text in STRUCTURAL:
        raise InvalidInput(
            f"{text!r} cannot be a predicate: records are linked by that name.", hint="Say it in other words."
        )
    return text


def predicate_key(name: str) -> str:
    return f"predicate:{name}"


def value_identity(value: Scalar | None, concept: str | None) -> str:
    """Return a string that is equal for equal objects: the concept, or the value with its type (1 equals 1.0)."""
    if concept is not None:
        return f"c:{concept}"
    if isinstance(value, bool):
        return f"b:{value}"
    if isinstance(value, int | float):
        whole = isinstance(value, int) or value.is_integer()
        return f"n:{int(value)}" if whole else f"n:{value!r}"
    return f"s:{fold_name(value or '')}"


def slot_key(subject: str, predicate: str, identity: str | None) -> str:
    """Return the key of a timeline: subject and predicate, and also the object if several values may hold at once."""
    slot = f"fact:{subject}|{predicate}"
    return slot if identity is None else f"{slot}|{value_digest(identity)}"


def value_digest(identity: str) -> str:
    """Return a short digest of a value's identity, for keys and the metadata of links."""
    return _digest(identity)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
