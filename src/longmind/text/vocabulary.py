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
PARTNER_WORDS = ("partner", *PARTNERS, "fiance", "fiancee", "fiancé", "fiancée")
PARENTS = ("mother", "mom", "mum", "father", "dad")
SIBLINGS_AND_CHILDREN = ("son", "daughter", "sister", "brother")
DISTANT_RELATIVES = tuple("grandmother grandma grandfather grandpa aunt uncle cousin niece nephew".split())
RELATIVES = frozenset((*PARTNERS, *PARENTS, *SIBLINGS_AND_CHILDREN, *DISTANT_RELATIVES))
"""Words for a member of a family, in the singular."""
LANGUAGE_NAMES = tuple(
    """english french german spanish portuguese italian dutch polish russian ukrainian arabic turkish greek hindi urdu
    bengali punjabi tamil chinese mandarin cantonese japanese korean vietnamese thai swedish danish norwegian finnish
    czech romanian hungarian hebrew persian farsi swahili welsh irish gaelic catalan basque""".split()
)
FAMILY = (
    r"(?:mother|mom|mum|father|dad|parents|sister|brother|siblings?|sisters|brothers|son|sons|daughter|daughters|kids?"
    r"|child|children|twins|wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|"
    r"grandmother|grandma|grandfather"
    r"|grandpa|grandparents|grandson|granddaughter|aunt|uncle|cousins?|niece|nephew|family|stepson|stepdaughter|stepmom"
    r"|stepdad|mother-in-law|father-in-law|sister-in-law|brother-in-law|roommate|friends?|colleague|boss|manager"
    r"|landlord|landlady|coach|mentor"
    r"|teacher|neighbou?rs?)"
)
PETS = (
    r"(?:dogs?|cats?|pupp(?:y|ies)|pups?|kittens?|kitt(?:y|ies)|horses?|rabbits?|bunn(?:y|ies)|hamsters?|guinea pigs?"
    r"|turtles?|tortoises?|parrots?|birds?|fish|goldfish|snakes?|lizards?|geckos?|chickens?|"
    r"ducks?|goats?|cows?|pigs?|pon(?:y|ies)"
    r"|ferrets?|pets?)"
)
"""Expressions of words for people and animals that somebody has, in the singular and the plural."""
