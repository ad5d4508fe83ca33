"""Erasure of all that belongs to a user, an agent or the tenant."""

from typing import Any

from longmind.erasure import ErasureCheck, ErasureReceipt
from longmind.operations.faces import LONGMIND
from longmind.operations.operation import Noun

_erasure = Noun("erasure", LONGMIND)
_RECEIPT: dict[str, Any] = {"permission": "admin", "without": {"tenant"}, "result": ErasureReceipt}

OPERATIONS = (
    _erasure.post("/erasure/users/{user}", "erase_user", **_RECEIPT),
    _erasure.post("/erasure/agents/{agent}", "erase_agent", **_RECEIPT),
    _erasure.post("/erasure/tenant", "erase_tenant", **_RECEIPT),
    _erasure.post(
        "/erasure/verify",
        "verify_erasure",
        permission="admin",
        without={"tenant"},
        types={"receipt": ErasureReceipt},
        example={
            "receipt": {
                "id": "00000000-0000-7000-8000-000000000000",
                "at": "2026-05-01T08:00:00Z",
                "subject": "user",
                "name": "alice",
                "salt": "0123456789abcdef",
            }
        },
        result=ErasureCheck,
    ),
)
