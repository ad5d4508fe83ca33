"""How agreeing and contradicting observations change the confidence of a trait. Pure functions.

Agreement closes part of the gap to certainty; contradiction removes part of the confidence. Neither overwrites it.
"""

from __future__ import annotations

from longmind.systems.persona.models import (
    MAX_EVIDENCE,
    MAX_READINGS,
    MAX_RIVALS,
    PersonaSettings,
    Rival,
    TraitBody,
    TraitReading,
)
from longmind.text.analysis import fold
from longmind.types import Moment

CERTAIN = 0.99
"""The highest confidence that observations alone can reach."""


def fold_label(text: str) -> str:
    """Return a text as it is compared: without differences of case, accents and spacing."""
    return " ".join(fold(text).split())


def raise_confidence(confidence: float, observed: float) -> float:
    """Return a confidence after an observation that agrees."""
    return max(confidence, min(CERTAIN, 1.0 - (1.0 - confidence) * (1.0 - observed)))


def lower_confidence(confidence: float, observed: float, share: float) -> float:
    """Return a confidence after an observation that contradicts."""
    return confidence * (1.0 - share * observed)


def blend_scores(score: float | None, observed: float | None, confidence: float, weight: float) -> float | None:
    """Return the mean of two scores, each weighted by its confidence; if one is None, the other."""
    if observed is None or score is None:
        return score if observed is None else observed
    return min(max((score * confidence + observed * weight) / (confidence + weight), 0.0), 1.0)


def merge_evidence(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Return the evidence with more added, at most the latest ``MAX_EVIDENCE``."""
    return tuple(dict.fromkeys((*known, *new)))[-MAX_EVIDENCE:]


def with_support(body: TraitBody, observed: Rival, at: Moment) -> TraitBody:
    """Return a trait after an observation of its current value."""
    updated = body.model_copy(
        update={
            "score": blend_scores(body.score, observed.score, body.confidence, observed.confidence),
            "confidence": raise_confidence(body.confidence, observed.confidence),
            "observations": body.observations + observed.observations,
            "evidence": merge_evidence(body.evidence, observed.evidence),
        }
    )
    return with_reading(updated, at)


def with_opposition(body: TraitBody, observed: Rival, settings: PersonaSettings, at: Moment) -> TraitBody:
    """Return a trait after an observation of another value, which becomes a rival or strengthens an existing one."""
    known = {fold_label(rival.value): rival for rival in body.rivals}
    before = known.pop(fold_label(observed.value), None)
    if before is None:
        share = lower_confidence(observed.confidence, body.confidence, settings.contradiction)
        rival = observed.model_copy(update={"confidence": share})
    else:
        rival = before.model_copy(
            update={
                "score": blend_scores(before.score, observed.score, before.confidence, observed.confidence),
                "confidence": raise_confidence(before.confidence, observed.confidence),
                "observations": before.observations + observed.observations,
                "evidence": merge_evidence(before.evidence, observed.evidence),
            }
        )
    rivals = sorted([*known.values(), rival], key=lambda r: (-r.confidence, r.value))[:MAX_RIVALS]
    updated = body.model_copy(
        update={
            "confidence": lower_confidence(body.confidence, observed.confidence, settings.contradiction),
            "against": body.against + 1,
            "rivals": tuple(rivals),
        }
    )
    return with_reading(updated, at)


def find_winner(body: TraitBody, settings: PersonaSettings) -> Rival | None:
    """Return the rival that is now surer than the current value and was observed often enough, or None."""
    for rival in body.rivals:
        if rival.confidence > body.confidence and rival.observations >= settings.overturn:
            return rival
    return None


def with_rival_value(body: TraitBody, rival: Rival, at: Moment) -> TraitBody:
    """Return the trait with a rival's value; the old value becomes a rival, so that it may win again."""
    old = Rival(
        value=body.value,
        score=body.score,
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
        confidence=rival.confidence,
        observations=rival.observations,
        evidence=rival.evidence,
        rivals=tuple(sorted([*others, old], key=lambda r: (-r.confidence, r.value))[:MAX_RIVALS]),
    )
    return with_reading(updated, at)


def with_reading(body: TraitBody, at: Moment) -> TraitBody:
    """Return the trait with its current score and confidence added to its readings."""
    reading = TraitReading(at=at, score=body.score, confidence=body.confidence)
    return body.model_copy(update={"readings": (*body.readings, reading)[-MAX_READINGS:]})
