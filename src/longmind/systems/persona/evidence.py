"""How sure one may be: what agreeing and contradicting observations do to a confidence.

Agreement closes a part of the gap to certainty, contradiction takes away a part of what is there. Neither overwrites.
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
"""Nothing that was only observed is surer than this."""


def folded(text: str) -> str:
    """A text as it is compared: without differences of case, accent and spacing."""
    return " ".join(fold(text).split())


def agreed(confidence: float, observed: float) -> float:
    """A confidence after an observation that says the same."""
    return max(confidence, min(CERTAIN, 1.0 - (1.0 - confidence) * (1.0 - observed)))


def contradicted(confidence: float, observed: float, share: float) -> float:
    """A confidence after an observation that says otherwise."""
    return confidence * (1.0 - share * observed)


def blended(score: float | None, observed: float | None, confidence: float, weight: float) -> float | None:
    """A score after another one was observed, each counting by how sure it is."""
    if observed is None or score is None:
        return score if observed is None else observed
    return min(max((score * confidence + observed * weight) / (confidence + weight), 0.0), 1.0)


def seen(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Evidence with more added, the latest kept."""
    return tuple(dict.fromkeys((*known, *new)))[-MAX_EVIDENCE:]


def supported(body: TraitBody, observed: Rival, at: Moment) -> TraitBody:
    """A trait after an observation of its own value."""
    updated = body.model_copy(
        update={
            "score": blended(body.score, observed.score, body.confidence, observed.confidence),
            "confidence": agreed(body.confidence, observed.confidence),
            "observations": body.observations + observed.observations,
            "evidence": seen(body.evidence, observed.evidence),
        }
    )
    return noted(updated, at)


def opposed(body: TraitBody, observed: Rival, settings: PersonaSettings, at: Moment) -> TraitBody:
    """A trait after an observation of another value, which becomes, or grows as, a rival."""
    known = {folded(rival.value): rival for rival in body.rivals}
    before = known.pop(folded(observed.value), None)
    if before is None:
        share = contradicted(observed.confidence, body.confidence, settings.contradiction)
        rival = observed.model_copy(update={"confidence": share})
    else:
        rival = before.model_copy(
            update={
                "score": blended(before.score, observed.score, before.confidence, observed.confidence),
                "confidence": agreed(before.confidence, observed.confidence),
                "observations": before.observations + observed.observations,
                "evidence": seen(before.evidence, observed.evidence),
            }
        )
    rivals = sorted([*known.values(), rival], key=lambda r: (-r.confidence, r.value))[:MAX_RIVALS]
    updated = body.model_copy(
        update={
            "confidence": contradicted(body.confidence, observed.confidence, settings.contradiction),
            "against": body.against + 1,
            "rivals": tuple(rivals),
        }
    )
    return noted(updated, at)


def winner(body: TraitBody, settings: PersonaSettings) -> Rival | None:
    """The rival that is surer now than the value that holds, and was observed often enough."""
    for rival in body.rivals:
        if rival.confidence > body.confidence and rival.observations >= settings.overturn:
            return rival
    return None


def overturned(body: TraitBody, rival: Rival, at: Moment) -> TraitBody:
    """The trait with a rival's value, and the old value among the rivals: it may come back."""
    old = Rival(
        value=body.value,
        score=body.score,
        confidence=body.confidence,
        observations=body.observations,
        evidence=body.evidence,
    )
    others = [r for r in body.rivals if folded(r.value) != folded(rival.value)]
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
    return noted(updated, at)


def noted(body: TraitBody, at: Moment) -> TraitBody:
    """The trait with how it stands now added to how it came to this."""
    reading = TraitReading(at=at, score=body.score, confidence=body.confidence)
    return body.model_copy(update={"readings": (*body.readings, reading)[-MAX_READINGS:]})
