"""The procedures as they are stored first. What was learnt or changed since is in memory, as later versions."""

from typing import Any

EXECUTE_TRADE = "execute_trade"
MANAGE_ORDERS = "manage_orders"
PROCESS_POST = "process_post"
DRAFT_MESSAGE = "draft_message"
_OBJECT: dict[str, Any] = {"type": "object"}
_TEXT = {"type": "string"}


def _parameters(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


_PLACING: dict[str, Any] = {
    "name": "place_order",
    "use": "place_orders",
    "args": {"cancels": "{{ params.cancels }}", "orders": "{{ params.orders }}", "at": "{{ params.at }}"},
    "retry": {"attempts": 3, "delay": 0.5},
    "timeout": 60,
}
_ORDERS = {"at": _TEXT, "cancels": {"type": "array"}, "orders": {"type": "array"}}

PROCEDURES: tuple[dict[str, Any], ...] = (
    {
        "name": PROCESS_POST,
        "purpose": "Read a post and judge what it announces, without acting on it. The loop takes from here how many "
        "events it gathers before it stores them, and how long a feed may be silent.",
        "category": "taat",
        "parameters": _parameters(
            {"post": _OBJECT, "at": _TEXT},
            {
                "batch": {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 200},
                "idle_seconds": {"type": "number", "minimum": 0.01, "maximum": 3600, "default": 1.0},
            },
        ),
        "steps": [
            {"name": "read", "procedure": "generate_signal", "args": {"post": "{{ params.post }}"}},
            {
                "name": "judge",
                "procedure": "validate_signal",
                "args": {"post": "{{ params.post }}", "at": "{{ params.at }}"},
            },
        ],
        "returns": {"signals": "{{ steps.read }}", "verdicts": "{{ steps.judge }}"},
    },
    {
        "name": "generate_signal",
        "purpose": "Read the trades that a post announces, with what its author holds.",
        "category": "taat",
        "parameters": _parameters({"post": _OBJECT}),
        "steps": [{"name": "read", "use": "read_signals", "args": {"post": "{{ params.post }}"}}],
    },
    {
        "name": "validate_signal",
        "purpose": "Judge the signals of a post by the rules that hold at a moment. Nothing is ordered.",
        "category": "taat",
        "parameters": _parameters({"post": _OBJECT, "at": _TEXT}),
        "steps": [
            {
                "name": "judge",
                "use": "judge_signals",
                "args": {"post": "{{ params.post }}", "at": "{{ params.at }}"},
            }
        ],
    },
    {
        "name": EXECUTE_TRADE,
        "purpose": "Cancel and place the orders of a decision, each once, however often it is tried.",
        "category": "taat",
        "parameters": _parameters(
            _ORDERS,
            {
                "limits": {
                    "type": "object",
                    "description": "What was learnt for each announcer: the part of the usual size, and the age in "
                    "seconds above which an announcement is not followed.",
                    "default": {},
                }
            },
        ),
        "steps": [_PLACING],
    },
    {
        "name": MANAGE_ORDERS,
        "purpose": "Place, resize or cancel the stop of a trade whose size changed by itself.",
        "category": "taat",
        "parameters": _parameters(_ORDERS),
        "steps": [_PLACING],
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
        "purpose": "Measure the account against its goal: the drawdown, and the return beside that of the index.",
        "category": "taat",
        "parameters": _parameters({"at": _TEXT}),
        "steps": [{"name": "measure", "use": "measure_account", "args": {"at": "{{ params.at }}"}}],
    },
    {
        "name": DRAFT_MESSAGE,
        "purpose": "Write a message to the user, or a post, about a signal and what became of it. It is a draft and is "
        "never sent.",
        "category": "taat",
        "parameters": _parameters(
            {"signal": _TEXT},
            {
                "change": {"type": "string", "default": "announced"},
                "at": {"type": "string", "default": ""},
                "template": {
                    "type": "string",
                    "default": "{announcer}: {action} {side} {instrument} at {price}. {reason}{result}",
                },
            },
        ),
        "steps": [
            {
                "name": "write",
                "use": "write_draft",
                "args": {
                    "signal": "{{ params.signal }}",
                    "template": "{{ params.template }}",
                    "change": "{{ params.change }}",
                    "at": "{{ params.at }}",
                },
            }
        ],
    },
    {
        "name": "draft_alert",
        "purpose": "Write an alert about a goal that is missed. It is a draft and is never sent.",
        "category": "taat",
        "parameters": _parameters(
            {"goal": _TEXT, "what": _TEXT, "at": _TEXT},
            {"template": {"type": "string", "default": "Your goal “{goal}” is missed. {what}"}},
        ),
        "steps": [
            {
                "name": "write",
                "use": "write_alert",
                "args": {
                    "goal": "{{ params.goal }}",
                    "what": "{{ params.what }}",
                    "at": "{{ params.at }}",
                    "template": "{{ params.template }}",
                },
            }
        ],
    },
    {
        "name": "learn_habits",
        "purpose": "Learn how an announcer writes from the readings that somebody confirmed or corrected.",
        "category": "taat",
        "parameters": _parameters({"announcer": _TEXT, "at": _TEXT}),
        "steps": [
            {
                "name": "learn",
                "use": "learn_habits",
                "args": {"announcer": "{{ params.announcer }}", "at": "{{ params.at }}"},
            }
        ],
    },
    {
        "name": "learn_market_patterns",
        "purpose": "Learn how executions usually differ from announcements, by symbol and hour of the day.",
        "category": "taat",
        "parameters": _parameters({"at": _TEXT}),
        "steps": [{"name": "learn", "use": "learn_patterns", "args": {"at": "{{ params.at }}"}}],
    },
    {
        "name": "handle_error",
        "purpose": "Record what went wrong, with the announcer and the signal that it belongs to.",
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
