"""What erasing facts leaves without support: concepts, their aliases, and predicates that only those facts named."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from longmind.store import journal
from longmind.store.store import Store
from longmind.systems.semantic.concepts import KIND as CONCEPT
from longmind.systems.semantic.names import LEARNT, STRUCTURAL, predicate_key
from longmind.systems.semantic.predicates import COMMON_PREDICATES, INVERSE_PREDICATES
from longmind.types import Filter, Link, Memory, Scope

_ABOUT, _ALIAS_OF = "about", "alias_of"
_KEYS_AT_ONCE = 500


async def find_unsupported(store: Store, scope: Scope, erased: Collection[str]) -> list[str]:
    """Return the ids of learnt concepts and predicates that nothing supports once these memories are erased.

    Memories and concepts that were removed before count as well: what they were about is read from the journal.
    """
    links = await store.past_links(scope, list(erased), direction="out")
    facts = [link for link in links if link.relation == _ABOUT or link.relation not in STRUCTURAL]
    concepts = await _unsupported_concepts(store, scope, erased, {link.target: None for link in facts})
    aliases = await store.past_links(scope, concepts, direction="in") if concepts else []
    predicates = await _unsupported_predicates(store, scope, erased, facts)
    holders = [link.source for link in aliases if link.relation == _ALIAS_OF]
    return [id for id in dict.fromkeys([*concepts, *holders, *predicates]) if id not in erased]


async def _unsupported_concepts(
    store: Store, scope: Scope, erased: Collection[str], targets: Iterable[str]
) -> list[str]:
    asked = [id for id in targets if id not in erased]
    records = await journal.last_records(store.backend, scope, asked)
    learnt = [id for id in asked if _is_learnt(records.get(id))]
    links = await store.all_links(scope, learnt, direction="in")
    supported = {link.target for link in links if link.source not in erased and link.relation != _ALIAS_OF}
    return [id for id in learnt if id not in supported]


async def _unsupported_predicates(
    store: Store, scope: Scope, erased: Collection[str], facts: Iterable[Link]
) -> list[str]:
    used = {str(link.metadata["predicate"]) for link in facts if "predicate" in link.metadata}
    names = sorted(used - COMMON_PREDICATES.keys() - INVERSE_PREDICATES.keys())
    if not names:
        return []
    in_use: set[tuple[str | None, str]] = set()
    async for fact in store.scan_all(scope, Filter(kinds=("fact",), states=None)):
        if fact.id not in erased and (name := fact.metadata.get("predicate")) in used:
            in_use |= {(fact.user, name), (None, name)}
    unsupported: list[str] = []
    for start in range(0, len(names), _KEYS_AT_ONCE):
        part = names[start : start + _KEYS_AT_ONCE]
        where = Filter(keys=tuple(predicate_key(name) for name in part), states=None)
        unsupported += [
            record.id
            async for record in store.scan_all(scope, where)
            if LEARNT in record.metadata and (record.user, record.body["name"]) not in in_use
        ]
    return unsupported


def _is_learnt(record: Memory | None) -> bool:
    return record is not None and record.kind == CONCEPT and LEARNT in record.metadata
