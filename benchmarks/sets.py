"""The evaluation sets by name."""

from benchmarks import beam, evaluation, facts, hops, locomo, qmsum
from benchmarks.quality import EvaluationSet

SETS: dict[str, EvaluationSet] = {
    module.SET.name: module.SET for module in (locomo, beam, facts, hops, qmsum, evaluation)
}
