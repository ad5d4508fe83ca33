"""The procedures as they are stored first. What was learnt or changed since is in memory, as later versions."""

from typing import Any

EXECUTE_TRADE = "execute_trade"
_OBJECT: dict[str, Any] = {"type": "object"}
_TEXT = {"type": "string"}


def _parameters(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


PROCEDURES: tuple[dict[str, Any], ...] = (
    {
        "name": "generate_signal",
        "purpose": "Read the trades that a post announces, with what its author holds.",
        "category": "taat",
        "parameters": _parameters({"post": _OBJECT}),
        "steps": [{"name": "read", "use": "read_signals", "args": {"post": "{{ params.post }}"}}],
    },
    {
        "name": EXECUTE_TRADE,
        "purpose": "Cancel and place the orders of a decision, each once, however often it is tried.",
        "category": "taat",
        "parameters": _parameters(
            {"at": _TEXT, "cancels": {"type": "array"}, "orders": {"type": "array"}},
            {
                "limits": {
                    "type": "object",
                    "description": "What was learnt for each announcer: the part of the usual size, and the age in "
                    "seconds above which an announcement is not followed.",
                    "default": {},
                }
            },
        ),
        "steps": [
            {
                "name": "place_order",
                "use": "place_orders",
                "args": {
                    "cancels": "{{ params.cancels }}",
                    "orders": "{{ params.orders }}",
                    "at": "{{ params.at }}",
                },
                "retry": {"attempts": 3, "delay": 0.5},
                "timeout": 60,
            }
        ],
    },
    {
        "name": "track_performance",
        "purpose": "Put an announcer's record of closed trades into what is known of them.",
        "category": "taat",
        "parameters": _parameters({"announcer": _TEXT, "at": _TEXT}),
        "steps": [
            {
                "name": "record",
                "use": "record_performance",
                "args": {"announcer": "{{ params.announcer }}", "at": "{{ params.at }}"},
            }
        ],
    },
    {
        "name": "monitor_account",
        "purpose": "Compare the account with the goals: equity, drawdown and the day's loss.",
        "category": "taat",
        "parameters": _parameters({"at": _TEXT}),
        "steps": [{"name": "measure", "use": "measure_account", "args": {"at": "{{ params.at }}"}}],
    },
    {
        "name": "draft_message",
        "purpose": "Write a message to the user, or a post, about a signal. It is a draft and is never sent.",
        "category": "taat",
        "parameters": _parameters(
            {"signal": _TEXT},
            {
                "template": {
                    "type": "string",
                    "default": "{announcer}: {action} {side} {instrument} at {price}. {reason}",
                }
            },
        ),
        "steps": [
            {
                "name": "write",
                "use": "write_draft",
                "args": {"signal": "{{ params.signal }}", "template": "{{ params.template }}"},
            }
        ],
    },
    {
        "name": "handle_error",
        "purpose": "Record what went wrong with a signal, and what the broker knows of its orders.",
        "category": "taat",
        "parameters": _parameters({"what": _TEXT, "announcer": _TEXT, "signal": _TEXT, "at": _TEXT}),
        "steps": [
            {
                "name": "record",
                "use": "record_error",
                "args": {
                    "what": "{{ params.what }}",
                    "announcer": "{{ params.announcer }}",
                    "signal": "{{ params.signal }}",
                    "at": "{{ params.at }}",
                },
            }
        ],
    },
    {
        "name": "maintain",
        "purpose": "Compare the open trades in memory with what the broker says that it holds.",
        "category": "taat",
        "parameters": _parameters({"at": _TEXT}),
        "steps": [{"name": "compare", "use": "compare_positions", "args": {"at": "{{ params.at }}"}}],
    },
)
