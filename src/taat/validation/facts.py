"""Rules as facts: subject, predicate and object, each valid from one moment to another."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from taat.models import Frozen
from taat.validation.rules import NAMES, Rules, rule_name

RULES_SUBJECT = "trading rules"
"""The subject of the rules that hold for every announcer."""
_BEGINNING = datetime.min.replace(tzinfo=UTC)


class RuleFact(Frozen):
    """The value of one rule for a time: ``trading rules``, ``maximum position money``, ``10000``."""

    subject: str = RULES_SUBJECT
    predicate: str
    object: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @property
    def name(self) -> str:
        """The rule's name, as a field of ``Rules``."""
        return rule_name(self.predicate)

    def holds_at(self, moment: datetime) -> bool:
        begins = self.valid_from is None or self.valid_from <= moment
        return begins and (self.valid_to is None or moment < self.valid_to)


def rules_subject(announcer: str | None = None) -> str:
    """Return the subject of the rules' facts: for everyone, or for one announcer."""
    return RULES_SUBJECT if announcer is None else f"{RULES_SUBJECT} for {announcer}"


def predicate_of(name: str) -> str:
    """Return a rule's predicate: its name in words."""
    return rule_name(name).replace("_", " ")


def rule_fact(
    name: str, text: str, *, valid_from: datetime | None = None, announcer: str | None = None, base: Rules | None = None
) -> RuleFact:
    """Return the fact that gives a rule a value; the value is checked and written in its plain form."""
    rules = (base or Rules()).changed(name, text)
    return RuleFact(
        subject=rules_subject(announcer),
        predicate=predicate_of(name),
        object=rules.text(rule_name(name)),
        valid_from=valid_from,
    )


def to_facts(
    rules: Rules, *, valid_from: datetime | None = None, announcer: str | None = None, base: Rules | None = None
) -> list[RuleFact]:
    """Return one fact for each rule, or for each that differs from ``base``."""
    return [
        RuleFact(
            subject=rules_subject(announcer),
            predicate=predicate_of(name),
            object=rules.text(name),
            valid_from=valid_from,
        )
        for name in NAMES
        if base is None or getattr(base, name) != getattr(rules, name)
    ]


def from_facts(facts: Iterable[RuleFact], at: datetime, *, announcer: str | None = None) -> Rules:
    """Return the rules that hold at a moment: the defaults, over them the facts, over them the announcer's own.

    Of two facts that hold at once the one that began later counts, and of those the later in the sequence. A fact
    about a rule that does not exist is an error: a limit that nobody reads would protect from nothing.
    """
    holding = [fact for fact in facts if fact.holds_at(at)]
    texts = _latest(holding, RULES_SUBJECT)
    if announcer is not None:
        texts |= _latest(holding, rules_subject(announcer))
    return Rules().with_texts(texts)


def _latest(facts: Sequence[RuleFact], subject: str) -> dict[str, str]:
    of_subject = [fact for fact in facts if fact.subject.casefold() == subject.casefold()]
    return {fact.name: fact.object for fact in sorted(of_subject, key=lambda fact: fact.valid_from or _BEGINNING)}
