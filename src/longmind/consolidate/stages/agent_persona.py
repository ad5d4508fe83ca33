"""The agent's own persona, filled from what it says and does.

How it writes, what it says of itself again and again, and how its runs and its tools fare become traits of the agent.
They belong to no user, so nothing of a conversation may pass into them: styles and outcomes are counts under fixed
labels, and of what the agent says of itself only plain words are kept, without names and numbers. For the same reason
they have no evidence to point to; each turn and each reflection is counted once, in the batch that marks it as
analysed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from longmind.consolidate.rules.extraction import extract
from longmind.consolidate.stages.style import confidence_of_style, styles
from longmind.consolidate.work import Work
from longmind.systems.dialogue import DialoguePage
from longmind.systems.persona import PersonaMemory
from longmind.text.analysis import words

_AGENT = "agent"
_SELF = re.compile(r"\b(?:I|I'm|I’m|[Mm]y)\b")
_SELF_PREDICATES = frozenset({"likes", "dislikes", "interested in", "works as", "speaks", "plays", "studies"})
"""Predicates that say what somebody is like."""
_PLAIN = re.compile(r"[a-z][a-z' -]{1,59}")
"""Words without names and numbers, which may be somebody's."""
_ADDRESSED = frozenset("you your yours this that these those it".split())
_SAID = "says so of itself"
_SURE_OF_OUTCOME = 0.6
_MAX_STATEMENTS = 20
"""Statements about itself that are taken from one run of the cycle."""


async def observe_turns(work: Work, user: str | None, pages: Sequence[DialoguePage]) -> None:
    """Add how the agent writes in these pages, and what it says of itself there."""
    spoken = [page for page in pages if any(t.role == "assistant" and t.text for t in page.turns)]
    if not spoken:
        return
    persona = PersonaMemory(work.scoped(user))
    texts = [turn.text for page in spoken for turn in page.turns if turn.role == "assistant" and turn.text]
    conversations = len({page.session for page in spoken})
    sure = confidence_of_style(len(texts), conversations)
    for dimension, value, score in styles(texts):
        trait = await persona.observe(
            dimension, value, score=score, confidence=sure, count=conversations, about="agent"
        )
        work.notes.why.setdefault(trait.id, (trait.id, f"counted over {len(texts)} turns of the agent"))
    for statement, count in statements_of_itself(spoken, user).most_common(_MAX_STATEMENTS):
        trait = await persona.observe(statement, _SAID, confidence=_SURE_OF_OUTCOME, count=count, about="agent")
        work.notes.why.setdefault(trait.id, (trait.id, f"the agent said so in {count} conversations"))


def statements_of_itself(pages: Sequence[DialoguePage], user: str | None) -> Counter[str]:
    """Return what the agent says of itself in these pages, each with the number of conversations it says it in."""
    names = frozenset(words(user or "")) | {n for page in pages for t in page.turns if t.name for n in words(t.name)}
    said: set[tuple[str, str | None]] = set()
    for page in pages:
        for turn in page.turns:
            if turn.role != "assistant" or not _SELF.search(turn.text):
                continue
            for claim in extract(turn.text, _AGENT, page.at).claims:
                if claim.subject == _AGENT and claim.predicate in _SELF_PREDICATES and not claim.ended:
                    plain = _PLAIN.fullmatch(claim.object)
                    if plain and names.union(_ADDRESSED).isdisjoint(words(claim.object)):
                        said.add((f"{claim.predicate} {claim.object}", page.session))
    return Counter(statement for statement, _ in sorted(said, key=str))


async def observe_reflections(work: Work) -> None:
    """Add how the runs of the agent and the tools it called in them fared, from the reflections since the last run."""
    outcomes: Counter[tuple[str, str]] = Counter()
    for reflection in await work.draft.get(work.scope, list(work.reflections)):
        success = reflection.body.get("success")
        if success is not None:
            outcomes["tasks", "succeeds mostly" if success else "fails mostly"] += 1
        for part, value in (("worked", "works"), ("failed", "fails")):
            for tool in {str(call.get("tool", "")) for call in reflection.body.get(part, ())}:
                if tool and len(tool) <= _MAX_TOOL:
                    outcomes[f"tool {tool}", value] += 1
    persona = PersonaMemory(work.scoped(None))
    for (dimension, value), count in sorted(outcomes.items()):
        trait = await persona.observe(dimension, value, confidence=_SURE_OF_OUTCOME, count=count, about="agent")
        work.notes.why.setdefault(trait.id, (trait.id, f"seen in {count} reflections on the agent's runs"))


_MAX_TOOL = 90
"""Characters of the name of a tool that fits into the name of a trait."""
