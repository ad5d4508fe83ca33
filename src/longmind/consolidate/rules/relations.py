"""The relations that the reader of statements knows, as predicates of semantic memory.

A relation has one value at a time, or many. Only one with one value can replace what was known; what a claim of another
says stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from longmind.text.vocabulary import PARTNER_WORDS


@dataclass(frozen=True, slots=True)
class Relation:
    """How the claims of a relation are stored, by what they say of its time."""

    predicate: str
    many: bool = True
    relates: bool = False
    """Whether the object is something that has a name."""
    past: str | None = None
    """The predicate of what held once; None: the past of it is not kept."""
    intention: str | None = None
    """The verb that tells of it as something to come ("live in"); None: its plans are not kept."""
    coming: str | None = None
    """The predicate of what is to come, where no verb tells of it ("will be in"); None: see ``intention``."""
    stay: str | None = None
    """The predicate of what holds for a short time; None: the same."""
    negated: str | None = None
    """The predicate of what is denied; None: that it does not hold is not kept."""
    also: tuple[str, ...] = ()
    """Further predicates under which the same may be known: those of the patterns."""
    instead_of: tuple[str, ...] = ()
    """Predicates whose values may end where this one begins: of a wife, a girlfriend and a partner there is one.

    Which of their values these are is told by ``replacing.takes_place``.
    """


def kin(word: str, *, many: bool = True, negated: str | None = None) -> Relation:
    """Return the relation to a person or an animal that a word names: "sister", "dog"."""
    predicate = f"has {word}"
    others = tuple(name for name in PARTNER_PREDICATES if name != predicate)
    instead_of = (*others, *OF_A_PARTNER) if predicate in PARTNER_PREDICATES else ()
    return Relation(
        predicate, many, relates=True, past=f"had {word}", negated=negated, also=_HAS, instead_of=instead_of
    )


PARTNER_PREDICATES = tuple(f"has {word}" for word in PARTNER_WORDS)
OF_A_PARTNER = ("relationship",)
"""Where it is known that somebody has no partner, which ends when they have one."""


_HAS = tuple(
    f"has {word}"
    for word in """partner wife husband spouse girlfriend boyfriend fiance fiancee child son daughter kid parent mother
    father mom mum dad sister brother sibling relative grandmother grandma grandfather grandpa aunt uncle cousin niece
    nephew friend colleague boss manager landlord landlady roommate neighbour neighbor pet dog cat puppy kitten
    horse rabbit hamster parrot""".split()
)
"""Who somebody's people and animals are, in the words of the patterns: a claim names them less exactly."""


RELATIONS: dict[str, Relation] = {
    "name": Relation("name", many=False),
    "age": Relation("age", many=False, coming="will be"),
    "birthday": Relation("birthday", many=False),
    "from": Relation("comes from", relates=True),
    "lives_in": Relation(
        "lives in",
        False,
        relates=True,
        past="lived in",
        intention="live in",
        stay="stays in",
        negated="does not live in",
    ),
    "contact": Relation("contact", past="former contact"),
    "language": Relation("speaks", past="spoke", intention="learn", negated="does not speak", also=("is learning",)),
    "belief": Relation("believes in", past="believed in", negated="does not believe in"),
    "works_as": Relation(
        "works as", False, past="worked as", intention="work as", stay="works for now as", negated="does not work as"
    ),
    "works_at": Relation(
        "works at",
        False,
        relates=True,
        past="worked at",
        intention="work at",
        stay="works for now at",
        negated="does not work at",
    ),
    "works_in": Relation(
        "works on",
        past="worked on",
        intention="work on",
        negated="does not work on",
        also=("works in",),
    ),
    "studies": Relation("studies", past="studied", intention="study", negated="does not study", also=("is learning",)),
    "studied_at": Relation(
        "studies at",
        False,
        relates=True,
        past="studied at",
        intention="study at",
        stay="studies for now at",
        negated="does not study at",
    ),
    "skill": Relation("can do", past="could do", intention="learn", negated="cannot do"),
    "partner": kin("partner", many=False),
    "child": kin("child", negated="has no child"),
    "parent": kin("parent"),
    "sibling": kin("sibling"),
    "relative": kin("relative"),
    "knows": kin("contact"),
    "pet": kin("pet", negated="has no pet"),
    "diet": Relation(
        "eats", past="used to eat", intention="eat", negated="does not eat", stay="eats for now", also=("diet", "likes")
    ),
    "allergy": Relation("allergic to", past="was allergic to", negated="not allergic to"),
    "condition": Relation("has condition", past="had condition", negated="does not have condition"),
    "medication": Relation("takes", past="took", intention="take", negated="does not take"),
    "measure": Relation("measures", past="measured", instead_of=("measures",)),
    "likes": Relation("likes", past="liked", negated="dislikes", also=("interested in",)),
    "dislikes": Relation("dislikes", past="disliked"),
    "hobby": Relation(
        "hobby",
        past="former hobby",
        intention="take up",
        negated="does not do",
        also=("plays", "likes", "is learning"),
    ),
    "habit": Relation(
        "habit", past="former habit", intention="begin to", negated="does not", also=("hobby", "plays", "likes")
    ),
    "owns": Relation(
        "owns",
        relates=True,
        past="owned",
        intention="get",
        negated="does not own",
        also=("has", "drives", *_HAS),
    ),
    "uses": Relation(
        "uses",
        relates=True,
        past="used",
        intention="use",
        negated="does not use",
        also=("owns", "has", "drives", *_HAS),
    ),
    "member_of": Relation(
        "member of",
        relates=True,
        past="was member of",
        intention="join",
        negated="not a member of",
        also=("signed up for", "joined"),
    ),
    "event": Relation("event", past="event", coming="plans", also=("plans", "plans to")),
    "deadline": Relation("deadline", many=False, past="past deadline"),
    "instruction": Relation("instruction", instead_of=("instruction",)),
    "located_in": Relation(
        "located in", False, relates=True, past="was located in", coming="will be in", stay="for now in"
    ),
    "property": Relation("is", past="was", coming="will be"),
    "part_of": Relation("part of", relates=True, past="was part of", instead_of=("part of",)),
    "made_by": Relation("made by", relates=True, instead_of=("made by",)),
    "other": Relation("noted", coming="plans"),
}
DENIALS = frozenset(relation.negated for relation in RELATIONS.values() if relation.negated is not None)
"""The predicates of what somebody says does not hold."""
_PLACES = frozenset({"from", "lives_in", "located_in", "part_of", "made_by"})
_HAD = tuple(
    dict.fromkeys(
        predicate
        for name, relation in RELATIONS.items()
        if relation.relates and name not in _PLACES
        for predicate in (relation.predicate, *relation.also)
    )
)
"""What somebody has, uses, belongs to or works at: "quit Ironworks" alone does not tell a gym from a firm."""


def known_by_name(name: str) -> tuple[str, ...]:
    """Return the predicates under which something that a claim of a relation ends may be known by its name."""
    relation = RELATIONS[name]
    if name in _PLACES:
        return (relation.predicate,)
    return _HAD if relation.relates else (relation.predicate, *relation.also)


_LASTING = """name lives_in contact belief language works_as works_at works_in studies studied_at partner knows pet diet
allergy condition medication likes dislikes hobby habit owns uses member_of deadline located_in property"""

DIET = Relation("diet", many=False, past="former diet", stay="diet for now", negated="not on the diet")
"""A way of eating that has a name, of which there is one at a time."""
PHONE = Relation("phone number", many=False, past="former phone number", also=("contact",))
MAIL = Relation("email address", many=False, past="former email address", also=("contact",))
"""Ways to reach somebody, of which the latest is meant; other contacts stand beside each other."""
OF_HEALTH = frozenset({"condition", "allergy", "medication"})
"""Relations of which a doctor's word counts."""
LATEST_MEANT = frozenset({PHONE.predicate, MAIL.predicate})
"""The reader of changes takes another address or number for a second one, however plainly it is told."""
PERSONAL_DEADLINE = Relation("deadline of", past="past deadline")
"""A date by which somebody has to do something that is not named: there may be several."""
QUANTITY = Relation("amounts to", many=False, past="amounted to", coming="will amount to", stay="amounts for now to")
"""A property that is a number: a thing has one value of it at a time, as of a limit, a price or a size."""
SCHEDULE = Relation("takes place", many=False, past="took place", coming="will take place", stay="takes place for now")
"""A property that is a day of the week or an hour: a thing that is done again and again has one time of it."""
RELATIONSHIP = Relation("relationship", many=False, past="former relationship")
"""How somebody lives with somebody, in place of a name."""
ALSO = {
    "diet": (DIET,),
    "contact": (PHONE, MAIL),
    "deadline": (PERSONAL_DEADLINE,),
    "property": (QUANTITY, SCHEDULE),
    "event": (SCHEDULE,),
    "partner": (RELATIONSHIP,),
}
"""Relations that are stored under another predicate where their object is of a certain kind."""
_WORK = ("works_as", "works_at", "works_in")
"""Whoever tells of a new job may mean what is known of any of these."""


def _lasting_predicates(name: str) -> frozenset[str]:
    relations = (*(RELATIONS[each] for each in (_WORK if name in _WORK else (name,))), *ALSO.get(name, ()))
    return frozenset(predicate for each in relations for predicate in (each.predicate, *each.also))


LASTING = {name: _lasting_predicates(name) for name in _LASTING.split()}
"""The relations of what holds for some time and may then be over, with the predicates under which it is known."""
CHANGEABLE = frozenset[str]().union(*LASTING.values())
CHECKED = CHANGEABLE | {"part of", "made by"}
"""The predicates of what the reader of changes is asked about before a claim ends it."""
_OF_THE_LIVING = """lives_in works_at works_as works_in studies studied_at age condition medication diet habit hobby
uses owns likes dislikes member_of"""
OF_THE_LIVING = tuple(
    dict.fromkeys(
        predicate
        for name in _OF_THE_LIVING.split()
        for relation in (RELATIONS[name], *ALSO.get(name, ()))
        for predicate in (relation.predicate, relation.stay, *relation.also)
        if predicate is not None and predicate not in _HAS
    )
)
"""What does not hold of anybody who has died."""
