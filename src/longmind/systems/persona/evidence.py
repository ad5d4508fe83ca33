"""How observations change the confidence of a trait. Pure functions.

Each value that was observed for a dimension has a support: how many independent pieces of evidence speak for it, each
weighted by how sure it was and by how recent it is. The confidence of a value is ``support / (all support + prior)``,
the mean of a Dirichlet distribution (for two values, a Beta distribution). So one remark is not much, many are sure, a
contradiction lowers confidence without overwriting anything, and what nobody observes any more fades.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from longmind.systems.persona.models import (
    MAX_EVIDENCE,
    MAX_READINGS,
    MAX_RIVALS,
    Observation,
    PersonaSettings,
    Rival,
    TraitBody,
    TraitReading,
)
from longmind.text.analysis import fold
from longmind.types import Moment

CERTAIN = 0.99
"""The highest confidence that observations alone can reach."""
_DAY = 86_400.0


def fold_label(text: str) -> str:
    """Return a text as it is compared: without differences of case, accents and spacing."""
    return " ".join(fold(text).split())


def raise_confidence(confidence: float, observed: float) -> float:
    """Return the confidence of a knowledge entry after an observation that agrees."""
    return max(confidence, min(CERTAIN, 1.0 - (1.0 - confidence) * (1.0 - observed)))


def blend_scores(score: float | None, observed: float | None, support: float, weight: float) -> float | None:
    """Return the mean of two scores, each weighted by its support; if one is None, the other."""
    if observed is None or score is None:
        return score if observed is None else observed
    return min(max((score * support + observed * weight) / (support + weight), 0.0), 1.0)


def merge_evidence(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Return the evidence with more added, at most the latest ``MAX_EVIDENCE``."""
    return tuple(dict.fromkeys((*known, *new)))[-MAX_EVIDENCE:]


def first_observed(
    about: str, dimension: str, observed: Observation, settings: PersonaSettings, at: Moment
) -> TraitBody:
    """Return a trait after its first observation."""
    fields = {"about": about, "dimension": dimension, "weighed_at": at, **observed.model_dump(exclude={"confidence"})}
    fields |= {"support": observed.weight, "confidence": 0.0}
    return with_reading(weighed(TraitBody.model_validate(fields), settings), at)


def weighed(body: TraitBody, settings: PersonaSettings) -> TraitBody:
    """Return a trait with the confidence of each of its values, by their support."""
    total = body.support + sum(rival.support for rival in body.rivals) + settings.prior
    rivals = [rival.model_copy(update={"confidence": min(rival.support / total, CERTAIN)}) for rival in body.rivals]
    return body.model_copy(
        update={"confidence": min(body.support / total, CERTAIN), "rivals": tuple(_ranked(rivals)[:MAX_RIVALS])}
    )


def faded(body: TraitBody, settings: PersonaSettings, now: datetime) -> TraitBody:
    """Return a trait as it is now: support halves with every half-life since it was last weighed."""
    days = max((now - body.weighed_at).total_seconds(), 0.0) / _DAY if body.weighed_at is not None else 0.0
    if days == 0.0:
        return body
    share = 0.5 ** (days / settings.half_life_days)
    rivals = tuple(rival.model_copy(update={"support": rival.support * share}) for rival in body.rivals)
    later = body.model_copy(update={"support": body.support * share, "rivals": rivals, "weighed_at": now})
    return weighed(later, settings)


def with_support(body: TraitBody, observed: Observation, settings: PersonaSettings, at: Moment) -> TraitBody:
    """Return a trait after an observation of its current value."""
    updated = body.model_copy(
        update={
            "score": blend_scores(body.score, observed.score, body.support, observed.weight),
            "support": body.support + observed.weight,
            "observations": body.observations + observed.observations,
            "evidence": merge_evidence(body.evidence, observed.evidence),
        }
    )
    return with_reading(weighed(updated, settings), at)


def with_opposition(body: TraitBody, observed: Observation, settings: PersonaSettings, at: Moment) -> TraitBody:
    """Return a trait after an observation of another value, which becomes a rival or strengthens an existing one."""
    known = {fold_label(rival.value): rival for rival in body.rivals}
    before = known.pop(fold_label(observed.value), None)
    if before is None:
        fields = {**observed.model_dump(exclude={"confidence"}), "support": observed.weight, "confidence": 0.0}
        rival = Rival.model_validate(fields)
    else:
        rival = before.model_copy(
            update={
                "score": blend_scores(before.score, observed.score, before.support, observed.weight),
                "support": before.support + observed.weight,
                "observations": before.observations + observed.observations,
                "evidence": merge_evidence(before.evidence, observed.evidence),
            }
        )
    updated = body.model_copy(
        update={"against": body.against + observed.observations, "rivals": (*known.values(), rival)}
    )
    return with_reading(weighed(updated, settings), at)


def find_winner(body: TraitBody, settings: PersonaSettings) -> Rival | None:
    """Return the rival that is now surer than the current value and was observed often enough, or None."""
    for rival in body.rivals:
        if rival.support > body.support and rival.observations >= settings.overturn:
            return rival
    return None


def corrected(body: TraitBody, observed: Observation, settings: PersonaSettings) -> Rival:
    """Return the rival that a correction states, with the support that makes it as sure as the correction is."""
    known = {fold_label(rival.value): rival for rival in body.rivals}
    rival = known[fold_label(observed.value)]
    sure = min(observed.confidence, CERTAIN)
    others = body.support + sum(other.support for other in body.rivals if other is not rival) + settings.prior
    return rival.model_copy(update={"support": others * sure / (1.0 - sure), "confidence": sure})


def with_rival_value(body: TraitBody, rival: Rival, settings: PersonaSettings, at: Moment) -> TraitBody:
    """Return the trait with a rival's value; the old value becomes a rival, so that it may win again."""
    old = Rival(
        value=body.value,
        score=body.score,
        support=body.support,
        confidence=body.confidence,
        observations=body.observations,
        evidence=body.evidence,
    )
    others = [r for r in body.rivals if fold_label(r.value) != fold_label(rival.value)]
    updated = TraitBody(
        about=body.about,
        dimension=body.dimension,
        value=rival.value,
        score=rival.score,
        support=rival.support,
        confidence=rival.confidence,
        observations=rival.observations,
        evidence=rival.evidence,
        rivals=(*others, old),
        weighed_at=at,
    )
    return with_reading(weighed(updated, settings), at)


def with_reading(body: TraitBody, at: Moment) -> TraitBody:
    """Return the trait with its current score and confidence added to its readings."""
    reading = TraitReading(at=at, score=body.score, confidence=body.confidence)
    return body.model_copy(update={"readings": (*body.readings, reading)[-MAX_READINGS:]})


def _ranked(rivals: Sequence[Rival]) -> list[Rival]:
    return sorted(rivals, key=lambda rival: (-rival.support, rival.value))
