"""Small invented exports, in the shape of the programs that write them."""

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

T0 = 1_714_550_400.0
AT = "2024-05-01T08:00:00Z"


def chatgpt_message(id: str, role: str, text: Any, at: float | None, **metadata: Any) -> dict[str, Any]:
    parts = text if isinstance(text, list) else [text]
    kind = "multimodal_text" if isinstance(text, list) else "text"
    return {
        "id": id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": kind, "parts": parts},
        "status": "finished_successfully",
        "metadata": metadata,
        "recipient": "all",
    }


def chatgpt_conversation(id: str, title: str = "Moving to Lisbon") -> dict[str, Any]:
    """A conversation whose second question was edited, so that it has two branches."""

    def node(id: str, parent: str | None, children: list[str], message: Any) -> dict[str, Any]:
        return {"id": id, "message": message, "parent": parent, "children": children}

    def said(n: str, role: str, text: Any, at: float, **metadata: Any) -> dict[str, Any]:
        return chatgpt_message(f"{id}-{n}", role, text, T0 + at, **metadata)

    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    return {
        "title": title,
        "create_time": T0,
        "update_time": T0 + 100,
        "conversation_id": id,
        "current_node": f"{id}-e",
        "mapping": {
            f"{id}-r": node(f"{id}-r", None, [f"{id}-a"], None),
            f"{id}-a": node(f"{id}-a", f"{id}-r", [f"{id}-b"], said("a", "user", "I moved to Lisbon in May.", 1)),
            f"{id}-b": node(
                f"{id}-b",
                f"{id}-a",
                [f"{id}-c", f"{id}-d"],
                said("b", "assistant", "How do you like it?", 2, model_slug="gpt-4o"),
            ),
            f"{id}-c": node(f"{id}-c", f"{id}-b", [], said("c", "user", "It is too hot.", 3)),
            f"{id}-d": node(f"{id}-d", f"{id}-b", [f"{id}-e"], said("d", "user", ["Very much. Look:", image], 4)),
            f"{id}-e": node(f"{id}-e", f"{id}-d", [], said("e", "assistant", "What a view!", 5)),
        },
    }


def chatgpt(folder: Path, *conversations: dict[str, Any]) -> Path:
    path = folder / "chatgpt.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations.json", json.dumps(conversations or [chatgpt_conversation("c1")]))
    return path


def claude(folder: Path) -> Path:
    conversation = {
        "uuid": "k1",
        "name": "Green tea",
        "created_at": "2024-05-01T08:00:00.000000Z",
        "updated_at": "2024-05-01T08:01:00.000000Z",
        "account": {"uuid": "acc"},
        "chat_messages": [
            {
                "uuid": "k1-1",
                "text": "Which tea has least caffeine?",
                "content": [{"type": "text", "text": "Which tea has least caffeine?"}],
                "sender": "human",
                "created_at": "2024-05-01T08:00:01.000000Z",
                "attachments": [{"file_name": "teas.txt", "file_type": "txt", "extracted_content": "Hojicha: 7 mg."}],
                "files": [{"file_name": "cup.png"}],
            },
            {
                "uuid": "k1-2",
                "text": "",
                "content": [
                    {"type": "tool_use", "name": "search", "input": {}},
                    {"type": "text", "text": "Hojicha, by your list."},
                ],
                "sender": "assistant",
                "created_at": "2024-05-01T08:00:09.000000Z",
                "attachments": [],
                "files": [],
            },
        ],
    }
    doc = {
        "uuid": "d1",
        "filename": "plan.md",
        "content": "# Plan\n\nOpen in June.",
        "created_at": "2024-04-01T00:00:00Z",
    }
    project = {"uuid": "p1", "name": "Tea shop", "prompt_template": "Answer briefly.", "docs": [doc]}
    memories = [{"conversations_memory": "The user runs a tea shop.", "project_memories": {}, "account_uuid": "acc"}]
    path = folder / "claude.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([conversation]))
        archive.writestr("projects.json", json.dumps([project]))
        archive.writestr("memories.json", json.dumps(memories))
        archive.writestr("users.json", "[]")
    return path


def mem0_json(folder: Path) -> Path:
    memories = [
        {
            "id": "11111111-0000-4000-8000-000000000001",
            "memory": "Lives in Lisbon",
            "hash": "x",
            "metadata": {"category": "home"},
            "created_at": "2024-05-01T01:00:00-07:00",
            "updated_at": None,
            "user_id": "alice",
            "run_id": "trip",
        },
        {
            "id": "11111111-0000-4000-8000-000000000002",
            "memory": "Likes green tea",
            "created_at": "2024-05-02T01:00:00-07:00",
            "user_id": "bob",
            "agent_id": "waiter",
        },
        {"id": "11111111-0000-4000-8000-000000000003", "memory": "", "user_id": "bob"},
    ]
    relations = [{"source": "alice", "relationship": "lives_in", "target": "lisbon"}]
    path = folder / "mem0.json"
    path.write_text(json.dumps({"results": memories, "relations": relations}), encoding="utf-8")
    return path


MEM0_TABLES = """
CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
  created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT,
  created_at DATETIME);
"""


def mem0_history(folder: Path) -> Path:
    path = folder / "history.db"
    connection = sqlite3.connect(path)
    connection.executescript(MEM0_TABLES)
    at = "2024-05-01T01:00:0{}-07:00"
    history = [
        ("h1", "m1", None, "Lives in Porto", "ADD", at.format(1), None, 0, "alice", "user"),
        ("h2", "m2", None, "Has a dog", "ADD", at.format(2), None, 0, None, None),
        ("h3", "m1", "Lives in Porto", "Lives in Lisbon", "UPDATE", at.format(3), at.format(3), 0, "alice", "user"),
        ("h4", "m2", "Has a dog", None, "DELETE", at.format(4), None, 1, None, None),
    ]
    connection.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", history)
    scope = "agent_id=waiter&user_id=alice%26co"
    message = ("g1", scope, "user", "I moved to Lisbon.", None, at.format(3))
    connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", message)
    connection.commit()
    connection.close()
    return path


def markdown(folder: Path) -> Path:
    notes = folder / "notes"
    (notes / "daily").mkdir(parents=True)
    (notes / "tea.md").write_text(
        "---\ntitle: 'On tea'\ndate: 2024-05-01\nauthor: Ada\ntags: [tea, shop]\n"
        "aliases:\n  - Cha\n---\nHojicha is roasted.\n",
        encoding="utf-8",
    )
    (notes / "daily" / "may.md").write_text("# May\n\nWe opened the shop.\n", encoding="utf-8")
    (notes / "nested.md").write_text("---\nplace:\n  city: Lisbon\n---\nText.\n", encoding="utf-8")
    (notes / "broken.md").write_text("---\ntitle: no end\n", encoding="utf-8")
    return notes


def jsonl(folder: Path) -> Path:
    lines = [
        {
            "role": "user",
            "content": "Hello.",
            "id": 7,
            "session": "s1",
            "created_at": "2024-05-01T08:00:00Z",
            "name": "Ada",
        },
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi!"}], "id": "s2"},
        {"subject": "Ada", "predicate": "lives in", "object": "Lisbon", "valid_from": "2024-05-01T00:00:00Z"},
        {"content": "A note by itself.", "user_id": "ada"},
        {"role": "narrator", "content": "?"},
        [1],
    ]
    path = folder / "own.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def letta(folder: Path) -> Path:
    def said(id: str, role: str, text: str, **more: Any) -> dict[str, Any]:
        return {"id": id, "role": role, "content": [{"type": "text", "text": text}], "created_at": AT, **more}

    reply = {"name": "send_message", "arguments": json.dumps({"message": "Hello, Ada!"})}
    search = {"name": "archival_memory_search", "arguments": "{}"}
    messages = [
        said("message-0", "system", "You are Sam."),
        said("message-1", "user", json.dumps({"type": "login", "time": AT})),
        said("message-2", "user", json.dumps({"type": "user_message", "message": "I am Ada.", "time": AT})),
        said("message-3", "assistant", "She greets me.", tool_calls=[{"id": "t", "function": reply}]),
        said("message-4", "tool", '{"status": "OK"}', tool_call_id="t"),
        said("message-5", "assistant", "I looked.", tool_calls=[{"id": "s", "function": search}]),
    ]
    blocks = [
        {"id": "block-0", "label": "human", "value": "Name: Ada.", "description": "About the user."},
        {"id": "block-1", "label": "persona", "value": "I am Sam."},
    ]
    content = {
        "agents": [{"id": "agent-0", "name": "sam", "messages": messages, "block_ids": ["block-0", "block-1"]}],
        "groups": [],
        "blocks": blocks,
        "files": [{"id": "file-0", "file_name": "tea.txt", "content": "Hojicha.", "created_at": AT}],
        "sources": [],
        "tools": [{"id": "tool-0", "name": "send_message"}],
        "mcp_servers": [],
        "metadata": {"revision_id": "1"},
    }
    path = folder / "sam.af"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def zep(folder: Path) -> Path:
    episodes = [
        {
            "uuid": "e1",
            "name": "turn",
            "group_id": "g",
            "source": "message",
            "source_description": "chat",
            "content": "Ada (user): I left Acme for Globex.",
            "valid_at": "2024-05-01T08:00:00Z",
            "created_at": "2024-05-01T08:00:05Z",
        }
    ]
    nodes = [
        {"uuid": "n1", "name": "Ada", "labels": ["Entity", "Person"], "summary": "An engineer.", "created_at": AT},
        {"uuid": "n2", "name": "Acme", "labels": ["Entity"], "summary": "", "created_at": AT},
        {"uuid": "n3", "name": "Globex", "labels": ["Entity"], "summary": "", "created_at": AT},
    ]

    def edge(id: str, target: str, fact: str, valid_at: str | None, invalid_at: str | None) -> dict[str, Any]:
        ends = {"source_node_uuid": "n1", "target_node_uuid": target}
        times = {"valid_at": valid_at, "invalid_at": invalid_at, "created_at": AT, "expired_at": None}
        return {"uuid": id, "name": "WORKS_AT", "fact": fact, "episodes": ["e1"], "group_id": "g", **ends, **times}

    edges = [
        edge("f1", "n2", "Ada works at Acme.", "2020-01-01T00:00:00Z", "2024-05-01T00:00:00Z"),
        edge("f2", "n3", "Ada works at Globex.", "2024-05-01T00:00:00Z", None),
        edge("f3", "n9", "Ada works elsewhere.", None, None),
    ]
    path = folder / "graph.json"
    graph = {"episodes": episodes, "nodes": nodes, "edges": edges, "communities": [{"uuid": "k"}]}
    path.write_text(json.dumps(graph), encoding="utf-8")
    return path


LANGGRAPH_TABLES = """
CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key));
CREATE TABLE checkpoints (thread_id TEXT NOT NULL);
INSERT INTO checkpoints VALUES ('t');
INSERT INTO store VALUES ('users.ada', 'home', '{"city": "Lisbon"}', '2024-05-01 08:00:00', '2024-05-02 08:00:00',
  NULL, NULL);
INSERT INTO store VALUES ('users.ada', 'gone', '{"x": 1}', '2024-05-01 08:00:00', '2024-05-01 08:00:00',
  '2024-05-01 09:00:00', 60);
INSERT INTO store VALUES ('users.ada', 'list', '[1]', '2024-05-01 08:00:00', '2024-05-01 08:00:00', NULL, NULL);
"""


def langgraph(folder: Path) -> Path:
    path = folder / "store.db"
    connection = sqlite3.connect(path)
    connection.executescript(LANGGRAPH_TABLES)
    connection.close()
    return path
