"""Importers: bring the memories of another program into a store, with their times, authors and ids.

    from longmind import Longmind
    from longmind.importing import import_memories, preview

    print(preview("chatgpt", "export.zip").counts)
    async with Longmind.open() as longmind:
        report = await import_memories(longmind.agent("assistant", user="alice"), "chatgpt", "export.zip")

One module for each format reads a file, a folder or a database and yields items; one importer stores them.
"""

from longmind.importing.formats import FORMATS, read_items
from longmind.importing.importer import ImportReport, Preview, import_memories, preview
from longmind.importing.items import (
    ImportedDocument,
    ImportedFact,
    ImportedItem,
    ImportedMessage,
    ImportedNote,
    ImportedValue,
    Unmapped,
)

__all__ = [
    "FORMATS",
    "ImportReport",
    "ImportedDocument",
    "ImportedFact",
    "ImportedItem",
    "ImportedMessage",
    "ImportedNote",
    "ImportedValue",
    "Preview",
    "Unmapped",
    "import_memories",
    "preview",
    "read_items",
]
