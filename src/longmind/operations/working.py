"""Working memory: what is on the agent's mind now. ``?session=`` is that of one session."""

from collections.abc import Mapping
from typing import Any

from longmind.operations.faces import WORKING
from longmind.operations.operation import Noun
from longmind.systems.scoped_store import validated
from longmind.systems.working import ConversationState, Task

_working = Noun("working", WORKING)


def encode_variable(value: Any) -> Any:
    """Refuse a variable that is not plain JSON before it is sent, which would make something else of it."""
    validated(Task, {"variables": {"value": value}})
    return value


def encode_variables(variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse variables that are not plain JSON."""
    validated(Task, {"variables": variables})
    return variables


OPERATIONS = (
    _working.put("/working/items/{key}", "put", example={"content": "The flight leaves at nine.", "importance": 0.9}),
    _working.post("/working/items/{key}/fetch", "fetch"),
    _working.delete("/working/items/{key}", "release"),
    _working.delete("/working/items", "clear"),
    _working.get("/working/items", "items"),
    _working.get("/working/items/{key}", "item", none_is_missing=True),
    _working.get("/working/slots", "slots"),
    _working.post("/working/chunks", "chunk"),
    _working.put("/working/limits", "resize", example={"items": 7}),
    _working.put("/working/focus", "focus", example={"text": "the trip to Lisbon"}),
    _working.post("/working/attention", "attend", example={"query": "when do we leave?", "n": 3}),
    _working.get("/working/context", "context"),
    _working.get("/working/task", "task"),
    _working.put(
        "/working/task",
        "begin_task",
        encode={"variables": encode_variables},
        example={"name": "book a flight", "goal": "be in Lisbon on Friday"},
    ),
    _working.delete("/working/task", "end_task"),
    _working.get("/working/variables", "variables", result_name="variables"),
    _working.get("/working/variables/{name}", "get"),
    _working.put(
        "/working/variables/{name}", "set", status=204, encode={"value": encode_variable}, example={"value": 3}
    ),
    _working.delete("/working/variables/{name}", "unset", status=204),
    _working.get("/working/conversation", "conversation"),
    _working.patch("/working/conversation", "converse", changes=ConversationState, example={"topic": "the trip"}),
    _working.post("/working/turns", "turn", example={"role": "user", "content": "When do we leave?"}),
)
