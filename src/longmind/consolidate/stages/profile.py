"""The stage ``profile``: adds what hot topics say about the user to the user's profile, and about the agent to its own.

A topic is hot when it was visited often, is long, or is recent; one with an important page is promoted too. The facts
that were extracted from its pages become knowledge about the user. How the user writes becomes traits, and so does how
the agent writes and what it says and does (``agent_persona``). No value is overwritten: a contrary observation lowers
the confidence of what was believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longmind.consolidate.stages import agent_persona
from longmind.consolidate.stages.style import confidence_of_style, styles
from longmind.consolidate.work import Work, in_order
from longmind.errors import InvalidInput
from longmind.store.reads import all_links
from longmind.systems.dialogue import DialogueMemory, DialoguePage, DialogueSegment
from longmind.systems.ownership import own_key
from longmind.systems.persona import MAX_EVIDENCE, PersonaMemory, entry_name
from longmind.types import Scope

_ABOUT_USER = frozenset(
    {"likes", "dislikes", "interested in", "allergic to", "lives in", "comes from", "works as", "works at", "studies"}
    | {"has", "owns", "plays", "speaks", "name", "age", "birthday", "diet", "eats", "does not eat", "takes"}
    | {"works on", "studies at", "can do", "believes in", "hobby", "habit", "member of"}
)
"""Predicates that say who somebody is, rather than what happened; so do those that name relatives and conditions."""


def _is_about_user(predicate: str) -> bool:
    return predicate in _ABOUT_USER or predicate.startswith("has ")


@dataclass(frozen=True, slots=True)
class ProfileStage:
    """The stage."""

    name: str = "profile"

    async def propose(self, work: Work) -> None:
        users = {m.user for m in work.sources if m.kind in ("message", "page")}
        users.update(await work.users_with_topics() if work.upkeep and not work.first_run else ())
        for user in in_order(users):
            scoped = work.scoped(user)
            dialogue = DialogueMemory(scoped)
            hot = await dialogue.hot()
            if not hot:
                continue
            await _prefetch(work, scoped.scope, hot)
            pages = {segment.id: await dialogue.pages(segment, new=True) for segment in hot}
            await _knowledge(work, PersonaMemory(scoped), hot, pages)
            await _user_style(work, PersonaMemory(scoped), hot, pages)
            await agent_persona.observe_turns(work, user, [page for own in pages.values() for page in own])
            await dialogue.promoted_many(hot)
        await agent_persona.observe_reflections(work)


async def _prefetch(work: Work, scope: Scope, segments: Sequence[DialogueSegment]) -> None:
    """Read in a few queries what one topic after the other would read one by one."""
    ids = [segment.id for segment in segments]
    members = await all_links(work.draft, work.scope, ids, relation="part_of", direction="in")
    pages = await work.draft.get(work.scope, [link.source for link in members])
    said = [turn["memory"] for page in pages for turn in page.body.get("turns", ()) if turn.get("memory")]
    await work.draft.get(work.scope, said)
    links = await all_links(work.draft, work.scope, said, relation="derived_from", direction="in")
    facts = await work.draft.get(work.scope, [link.source for link in links])
    texts = [fact.content for fact in facts if fact.kind == "fact" and _is_about_user(fact.body["predicate"])]
    await work.draft.know_keys(own_key(scope, entry_name("user", text)) for text in texts)


async def _knowledge(
    work: Work,
    persona: PersonaMemory,
    segments: Sequence[DialogueSegment],
    pages: Mapping[str, Sequence[DialoguePage]],
) -> None:
    """Add the facts that were extracted from what the user said in these pages."""
    topics = {
        turn.memory: segment
        for segment in segments
        for page in pages[segment.id]
        for turn in page.turns
        if turn.memory and turn.role == "user"
    }
    links = await all_links(work.draft, work.scope, list(topics), relation="derived_from", direction="in")
    said_in = {link.source: topics[link.target] for link in reversed(links)}
    facts = await work.draft.get(work.scope, list(dict.fromkeys(link.source for link in links)))
    for fact in facts:
        if fact.kind != "fact" or fact.state != "active" or not _is_about_user(fact.body["predicate"]):
            continue
        evidence = [item["memory"] for item in fact.body.get("evidence", ())]
        try:
            learnt = await persona.learn(
                fact.content, confidence=float(fact.body["confidence"]), importance=fact.importance, evidence=evidence
            )
        except InvalidInput:  # a statement too long for an entry stays a fact
            work.notes.rejected["invalid"] += 1
            continue
        segment = said_in[fact.id]
        why = f"known from a topic at heat {segment.heat:.1f}, importance {segment.importance:.2f}"
        work.notes.why.setdefault(learnt.knowledge.id, (fact.id, why))
        for id in learnt.archived:
            work.notes.why[id] = (learnt.knowledge.id, "the least useful entry made room")


async def _user_style(
    work: Work,
    persona: PersonaMemory,
    segments: Sequence[DialogueSegment],
    pages: Mapping[str, Sequence[DialoguePage]],
) -> None:
    """Add traits of how the user writes, by counting.

    The evidence is a page of each conversation: more turns of one conversation are not more independent pieces.
    """
    spoken = [page for own in pages.values() for page in own if any(t.role == "user" and t.text for t in page.turns)]
    texts = [turn.text for page in spoken for turn in page.turns if turn.role == "user" and turn.text]
    if not texts:
        return
    by_session = {page.session: page.id for page in reversed(spoken)}
    sources = [*(segment.id for segment in segments), *by_session.values()][-MAX_EVIDENCE:]
    sure = confidence_of_style(len(texts), len(by_session))
    for dimension, value, score in styles(texts):
        trait = await persona.observe(dimension, value, score=score, confidence=sure, evidence=sources)
        work.notes.why.setdefault(trait.id, (segments[0].id, f"counted over {len(texts)} turns"))
