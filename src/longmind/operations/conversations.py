"""Conversations: the messages of a session, their summary, and the pages and topics of dialogue memory."""

from longmind.errors import InvalidSetting
from longmind.operations.faces import AGENT, CONVERSATION, DIALOGUE
from longmind.operations.operation import Noun
from longmind.systems.dialogue import DialogueSettings

_ID = "00000000-0000-7000-8000-000000000000"
_conversations = Noun("conversations", AGENT)
_conversation = Noun("conversations", CONVERSATION)
_dialogue = Noun("dialogue", DIALOGUE)

OPERATIONS = (
    _conversations.get("/conversations", "conversations", name="conversations.list"),
    _conversation.post(
        "/messages",
        "add",
        status=201,
        idempotency="key",
        version="version",
        example={"message": {"role": "user", "content": "My dog Rex hates rain."}},
    ),
    _conversation.post(
        "/items",
        "append",
        status=201,
        idempotency="operation",
        example={"items": [{"payload": {"type": "function_call", "name": "search"}}]},
    ),
    _conversation.get("/items", "items"),
    _conversation.post("/items/pop", "pop"),
    _conversation.get("/history", "history"),
    _conversation.get("/messages", "messages"),
    _conversation.get("/summary", "summary"),
    _conversation.post("/context", "context", permission="read", example={"tokens": 1500, "task": "answer her"}),
    _conversation.delete("", "clear"),
    _dialogue.get("/dialogue/configuration", "configuration"),
    _dialogue.patch(
        "/dialogue/configuration", "configure", changes=DialogueSettings, invalid=InvalidSetting, example={"window": 10}
    ),
    _dialogue.post(
        "/dialogue/pages",
        "add",
        status=201,
        idempotency="key",
        example={"user": "Where shall we go?", "reply": "To Lisbon.", "session": "s1"},
    ),
    _dialogue.post(
        "/dialogue/pages/batch",
        "add_many",
        status=201,
        example={"drafts": [{"user": "Where shall we go?", "reply": "To Lisbon."}]},
    ),
    _dialogue.get("/dialogue/short-term", "short_term"),
    _dialogue.get("/dialogue/chain", "chain"),
    _dialogue.get("/dialogue/pages/{id}", "page"),
    _dialogue.get("/dialogue/segments", "segments"),
    _dialogue.get("/dialogue/hot", "hot"),
    _dialogue.get("/dialogue/segments/{id}", "segment"),
    _dialogue.get("/dialogue/segments/{segment}/pages", "pages", types={"segment": str}),
    _dialogue.post("/dialogue/segments/{segment}/restore", "restore", types={"segment": str}),
    _dialogue.post("/dialogue/promoted", "promoted_many", example={"segments": [_ID]}),
    _dialogue.post("/dialogue/promoted/one", "promoted", example={"segment": _ID}),
    _dialogue.post("/dialogue/visits", "visit", status=204),
    _dialogue.post("/dialogue/summaries", "rebuild_summaries", example={"pages": [_ID]}),
    _dialogue.post("/dialogue/upkeep", "upkeep"),
    _dialogue.post("/dialogue/recall", "recall", permission="read", example={"query": "the trip"}),
    _dialogue.post("/dialogue/context", "context", permission="read", example={"query": "the trip"}),
)
