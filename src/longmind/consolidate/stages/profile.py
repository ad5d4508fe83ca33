"""The stage ``profile``: adds what hot topics say about the user to the user's profile.

A topic is hot when it was visited often, is long, or is recent. The facts that were extracted from its pages become
knowledge about the user. How the user writes becomes traits, each with the topic as evidence. No value is overwritten:
a contrary observation lowers the confidence of what was believed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from longmind.consolidate.work import Work, in_order
from longmind.errors import InvalidInput
from longmind.store.reads import all_links
from longmind.systems.dialogue import DialogueMemory, DialoguePage, DialogueSegment
from longmind.systems.ownership import own_key
from longmind.systems.persona import PersonaMemory, entry_name
from longmind.types import Scope

_ABOUT_USER = frozenset(
    {"likes", "dislikes", "interested in", "allergic to", "lives in", "comes from", "works as", "works at", "studies"}
    | {"has", "owns", "plays", "speaks", "name", "age"}
)
"""Predicates that say who somebody is, rather than what happened."""
_MIN_TURNS = 5
_POLITE = re.compile(r"\b(?:please|thanks|thank you|appreciate|sorry)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProfileStage:
    """The stage."""

    name: str = "profile"

    async def propose(self, work: Work) -> None:
        users = {m.user for m in work.sources if m.kind in ("message", "page")}
        users.update(await work.users_with_topics() if work.upkeep else ())
        for user in in_order(users):
            scoped = work.scoped(user)
            dialogue, persona = DialogueMemory(scoped), PersonaMemory(scoped)
            hot = await dialogue.hot()
            await _prefetch(work, scoped.scope, hot)
            for segment in hot:
                pages = await dialogue.pages(segment, new=True)
                await _knowledge(work, persona, pages, segment)
                await _style(work, persona, pages, segment)
                await dialogue.promoted(segment)


async def _prefetch(work: Work, scope: Scope, segments: Sequence[DialogueSegment]) -> None:
    """Read in a few queries what one topic after the other would read one by one."""
    ids = [segment.id for segment in segments]
    members = await all_links(work.draft, work.scope, ids, relation="part_of", direction="in")
    pages = await work.draft.get(work.scope, [link.source for link in members])
    said = [turn["memory"] for page in pages for turn in page.body.get("turns", ()) if turn.get("memory")]
    await work.draft.get(work.scope, said)
    links = await all_links(work.draft, work.scope, said, relation="derived_from", direction="in")
    facts = await work.draft.get(work.scope, [link.source for link in links])
    texts = [fact.content for fact in facts if fact.kind == "fact" and fact.body["predicate"] in _ABOUT_USER]
    await work.draft.know_keys(own_key(scope, entry_name("user", text)) for text in texts)


async def _knowledge(
    work: Work, persona: PersonaMemory, pages: Sequence[DialoguePage], segment: DialogueSegment
) -> None:
    """Add the facts that were extracted from what the user said in these pages."""
    said = [turn.memory for page in pages for turn in page.turns if turn.memory and turn.role == "user"]
    if not said:
        return
    links = await all_links(work.draft, work.scope, said, relation="derived_from", direction="in")
    facts = await work.draft.get(work.scope, list(dict.fromkeys(link.source for link in links)))
    for fact in facts:
        if fact.kind != "fact" or fact.state != "active" or fact.body["predicate"] not in _ABOUT_USER:
            continue
        evidence = [item["memory"] for item in fact.body.get("evidence", ())]
        try:
            learnt = await persona.learn(
                fact.content, confidence=float(fact.body["confidence"]), importance=fact.importance, evidence=evidence
            )
        except InvalidInput:  # a statement too long for an entry stays a fact
            work.notes.rejected["invalid"] += 1
            continue
        work.notes.why.setdefault(learnt.knowledge.id, (fact.id, f"known from a topic at heat {segment.heat:.1f}"))
        for id in learnt.archived:
            work.notes.why[id] = (learnt.knowledge.id, "the least useful entry made room")


async def _style(work: Work, persona: PersonaMemory, pages: Sequence[DialoguePage], segment: DialogueSegment) -> None:
    """Add traits of how the user writes, by counting."""
    turns = [turn for page in pages for turn in page.turns if turn.role == "user" and turn.text]
    if len(turns) < _MIN_TURNS:
        return
    texts = [turn.text for turn in turns]
    for dimension, value, score in styles(texts):
        trait = await persona.observe(dimension, value, score=score, confidence=0.4, evidence=[segment.id])
        work.notes.why.setdefault(trait.id, (segment.id, f"counted over {len(texts)} turns"))


def styles(texts: Sequence[str]) -> list[tuple[str, str, float]]:
    """Return dimension, value and score of each trait that can be counted."""
    words = sum(len(text.split()) for text in texts) / len(texts)
    asking = sum("?" in text for text in texts) / len(texts)
    lively = sum("!" in text for text in texts) / len(texts)
    polite = sum(bool(_POLITE.search(text)) for text in texts) / len(texts)
    return [
        ("verbosity", "brief" if words < 12 else "detailed" if words > 60 else "moderate", min(words / 100, 1.0)),
        ("curiosity", "asks often" if asking >= 0.4 else "asks sometimes" if asking >= 0.15 else "asks rarely", asking),
        ("tone", "lively" if lively >= 0.5 else "calm" if lively < 0.15 else "even", lively),
        ("politeness", "polite" if polite >= 0.25 else "plain", polite),
    ]
