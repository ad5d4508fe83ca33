"""The manager over all memory systems: one store, retrieve and search for all of them."""

from longmind.operations.faces import MANAGER
from longmind.operations.operation import Noun

_manager = Noun("manager", MANAGER)

OPERATIONS = (
    _manager.post("/manager/store", "store", status=201, example={"data": "I moved to Lisbon in May."}),
    _manager.get("/manager/records/{key}", "retrieve"),
    _manager.post("/manager/search", "search", permission="read", example={"query": "Lisbon"}),
    _manager.post(
        "/manager/experiences", "store_experience", status=201, example={"data": {"title": "Moved to Lisbon"}}
    ),
    _manager.post(
        "/manager/procedures/{name}/runs", "execute_procedure", status=201, idempotency="key", example={"params": {}}
    ),
    _manager.post("/manager/outcomes", "learn_from_outcome", example={"procedure": "greet", "outcome": True}),
)
