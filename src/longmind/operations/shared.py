"""Shared memory: what many agents of the tenant learnt. The paths below ``/shared`` are the administrator's."""

from longmind.errors import InvalidSetting
from longmind.operations.faces import SHARED, SHARED_ADMINISTRATION
from longmind.operations.operation import Noun
from longmind.systems.shared import SharedSettings

_shared = Noun("shared", SHARED)
_administration = Noun("shared_administration", SHARED_ADMINISTRATION)

OPERATIONS = (
    _shared.get("/shared", "list"),
    _shared.get("/shared/configuration", "configuration"),
    _shared.post(
        "/shared/proposals", "propose", status=201, example={"candidate": "The office closes at six on Fridays."}
    ),
    _shared.post("/shared/proposals/batch", "propose_many", without={"settings"}, example={"candidates": []}),
    _shared.post("/shared/withdrawals/batch", "withdraw_many", example={"candidates": []}),
    _shared.post("/shared/withdrawals", "withdraw", example={"candidate": "The office closes at six on Fridays."}),
    _shared.post("/shared/search", "search", permission="read", result_name="hits", example={"query": "the office"}),
    _shared.get("/shared/{id}", "get"),
    _administration.get("/shared", "list", permission="admin"),
    _administration.get("/shared/configuration", "configuration", permission="admin"),
    _administration.patch(
        "/shared/configuration", "configure", permission="admin", changes=SharedSettings, invalid=InvalidSetting
    ),
    _administration.get("/shared/{id}", "get", permission="admin"),
    _administration.post("/shared/{id}/approve", "approve", permission="admin", example={"note": "checked"}),
    _administration.post("/shared/{id}/reject", "reject", permission="admin", example={"note": "not true"}),
    _administration.post(
        "/shared/supporters/remove", "remove_supporter", permission="admin", example={"user": "alice"}
    ),
)
