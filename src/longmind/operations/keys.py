"""The API keys of the tenant, for its administrator."""

from longmind.operations.faces import KEYS
from longmind.operations.operation import Noun

_keys = Noun("keys", KEYS)

OPERATIONS = (
    _keys.post("/keys", "create", permission="admin", status=201, example={"name": "laptop", "permissions": ["read"]}),
    _keys.get("/keys", "list", permission="admin"),
    _keys.get("/keys/{id}", "get", permission="admin"),
    _keys.delete("/keys/{id}", "revoke", permission="admin"),
)
