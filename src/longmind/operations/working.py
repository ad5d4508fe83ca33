"""Working memory: what is on the agent's mind now. ``?session=`` is that of one session."""

from longmind.operations.faces import WORKING
from longmind.operations.operation import Noun
from longmind.systems.working import ConversationState

_working = Noun("working", WORKING)

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
    _working.put("/working/task", "begin_task", example={"name": "book a flight", "goal": "be in Lisbon on Friday"}),
    _working.delete("/working/task", "end_task"),
    _working.get("/working/variables", "variables", result_name="variables"),
    _working.get("/working/variables/{name}", "get"),
    _working.put("/working/variables/{name}", "set", status=204, example={"value": 3}),
    _working.delete("/working/variables/{name}", "unset", status=204),
    _working.get("/working/conversation", "conversation"),
    _working.patch("/working/conversation", "converse", changes=ConversationState, example={"topic": "the trip"}),
    _working.post("/working/turns", "turn", example={"role": "user", "content": "When do we leave?"}),
)
