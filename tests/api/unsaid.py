"""Why a request that the OpenAPI document allows may be refused: what JSON Schema cannot say, and its problems."""

from __future__ import annotations

import re

_DRAFTS = "PageDraft|Procedure|Criterion|Experience|EventDraft|Observation|ValueWrite|Message|Evidence|Source|Task"
_DRAFTS += "|Pattern|PlanStep"
UNSAID: dict[str, tuple[str, ...]] = {
    "parameters of a query exclude each other": ("give a user or all_users, not both",),
    "14.0 is an integer to JSON Schema, and none to a strict reader": ("Input should be a valid integer",),
    "of one of many types, the error told is that of the first": (r"\.str in the body is not valid",),
    "the server makes it": ("[Cc]ursor",),
    "a text whose content has a format of its own": (
        "Invalid JSON",
        "is not (JSON|a JSON object)",
        "The export was cut short",
        "Input should be a valid datetime",
    ),
    "a rule for every value inside free JSON": ("NUL character", "must fit 64 bits"),
    "a draft is any object here, and is validated where it is used": (f"^({_DRAFTS}) is not valid",),
    "an object of one of many kinds": (
        "is not a message",
        "content must be text or",
        "No memory system (takes this|is named)",
    ),
    "what is empty depends on the kind of content": (
        "An empty (text|record) cannot be remembered",
        "There is nothing to remember",
    ),
    "one of several fields is needed": (
        "Say what to (remove|forget)",
        "An outcome of what",
        "The filter is empty",
    ),
    "fields go together": (
        "both premises and a conclusion",
        "is not a pattern",
        "^Predicate is not valid: Predicate",
        "keep is for a value",
        "related to itself",
        "cannot have a key",
        "A key is for one memory",
        "twice in the batch",
        "is given twice, in the filter and beside it",
        "depth must be from 1 to 8",
        "The filter is not usable: metadata",
    ),
    "compared with another, or with now": (
        "span must be",
        "ends before it begins",
        "after its episode ended",
        "The episode cannot end at",
        "is not after valid_from",
        "expired already",
        "has passed",
    ),
    "times and durations have no bounds there": (
        "outside the years 1 to 9999",
        "too far away",
        "less than or equal to 36500 days",
    ),
    "a record may stand for a name, and is found by another of its fields": (
        "A concept needs a name",
        "A predicate has 1 to 80",
    ),
    "a key is made of a name, folded by Unicode's rules or with another name before it": (
        r"^keys\.\d+ is not valid",
        "^Memory is not valid: key",
    ),
    "it depends on what is stored": (
        "cannot relate concepts",
        "No plan could be made",
        "(belongs to|declared for) the whole agent",
    ),
    "some names are taken": ("cannot be a label", "cannot be a predicate"),
}
_ANY = re.compile("|".join(problem for problems in UNSAID.values() for problem in problems))


def is_unsaid(problem: str) -> bool:
    """Return whether the document could not have said that a request with this problem is refused."""
    return _ANY.search(problem) is not None
