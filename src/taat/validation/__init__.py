"""Rules over a signal: a verdict with a reason for each rule."""

from taat.validation.facts import (
    RULES_SUBJECT,
    RuleFact,
    from_facts,
    predicate_of,
    rule_fact,
    rules_subject,
    to_facts,
)
from taat.validation.rules import NAMES, Rules, describe, rule_name
from taat.validation.situation import OPENING, AnnouncerRecord, Situation, fingerprint, in_steps, smallest_step
from taat.validation.validator import validate
from taat.validation.verdict import Check, Outcome, Verdict

__all__ = [
    "NAMES",
    "OPENING",
    "RULES_SUBJECT",
    "AnnouncerRecord",
    "Check",
    "Outcome",
    "RuleFact",
    "Rules",
    "Situation",
    "Verdict",
    "describe",
    "fingerprint",
    "from_facts",
    "in_steps",
    "predicate_of",
    "rule_fact",
    "rule_name",
    "rules_subject",
    "smallest_step",
    "to_facts",
    "validate",
]
