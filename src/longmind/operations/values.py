"""Values: exact JSON under a namespace and a key. ``/values`` are recalled, ``/state`` is a program's own."""

from __future__ import annotations

from longmind.operations.faces import STATE, VALUES
from longmind.operations.operation import Noun, Operation

_NAME = {"namespace": ["users", "alice"], "key": "settings"}
_VALUE = {"theme": "dark"}


def _operations(noun: Noun) -> tuple[Operation, ...]:
    """Return the operations of both. Names are in bodies, since a namespace is a list and may hold any text."""
    path = f"/{noun.name}"
    return (
        noun.post(path, "put", example={**_NAME, "value": _VALUE}, version="version"),
        noun.post(f"{path}/get", "get", permission="read", example=_NAME, none_is_missing=True, version="version"),
        noun.post(f"{path}/read", "read", permission="read", example={"names": [_NAME]}),
        noun.post(f"{path}/refresh", "refresh", example={"names": [_NAME]}, result_name="refreshed"),
        noun.post(f"{path}/delete", "delete", example=_NAME, result_name="deleted"),
        noun.post(f"{path}/write", "write", example={"writes": [{**_NAME, "value": _VALUE}]}),
        noun.post(f"{path}/list", "list", permission="read", example={"prefix": ["users"]}),
        noun.post(f"{path}/namespaces", "namespaces", permission="read", example={"prefix": ["users"]}),
        noun.post(f"{path}/clear", "clear", example={"prefix": ["users", "alice"]}),
    )


_values = Noun("values", VALUES)

OPERATIONS = (
    *_operations(_values),
    _values.post("/values/search", "search", permission="read", example={"query": "which theme?", "k": 3}),
    *_operations(Noun("state", STATE)),
)
