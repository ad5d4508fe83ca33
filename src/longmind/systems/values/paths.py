"""Namespaces as texts: a namespace begins with another one exactly if its text begins with the other's."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from longmind.systems.ownership import own_key
from longmind.types import Range, Scope


def path_of(namespace: Sequence[str]) -> str:
    """Return the text of a namespace: each label, and a slash behind it."""
    return "".join(label.replace("%", "%25").replace("/", "%2F") + "/" for label in namespace)


def below(prefix: Sequence[str]) -> Range:
    """Return the range of the texts of all namespaces that begin with a prefix."""
    path = path_of(prefix)
    return Range(gte=path, lt=path[:-1] + "0") if path else Range(gte="")  # 0 follows the slash


def record_key(scope: Scope, kind: str, namespace: Sequence[str], key: str) -> str:
    """Return the key of the record that holds a value of a scope."""
    digest = sha256(f"{path_of(namespace)}\n{key}".encode()).hexdigest()[:40]
    return own_key(scope, f"{kind}:{digest}")
