"""Data exports of chat programs: branches, tools, files, hidden and empty messages, several accounts.

Every message, part and file of an export is either stored or listed with its place.
"""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.unit.importing.samples import T0, chatgpt_message

from longmind.importing.formats import read_items
from longmind.importing.items import ImportedDocument, ImportedMessage, ImportedNote, Read, Unmapped

ROOT = "00000000-0000-4000-8000-000000000000"


def archive(path: Path, **files: Any) -> Path:
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in files.items():
            opened.writestr(name.replace("__", "/") + ".json", json.dumps(content))
    return path


def chat(*messages: dict[str, Any], id: str = "c") -> dict[str, Any]:
    """A conversation of ChatGPT, each message the answer to the one before."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
    for number, message in enumerate(messages):
        parent = "root" if number == 0 else str(number - 1)
        children = [str(number + 1)] if number + 1 < len(messages) else []
        mapping[str(number)] = {"id": str(number), "message": message, "parent": parent, "children": children}
    return {"id": id, "title": None, "create_time": T0, "mapping": mapping, "current_node": str(len(messages) - 1)}


def of_chatgpt(tmp_path: Path, *messages: dict[str, Any]) -> tuple[list[Read], list[str]]:
    items = list(read_items("chatgpt", archive(tmp_path / "c.zip", conversations=[chat(*messages)])))
    stored = [item for item in items if not isinstance(item, Unmapped)]
    return stored, [item.reason for item in items if isinstance(item, Unmapped)]


def content(message: dict[str, Any], **content: Any) -> dict[str, Any]:
    return {**message, "content": content}


def test_calls_of_tools_and_reasoning_are_listed_not_said(tmp_path: Path) -> None:
    base = chatgpt_message("m", "assistant", "", T0)
    stored, listed = of_chatgpt(
        tmp_path,
        chatgpt_message("u", "user", "Plot it.", T0),
        content({**base, "recipient": "python"}, content_type="code", language="python", text="plot()"),
        content(base, content_type="thoughts", thoughts=[{"summary": "Plotting", "content": "I plot."}]),
        content(base, content_type="reasoning_recap", content="Thought for 8s"),
        content(base, content_type="reasoning_recap", text="Thought for 8s"),
        chatgpt_message("a", "assistant", "Here it is.", T0),
    )
    assert [item.content for item in stored if isinstance(item, ImportedMessage)] == ["Plot it.", "Here it is."]
    assert listed == [
        "a call of the tool python",
        "what the model thought: thoughts",
        "what the model thought: reasoning_recap",
        "what the model thought: reasoning_recap",
    ]


def test_what_chatgpt_was_told_to_keep_is_kept(tmp_path: Path) -> None:
    memory = chatgpt_message("b", "assistant", "User lives in Lisbon.", T0 + 1)
    canvas = chatgpt_message(
        "d", "assistant", json.dumps({"name": "Plan", "type": "document", "content": "# Plan"}), T0
    )
    hidden = {"is_visually_hidden_from_conversation": True}
    context = content(
        chatgpt_message("i", "user", "", None, **hidden),
        content_type="user_editable_context",
        user_profile="I am a baker.",
        user_instructions="Be brief.",
    )
    about = {"about_user_message": "I am a baker.", "about_model_message": "Use metres."}
    earlier = chatgpt_message("s", "system", "", None, user_context_message_data=about, is_user_system_message=True)
    stored, listed = of_chatgpt(
        tmp_path,
        context,
        earlier,
        {**memory, "recipient": "bio"},
        {**canvas, "recipient": "canmore.create_textdoc"},
        {**canvas, "id": "e", "recipient": "canmore.update_textdoc"},
    )
    notes = [item for item in stored if isinstance(item, ImportedNote)]
    assert [note.content for note in notes] == ["I am a baker.", "Be brief.", "Use metres.", "User lives in Lisbon."]
    assert notes[-1].occurred_at == datetime.fromtimestamp(T0 + 1, UTC)
    (document,) = [item for item in stored if isinstance(item, ImportedDocument)]
    assert (document.title, document.content) == ("Plan", "# Plan")
    assert listed == ["a call of the tool canmore.update_textdoc"]


def test_files_hidden_and_empty_messages_are_listed(tmp_path: Path) -> None:
    attached = {"attachments": [{"id": "file-1", "name": "plan.pdf"}, {"id": "file-2"}]}
    stored, listed = of_chatgpt(
        tmp_path,
        chatgpt_message("s", "system", "", None),
        chatgpt_message("u", "user", "Read this.", T0, **attached),
        chatgpt_message("h", "user", "Hidden.", T0, is_visually_hidden_from_conversation=True),
        chatgpt_message("e", "assistant", "", T0),
        chatgpt_message("n", "narrator", "Once upon a time.", T0),
        chatgpt_message("v", "user", [{"content_type": "audio_transcription", "text": "Spoken."}], T0),
    )
    assert [item.content for item in stored if isinstance(item, ImportedMessage)] == ["Read this.", "Spoken."]
    assert listed == [
        "a file that is not read: plan.pdf",
        "a file that is not read: unnamed",
        "a message that the conversation hides",
        "an empty message",
        "the role 'narrator' is not known",
    ]


def test_a_message_without_a_time_follows_the_one_before(tmp_path: Path) -> None:
    stored, _ = of_chatgpt(
        tmp_path,
        chatgpt_message("a", "user", "One.", None),
        chatgpt_message("b", "user", "Two.", T0 + 50),
        chatgpt_message("c", "user", "Three.", None),
    )
    times = [
        item.occurred_at.timestamp() - T0 for item in stored if item.occurred_at and not isinstance(item, Unmapped)
    ]
    assert times == [0, 50, 50]


def test_every_file_of_an_archive_is_read_or_listed(tmp_path: Path) -> None:
    path = archive(tmp_path / "c.zip", conversations=[chat(chatgpt_message("u", "user", "Hi.", T0))], user={"id": "u1"})
    with zipfile.ZipFile(path, "a") as opened:
        for name in ("file-x-plan.pdf", "group_chats.json", "chat.html", "dalle-generations/cat.webp", ".DS_Store"):
            opened.writestr(name, "")
    items = list(read_items("chatgpt", path))
    listed = [item.place for item in items if isinstance(item, Unmapped)]
    assert listed == ["c.zip:file-x-plan.pdf", "c.zip:group_chats.json", "c.zip:dalle-generations/cat.webp"]
    assert [item.user for item in items if isinstance(item, ImportedMessage)] == [None]


def test_the_exports_of_two_accounts_stay_two(tmp_path: Path) -> None:
    message = chatgpt_message("u", "user", "Hi.", T0)
    path = archive(
        tmp_path / "both.zip",
        ada__conversations=[chat(message)],
        ada__user={"id": "user-ada"},
        bob__conversations={"conversations": [chat(message), chat(message, id="d")]},
        bob__user={"id": "user-bob"},
    )
    messages = [item for item in read_items("chatgpt", path) if isinstance(item, ImportedMessage)]
    assert [(item.user, item.conversation) for item in messages] == [
        ("user-ada", "c"),
        ("user-bob", "c"),
        ("user-bob", "d"),
    ]


def said(id: str, parent: str | None, text: str, **fields: Any) -> dict[str, Any]:
    """A message of Claude's export."""
    at = f"2026-05-01T08:00:{len(text):02}Z"
    blocks = [{"type": "text", "text": text}] if text else []
    message = {"uuid": id, "sender": "human", "text": text, "content": blocks, "created_at": at}
    return {**message, "parent_message_uuid": parent, "attachments": [], "files": [], **fields}


def of_claude(tmp_path: Path, *messages: dict[str, Any], **fields: Any) -> tuple[list[Read], list[tuple[str, str]]]:
    conversation = {"uuid": "k", "name": "", "account": {"uuid": "acc"}, "chat_messages": list(messages), **fields}
    items = list(read_items("claude", archive(tmp_path / "k.zip", conversations=[conversation])))
    stored = [item for item in items if not isinstance(item, Unmapped)]
    listed = [(item.place.rpartition(", ")[2], item.reason) for item in items if isinstance(item, Unmapped)]
    return stored, listed


def texts(items: list[Read]) -> list[str]:
    return [item.content for item in items if isinstance(item, ImportedMessage)]


def test_of_an_edited_conversation_the_branch_that_it_shows_is_read(tmp_path: Path) -> None:
    messages = [
        said("1", ROOT, "First."),
        said("2", "1", "An answer that was regenerated."),
        said("3", "1", "An answer."),
        said("4", "3", "A question that was edited, and long."),
        said("5", "3", "A question."),
    ]
    stored, listed = of_claude(tmp_path, *messages, current_leaf_message_uuid="5")
    assert texts(stored) == ["First.", "An answer.", "A question."]
    assert [place for place, _ in listed] == ["message 2", "message 4"]
    latest, _ = of_claude(tmp_path, *messages)
    assert texts(latest) == ["First.", "An answer.", "A question that was edited, and long."], "the latest leaf"


def test_messages_without_parents_or_with_unknown_ones_are_a_list(tmp_path: Path) -> None:
    for parents in ((None, None, None), (ROOT, "1", "gone")):
        messages = [said(str(n), parent, f"Message {n}.") for n, parent in enumerate(parents)]
        stored, listed = of_claude(tmp_path, *messages)
        assert texts(stored) == ["Message 0.", "Message 1.", "Message 2."]
        assert listed == []


def test_parts_of_claude_that_are_not_said_are_listed(tmp_path: Path) -> None:
    unsupported = "This block is not supported on your current device yet."
    blocks = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "tool_use", "name": "web_search", "input": {"query": "tea"}},
        {"type": "tool_result", "name": "web_search", "content": []},
        {"type": "token_budget"},
    ]
    stored, listed = of_claude(
        tmp_path,
        said("1", None, unsupported, content=blocks),
        said("2", None, "", content=[{"type": "voice_note", "text": "Spoken."}]),
        said("3", None, ""),
        summary="They talked of tea.",
    )
    assert texts(stored) == ["Spoken."]
    assert [reason for _, reason in listed] == [
        "a part that is no text: thinking",
        "a call of the tool web_search",
        "the result of the tool web_search",
        "a part that is no text: token_budget",
        "an empty message",
        "a summary by Claude: Longmind makes its own",
    ]


def test_every_pasted_text_is_a_document_of_its_own(tmp_path: Path) -> None:
    pasted = [{"file_name": "", "extracted_content": text} for text in ("One.", "Two.")]
    files = [{"file_name": "cup.png", "file_uuid": "f1"}]
    message = said("1", None, "", attachments=pasted, files=files, files_v2=[*files, {"file_name": "pot.png"}])
    stored, listed = of_claude(tmp_path, message)
    documents = [item for item in stored if isinstance(item, ImportedDocument)]
    assert [(item.id, item.content) for item in documents] == [
        ("1/attachment", "One."),
        ("1/attachment/2", "Two."),
    ]
    assert [reason for _, reason in listed] == ["a file without its text: cup.png", "a file without its text: pot.png"]


def test_an_artifact_is_a_document_as_it_became(tmp_path: Path) -> None:
    def call(**given: Any) -> dict[str, Any]:
        return {"type": "tool_use", "name": "artifacts", "input": {"id": "plan", **given}}

    stored, listed = of_claude(
        tmp_path,
        said("1", None, "", content=[call(command="create", title="Plan", content="Open in May.")]),
        said("2", None, "", content=[call(command="update", old_str="May", new_str="June")]),
        said("3", None, "", content=[call(command="update", old_str="not there", new_str="x")]),
    )
    (document,) = stored
    assert isinstance(document, ImportedDocument)
    assert (document.id, document.title, document.content) == ("k/plan", "Plan", "Open in June.")
    assert listed == [("message 3", "a call of the tool artifacts")]


def test_the_export_of_a_team_is_that_of_several_users(tmp_path: Path) -> None:
    def owned(account: str) -> dict[str, Any]:
        return {"uuid": account, "account": {"uuid": account}, "chat_messages": [said("1", None, "Hi.")]}

    memories = [{"conversations_memory": "Bob bakes.", "account_uuid": "bob"}]
    project = {"uuid": "p", "docs": [], "prompt_template": "Be brief.", "creator": {"uuid": "ada"}}
    for users in ({"users": [{"uuid": "ada"}, {"uuid": "bob"}]}, {}):
        files = {"conversations": [owned("ada"), owned("bob")], "memories": memories, "projects__p": project}
        path = archive(tmp_path / "team.zip", **files, **users)
        items = [item for item in read_items("claude", path) if not isinstance(item, Unmapped)]
        assert [item.user for item in items] == ["ada", "bob", "bob", "ada"]
    alone = archive(tmp_path / "alone.zip", conversations=[owned("ada")], users=[{"uuid": "ada"}])
    assert [item.user for item in read_items("claude", alone) if isinstance(item, ImportedMessage)] == [None]


def test_mem0_memories_keep_their_end_and_who_said_them(tmp_path: Path) -> None:
    kept = {"id": "1", "memory": "Has a guest.", "expiration_date": "2999-01-01", "attributed_to": "user"}
    over = {"id": "2", "memory": "Had a guest.", "expiration_date": "2020-01-01"}
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps({"results": [kept, over]}))
    note, gone = read_items("mem0", path)
    assert isinstance(note, ImportedNote)
    assert (note.expires_at, note.metadata) == (datetime(2999, 1, 2, tzinfo=UTC), {"attributed_to": "user"})
    assert isinstance(gone, Unmapped)
    assert gone.reason == "it has expired"
