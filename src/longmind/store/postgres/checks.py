"""The checks of a store, one rule at a time."""

from __future__ import annotations

from longmind.store.postgres.database import Database
from longmind.store.postgres.driver import load_queries
from longmind.text.index_terms import ANALYSIS_VERSION, HEADER

_check = load_queries("check.sql")

_RULES = {
    "links_without_ends": "{n} links lead from or to a memory that is gone. Delete those rows of the table links.",
    "vectors_without_memory": "{n} vectors belong to no memory. Delete those rows of the table vectors.",
    "vectors_misfit": "{n} vectors do not fit their space. Re-embed the store.",
    "journal_gaps": "The journal is not numbered without gaps up to its head ({n} apart). Restore a backup.",
    "memories_without_put": "{n} memories have no put in the journal. Export the store and import it into a new one.",
    "memories_without_terms": "{n} memories have no terms to be found by. Export the store and import it again.",
}


async def find_faults(database: Database) -> list[str]:
    """Return every broken rule, one line for each agent."""
    database.require_all_tenants()
    faults: list[str] = []
    for name, advice in _RULES.items():
        params = {"header": HEADER.size, "analysis": bytes([ANALYSIS_VERSION])} if "terms" in name else None
        rows = await database.fetch(_check[name], params)
        faults += [f"{tenant}/{agent}: {advice.format(n=n)}" for tenant, agent, n in rows]
    return faults
