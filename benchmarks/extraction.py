"""How often an extracted claim is really stated: labels for a sample of extractions from LoCoMo.

A label names a turn and the hash of a claim extracted from it. It says whether a reader finds the claim stated there,
with the right subject, complete enough to be understood, and with the right date if it has one. No text of the set is
kept. The sample is the 200 extractions whose hashes sort first, so it changes little when the rules change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from benchmarks import locomo
from longmind.consolidate.rules.extraction import extract

SAMPLE = 200


@dataclass(frozen=True, slots=True)
class Precision:
    """How many of the claims that the rules extract now are right, by the labels."""

    extracted: int
    """Claims extracted from the whole set."""
    sampled: int
    labelled: int
    """Claims of the sample that have a label; the others are new since a change of the rules."""
    right: int

    @property
    def share(self) -> float:
        """The share of the labelled claims that are right, from 0 to 1."""
        return self.right / self.labelled if self.labelled else 0.0


def labels() -> dict[str, bool]:
    """Return whether each labelled claim is right, by its hash."""
    rows = json.loads(Path(__file__).with_name("extraction_labels.json").read_text(encoding="utf-8"))["labels"]
    return {digest: right for _, _, digest, right in rows}


def extractions(folder: Path) -> list[str]:
    """Return the hashes of all claims that the rules extract from the set, sorted."""
    hashes: list[str] = []
    for case in locomo.cases(folder):
        for item in case.items:
            assert item.occurred_at is not None
            for claim in extract(item.text, item.speaker, item.occurred_at).claims:
                claim_key = f"{case.name}|{item.label}|{claim.subject}|{claim.predicate}|{claim.object}"
                hashes.append(sha256(claim_key.encode()).hexdigest()[:16])
    return sorted(hashes)


def precision(folder: Path) -> Precision:
    """Return how many of the sampled claims are right."""
    known, hashes = labels(), extractions(folder)
    sample = hashes[:SAMPLE]
    verdicts = [known[digest] for digest in sample if digest in known]
    return Precision(len(hashes), len(sample), len(verdicts), sum(verdicts))
