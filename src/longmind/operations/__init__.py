"""What the server offers: one table of operations, from which the routes, the OpenAPI document and the client are made.

Each module is one noun. A row names a method of the public face and says where it is offered and which permission it
needs; the request and the response are read from the method's signature. To offer a method, add a row.
"""

from collections.abc import Mapping
from types import MappingProxyType

from longmind.operations import (
    agents,
    answers,
    audit,
    configuration,
    consolidation,
    context,
    conversations,
    episodes,
    erasure,
    facts,
    goals,
    jobs,
    keys,
    manager,
    memories,
    personas,
    procedures,
    questions,
    recall,
    shared,
    transfer,
    users,
    values,
    working,
)
from longmind.operations.faces import FACES, Face
from longmind.operations.operation import Noun, Operation

__all__ = ["FACES", "OPERATIONS", "Face", "Noun", "Operation", "operations_of"]

_NOUNS = (
    recall,
    context,
    questions,
    memories,
    agents,
    users,
    answers,
    conversations,
    working,
    episodes,
    facts,
    procedures,
    goals,
    personas,
    shared,
    values,
    consolidation,
    jobs,
    configuration,
    manager,
    erasure,
    transfer,
    keys,
    audit,
)
OPERATIONS: tuple[Operation, ...] = tuple(operation for noun in _NOUNS for operation in noun.OPERATIONS)
"""Every operation. Of two paths that match, the first is taken."""


def _by_method() -> Mapping[tuple[type, str], tuple[Operation, ...]]:
    grouped: dict[tuple[type, str], tuple[Operation, ...]] = {}
    for operation in OPERATIONS:
        key = (operation.face.cls, operation.method)
        grouped[key] = (*grouped.get(key, ()), operation)
    return MappingProxyType(grouped)


_METHODS = _by_method()


def operations_of(cls: type, method: str) -> tuple[Operation, ...]:
    """Return the operations that offer a method of a face."""
    return _METHODS.get((cls, method), ())
