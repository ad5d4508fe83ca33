"""A research assistant over documents: it finds the passage, says where it stands, and notices new versions.

    python examples/research_assistant.py

Expected output:

    [On tea > Roasting] Hojicha is roasted over charcoal, which lowers its caffeine.
    context quotes the source: True
    after the new version: Hojicha is roasted in a drum, which lowers its caffeine.
    the old passage is superseded
"""

from longmind import Document
from longmind.sync import Longmind

PAPER = """# Growing

Tea grows on hills with much rain.

# Roasting

Hojicha is roasted over charcoal, which lowers its caffeine.
"""
QUESTION = "How is hojicha roasted?"


def main() -> None:
    with Longmind.open("memory:") as longmind:
        mem = longmind.agent("researcher")
        mem.remember(Document(title="On tea", uri="papers/tea.md", content=PAPER))
        passage = mem.recall(QUESTION, k=1)[0].memory
        print(f"[{' > '.join(passage.body['headings'])}] {text_of(passage.content)}")
        print("context quotes the source:", "charcoal" in mem.context(QUESTION, tokens=300))

        revised = PAPER.replace("over charcoal", "in a drum")
        mem.remember(Document(title="On tea", uri="papers/tea.md", content=revised))
        hits = mem.recall(QUESTION)
        print("after the new version:", text_of(hits[0].memory.content))
        print("the old passage is", next(hit.memory.state for hit in hits if "charcoal" in hit.memory.content))


def text_of(passage: str) -> str:
    """A passage without its heading."""
    return passage.strip().splitlines()[-1]


if __name__ == "__main__":
    main()
