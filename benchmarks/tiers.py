"""Multi-level recall against flat recall: how much of the evidence a context of so many tokens holds.

Every case is consolidated first, so that there are topics and profiles. Flat are the hits of ``recall``, rendered one
after the other until the budget is spent; the levels are ``mem.dialogue.context``. Both are texts for a prompt, quoted
with date and speaker, and a turn counts if its text is in there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from benchmarks.cases import Case
from benchmarks.quality import Figure, Progress, load
from longmind.memory import AgentMemory, Longmind
from longmind.recall.budget import HEAD, line
from longmind.text.quoting import quote
from longmind.tokens import estimate

BUDGETS = (200, 400, 800, 1_500)
_SEEN = 60
"""Characters of a turn that must be in a context: of a long one the beginning is enough."""


async def measure(longmind: Longmind, cases: Sequence[Case], progress: Progress) -> list[Figure]:
    """Ask the questions of each case at each budget; return the share of the evidence in the texts, in percent."""
    (await longmind.recaller()).counts_reads = False
    shares: defaultdict[tuple[int, str], list[float]] = defaultdict(list)
    used: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for number, case in enumerate(cases, 1):
        mem = await load(longmind, "tiers", case)
        await mem.consolidate()
        texts = {item.label: item.text for item in case.items}
        for question in case.questions:
            wanted = [texts[label] for label in question.evidence if label in texts]
            if not wanted:
                continue
            for tokens in BUDGETS:
                flat = await _flat(mem, question.text, tokens)
                levels = await mem.dialogue.context(question.text, tokens)
                for name, context in (("flat", flat), ("levels", levels)):
                    shares[tokens, name].append(sum(_holds(context, text) for text in wanted) / len(wanted))
                    used[tokens, name].append(estimate(context))
        progress(number / len(cases))
    return [
        row
        for tokens in BUDGETS
        for name in ("flat", "levels")
        for row in (
            (f"{tokens} tokens, {name}: evidence in the context", _percent(shares[tokens, name]), "%"),
            (f"{tokens} tokens, {name}: the longest context", max(used[tokens, name], default=0), "tokens"),
        )
    ]


async def _flat(mem: AgentMemory, question: str, tokens: int) -> str:
    """Return the best hits, one after the other, as far as the budget goes."""
    left, lines = tokens - estimate(HEAD) - 1, [HEAD]
    for hit in await mem.recall(question, max(10, min(200, tokens // 15))):
        text = line(hit.memory)
        if (cost := estimate(text) + 1) <= left:
            left -= cost
            lines.append(text)
    return "\n".join(lines)


def _holds(context: str, text: str) -> bool:
    """Whether a context quotes a turn, or at least the beginning of a long one."""
    return quote(text[:_SEEN]).strip('"').rstrip("…") in context


def _percent(values: Sequence[float]) -> float:
    return round(100 * sum(values) / len(values), 2) if values else 0.0
