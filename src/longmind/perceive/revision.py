"""What becomes of the former version of a document when it is ingested again.

A passage whose text is unchanged keeps its memory; its place in the document, headings, tags and metadata are those of
the new version. A passage that took the place of another supersedes it. A passage that is gone is archived. A document
is the same if it has the same URI, or, without one, the same title, in the same session and of the same user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from longmind.store.base import AddLink, Put, Update, Write
from longmind.types import Json, Link, Memory

_OF_VERSION = ("body", "source", "tags", "metadata", "expires_at")
"""The fields of a passage that follow the version of its document."""


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


def revision_writes(passages: Sequence[Memory], holders: Mapping[str, Memory], former: Iterable[Memory]) -> list[Write]:
    """Return the writes that turn the former version of a document into a new one.

    ``passages`` are those of the new version, ``holders`` the memories that have the text of one of them already, by
    key, and ``former`` the passages of the version that is stored.
    """
    held = [holders.get(passage.key or "") for passage in passages]
    new_ids = [passage.id if holder is None else holder.id for passage, holder in zip(passages, held, strict=True)]
    writes: list[Write] = []
    for passage, holder in zip(passages, held, strict=True):
        if holder is None:
            writes.append(Put(passage, existing="fail"))
        elif changes := _changes(holder, passage):
            writes.append(Update(holder.id, changes, holder.version))
    return writes + _replacements(sorted(former, key=_number), new_ids)


def _changes(holder: Memory, passage: Memory) -> Json:
    changes = {name: getattr(passage, name) for name in _OF_VERSION if getattr(passage, name) != getattr(holder, name)}
    return changes | ({"state": "active"} if holder.state in ("superseded", "archived") else {})


def _replacements(old: Sequence[Memory], new_ids: Sequence[str]) -> list[Write]:
    """Return the writes that retire the passages which the new version lacks."""
    old_ids = [passage.id for passage in old]
    current, known = set(new_ids), set(old_ids)
    writes: list[Write] = []
    for _, start, end, new_start, new_end in SequenceMatcher(None, old_ids, new_ids, autojunk=False).get_opcodes():
        gone = [passage for passage in old[start:end] if passage.id not in current]
        arrived = [id for id in new_ids[new_start:new_end] if id not in known]
        for passage, successor in zip_longest(gone, arrived[: len(gone)]):
            if successor is None:
                writes.append(Update(passage.id, {"state": "archived"}, passage.version))
            else:
                writes.append(Update(passage.id, {"state": "superseded"}, passage.version))
                writes.append(AddLink(Link(source=successor, relation="supersedes", target=passage.id)))
    return writes


def _number(passage: Memory) -> int:
    number = passage.body.get("passage")
    return number if isinstance(number, int) else 0
