"""Migration from mem0: import what it exported, then go on with the same calls on Longmind.

    python examples/migrate_from_mem0.py

Expected output:

    would import: {'notes': 2}, users: ('alice', 'bob')
    imported: {'notes': 2}, there already: 0
    imported: {'notes': 2}, there already: 2
    alice: Lives in Lisbon (2024-05-01, mem0:m1)
    mem0's calls: Lives in Lisbon
"""

import asyncio
import json
import tempfile
from pathlib import Path

from longmind import Longmind
from longmind.adapters.mem0 import AsyncMemory
from longmind.importing import import_memories, preview

EXPORTED = {  # json.dumps(memory.get_all(...)) of mem0
    "results": [
        {"id": "m1", "memory": "Lives in Lisbon", "user_id": "alice", "created_at": "2024-05-01T08:00:00+00:00"},
        {"id": "m2", "memory": "Likes green tea", "user_id": "bob", "created_at": "2024-05-02T08:00:00+00:00"},
    ]
}


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mem0.json")
        path.write_text(json.dumps(EXPORTED))
        read = preview("mem0", path)
        print(f"would import: {read.counts}, users: {read.users}")
        async with Longmind.open("memory:") as longmind:
            for _ in range(2):  # the second time changes nothing
                report = await import_memories(longmind, "mem0", path, agent="assistant")
                print(f"imported: {report.counts}, there already: {report.already_there}")
            memory = (await longmind.agent("assistant", user="alice").recall("Where does she live?", k=1))[0].memory
            print(f"alice: {memory.content} ({memory.occurred_at.date()}, {memory.source.uri})")
            mem0 = AsyncMemory(longmind, agent="assistant")
            found = await mem0.search("Where does she live?", filters={"user_id": "alice"})
            print("mem0's calls:", found["results"][0]["memory"])


if __name__ == "__main__":
    asyncio.run(main())
