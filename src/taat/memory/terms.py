"""What words of the trade mean: terms, the kinds of signals with the words that announce them, and the services used.

They are facts, so that a person can change one from a day on. Nothing secret is among them.
"""

from datetime import UTC, datetime

from longmind import AgentMemory
from taat.models import Frozen

MEANS = "means"
TERM, SIGNAL, SERVICE = "trading term", "signal", "service"
_SINCE = datetime(2000, 1, 1, tzinfo=UTC)

TERMS: dict[str, str] = {
    "BTO": "buy to open: a long position is entered",
    "STC": "sell to close: a long position is left, or a part of it",
    "STO": "sell to open: a short position is entered",
    "BTC": "buy to close a short position; also the coin Bitcoin",
    "PT": "profit target: the price, or the gain in percent, at which the position is left",
    "SL": "stop loss: the price, or the loss in percent, at which the position is left",
    "scale": "a part of a position that is left at a gain; the first, the second and so on",
    "trim": "to leave a part of a position",
    "runner": "the last part of a position, which is kept for a larger move",
    "flat": "without a position; a stop that is flat is at the price of the entry",
    "breakeven": "the price of the entry, at which a position neither gains nor loses",
    "swing": "a trade that is held for days",
    "day trade": "a trade that is left on the day of its entry",
    "scalp": "a trade of minutes",
    "0DTE": "an option that expires on the day of the trade",
    "LEAP": "an option that expires in a year or later",
    "covered": "a short position was bought back",
}
SIGNALS: dict[str, tuple[str, str]] = {
    "open": ("a position is entered", "bought, BTO, long, short, shorted, entered, in at"),
    "add": ("a position is made larger", "added, add to, doubled"),
    "reduce": ("a part of a position is left", "took half off, trimmed, scale, sold half, STC a part"),
    "close": ("a position is left", "sold, closed the rest, all out, covered, STC"),
    "stop_moved": ("the stop has another price", "stop to, SL moved to, stop to flat"),
    "stopped_out": ("the stop was executed", "stopped, stopped out, flat stopped"),
    "limit": ("an order waits for a price", "limit order in, bid in at, looking to buy at"),
}
SERVICES: dict[str, str] = {
    "X API v2": "posts by the filtered stream and by user timelines; a bearer token from X_BEARER_TOKEN",
    "Alpaca": "orders and prices over HTTPS; keys from the environment; an order is known by its client_order_id",
}


class Term(Frozen):
    """A word, what it means, and since when."""

    name: str
    means: str
    category: str
    since: datetime | None = None


async def teach_terms(agent: AgentMemory) -> None:
    """Store what words mean, unless it is known already; what a person changed stays."""
    semantic = agent.semantic
    if await semantic.concept("BTO") is not None:
        return
    for category, meanings in (
        (TERM, TERMS),
        (SIGNAL, {name: means for name, (means, _) in SIGNALS.items()}),
        (SERVICE, SERVICES),
    ):
        for name, means in meanings.items():
            await semantic.define(_concept(name, category), category=category)
            await semantic.learn(_concept(name, category), MEANS, means, valid_from=_SINCE)
    for name, (_, keywords) in SIGNALS.items():
        await semantic.learn(_concept(name, SIGNAL), "is announced as", keywords, valid_from=_SINCE)


async def known_terms(agent: AgentMemory, at: datetime | None = None) -> list[Term]:
    """Return what words mean at a moment, by default now."""
    semantic, terms, cursor = agent.semantic, list[Term](), None
    for category in (TERM, SIGNAL, SERVICE):
        cursor = None
        while True:
            page = await semantic.concepts(category=category, limit=200, cursor=cursor)
            for concept in page.items:
                for fact in await semantic.know(concept.name, MEANS, as_of=at):
                    name = concept.name.removeprefix("signal ") if category == SIGNAL else concept.name
                    terms.append(Term(name=name, means=str(fact.object), category=category, since=fact.valid_from))
            cursor = page.cursor
            if cursor is None:
                break
    return terms


async def set_term(agent: AgentMemory, name: str, means: str, *, valid_from: datetime) -> None:
    """Say what a word means from a moment on."""
    category = SIGNAL if name in SIGNALS else SERVICE if name in SERVICES else TERM
    concept = _concept(name, category)
    if await agent.semantic.concept(concept) is None:
        await agent.semantic.define(concept, category=category)
    await agent.semantic.learn(concept, MEANS, means, valid_from=valid_from)


def _concept(name: str, category: str) -> str:
    """The kinds of signals have plain names, which other concepts may have too."""
    return f"signal {name}" if category == SIGNAL else name
