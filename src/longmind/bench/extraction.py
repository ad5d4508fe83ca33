"""How often what the rules extract is really said: hand-made labels for a sample of extractions from LoCoMo.

A label names a turn and the hash of what was extracted from it, and says whether a reader finds it stated there, with
the right subject, complete enough to be understood, and with the right date if it has one. No text of the set is kept.
The sample is the 200 extractions whose hashes come first, so it moves little when the rules change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from longmind.bench import datasets
from longmind.consolidate.rules.extraction import extract

SAMPLE = 200


@dataclass(frozen=True, slots=True)
class Precision:
    """What the labels say of what the rules extract now."""

    extracted: int
    """Extractions from the whole set."""
    sampled: int
    labelled: int
    """Those of the sample that have a label; the others came with a change of the rules and nobody read them yet."""
    right: int

    @property
    def share(self) -> float:
        return self.right / self.labelled if self.labelled else 0.0


def labels() -> dict[str, bool]:
    """The verdict on each extraction that was read, by its hash."""
    told = json.loads(files("longmind.bench").joinpath("extraction_labels.json").read_text())
    return {digest: right for _, _, digest, right in told["labels"]}


def extractions(folder: Path) -> list[str]:
    """The hash of everything that the rules extract from the set."""
    found: list[str] = []
    for case in datasets.locomo(folder):
        for item in case.items:
            assert item.occurred_at is not None
            for claim in extract(item.text, item.speaker, item.occurred_at).claims:
                told = f"{case.name}|{item.label}|{claim.subject}|{claim.predicate}|{claim.object}"
                found.append(sha256(told.encode()).hexdigest()[:16])
    return sorted(found)


def precision(folder: Path) -> Precision:
    """How many of the sampled extractions are right."""
    known, found = labels(), extractions(folder)
    sample = found[:SAMPLE]
    verdicts = [known[digest] for digest in sample if digest in known]
    return Precision(len(found), len(sample), len(verdicts), sum(verdicts))
