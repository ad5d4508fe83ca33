"""A chat bot with several users: each is remembered, and nobody hears what another one said.

Without a language model it answers with the memory that fits best; with one, give it `context` as part of the prompt.

    python examples/chat_bot.py

Expected output:

    alice> I live in Lisbon, by the river.
    bot> Noted.
    bob> I am a nurse in Porto.
    bot> Noted.
    alice> Where do I live?
    bot> You told me: I live in Lisbon, by the river.
    bob> What is my work?
    bot> You told me: I am a nurse in Porto.
    carol> Where do I live?
    bot> I do not know yet.
"""

from longmind.sync import AgentMemory, Longmind

CHAT = [
    ("alice", "I live in Lisbon, by the river."),
    ("bob", "I am a nurse in Porto."),
    ("alice", "Where do I live?"),
    ("bob", "What is my work?"),
    ("carol", "Where do I live?"),
]


def reply(mem: AgentMemory, text: str) -> str:
    """Answer a question from memory, and remember everything else."""
    if not text.endswith("?"):
        mem.remember({"role": "user", "content": text}, session="chat")
        return "Noted."
    hits = mem.recall(text, k=1)
    return f"You told me: {hits[0].memory.content}" if hits else "I do not know yet."


def main() -> None:
    with Longmind.open("memory:") as longmind:
        for user, text in CHAT:
            print(f"{user}> {text}")
            print(f"bot> {reply(longmind.agent('bot', user=user), text)}")


if __name__ == "__main__":
    main()
