"""The evaluation sets by name."""

from benchmarks import beam, evaluation, facts, locomo, qmsum
from benchmarks.quality import EvaluationSet

SETS: dict[str, EvaluationSet] = {module.SET.name: module.SET for module in (locomo, beam, facts, qmsum, evaluation)}
