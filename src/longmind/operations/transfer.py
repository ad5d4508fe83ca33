"""Export and import of the agents of the tenant."""

from longmind.operations.faces import LONGMIND
from longmind.operations.operation import Noun

_transfer = Noun("transfer", LONGMIND)

OPERATIONS = (
    _transfer.get(
        "/export",
        "export",
        permission="admin",
        without={"scopes", "across_tenants"},
        result_name="line",
        as_lines=True,
    ),
    _transfer.post(
        "/import",
        "load",
        permission="admin",
        without={"across_tenants"},
        result_name="imported",
        example={
            "lines": [
                '{"longmind":1,"exported_at":"2026-05-01T08:00:00+00:00"}',
                '{"end":{"memories":0,"links":0,"content_hash":{}}}',
            ]
        },
    ),
)
