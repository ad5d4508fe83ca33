"""Closed lists of English words that several readers share: months, weekdays, seasons, number words, relatives."""

from __future__ import annotations

MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
MONTHS = tuple(name.lower() for name in MONTH_NAMES)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CALENDAR_WORDS = frozenset((*WEEKDAYS, *MONTHS))
"""Words that are capitalised and say when, not who."""
SEASON_STARTS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""The month in which each season begins, on the northern half of the earth."""
NUMBER_WORDS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
}
PARTNERS = ("wife", "husband", "spouse", "girlfriend", "boyfriend")
PARENTS = ("mother", "mom", "mum", "father", "dad")
SIBLINGS_AND_CHILDREN = ("son", "daughter", "sister", "brother")
DISTANT_RELATIVES = tuple("grandmother grandma grandfather grandpa aunt uncle cousin niece nephew".split())
RELATIVES = frozenset((*PARTNERS, *PARENTS, *SIBLINGS_AND_CHILDREN, *DISTANT_RELATIVES))
"""Words for a member of a family, in the singular."""
