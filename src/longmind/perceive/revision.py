"""What becomes of the former version of a document when it is ingested again.

A passage whose text is unchanged keeps its memory; its place in the document and its headings are updated. A passage
that took the place of another supersedes it. A passage that is gone is archived. A document is the same if it has the
same URI, or, without one, the same title, in the same session and of the same user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from longmind.store.base import AddLink, Update, Write
from longmind.types import Link, Memory


def same_document(passage: Memory, other: Memory) -> bool:
    """Return whether two passages belong to one document; a text without URI and title is the same as no other."""
    if passage.kind != "document" or passage.kind != other.kind:
        return False
    if passage.user != other.user or passage.session != other.session:
        return False
    if passage.source.uri or other.source.uri:
        return passage.source.uri == other.source.uri
    title = passage.body.get("title")
    return title is not None and title == other.body.get("title")


def revision_writes(former: Iterable[Memory], built: Sequence[Memory], stored: Sequence[Memory]) -> list[Write]:
    """Return the writes that turn the former version into the one that was just stored.

    ``former`` are the passages that were there before, ``built`` the passages as they are now, and ``stored`` the
    memories that hold these.
    """
    old = sorted(former, key=_number)
    old_ids, new_ids = [passage.id for passage in old], [passage.id for passage in stored]
    current, known = set(new_ids), set(old_ids)
    writes: list[Write] = []
    for _, start, end, new_start, new_end in SequenceMatcher(None, old_ids, new_ids, autojunk=False).get_opcodes():
        gone = [passage for passage in old[start:end] if passage.id not in current]
        arrived = [id for id in new_ids[new_start:new_end] if id not in known]
        for passage, successor in zip_longest(gone, arrived[: len(gone)]):
            if successor is None:
                writes.append(Update(passage.id, {"state": "archived"}))
            else:
                writes.append(Update(passage.id, {"state": "superseded"}))
                writes.append(AddLink(Link(source=successor, relation="supersedes", target=passage.id)))
    for passage, memory in zip(built, stored, strict=True):
        state = "active" if memory.state == "superseded" else memory.state
        if (memory.body, memory.source, memory.state) != (passage.body, passage.source, state):
            writes.append(Update(memory.id, {"body": passage.body, "source": passage.source, "state": state}))
    return writes


def _number(passage: Memory) -> int:
    number = passage.body.get("passage")
    return number if isinstance(number, int) else 0
