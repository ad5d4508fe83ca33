"""LangGraph with persistence: a graph whose state and whose memories survive a restart.

    pip install "longmind[langgraph]"
    python examples/langgraph_persistence.py

Expected output:

    before the restart: I know nothing yet.
    after the restart: I know: I live in Porto, by the river.
    turns so far: 2
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from longmind import Longmind
from longmind.adapters.langgraph import LongmindSaver, LongmindStore


class State(TypedDict, total=False):
    """What the graph keeps for a conversation."""

    said: str
    reply: str
    turns: int


async def answer(state: State, runtime: Runtime[Any]) -> State:
    """Answer with what the store knows, and keep what was said."""
    assert runtime.store is not None
    known = await runtime.store.asearch(("memories",), query=state["said"], limit=1)
    if not state["said"].endswith("?"):
        await runtime.store.aput(("memories",), state["said"], {"text": state["said"]})
    reply = f"I know: {known[0].value['text']}" if known else "I know nothing yet."
    return {"reply": reply, "turns": state.get("turns", 0) + 1}


async def ask(url: str, said: str) -> dict[str, Any]:
    """Open the store, run the graph once, and close everything: each call is a program of its own."""
    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    async with Longmind.open(url) as longmind:
        saver = LongmindSaver(longmind, agent="assistant", user="alice")
        store = LongmindStore(longmind, agent="assistant", user="alice")
        graph = builder.compile(checkpointer=saver, store=store)
        return dict(await graph.ainvoke({"said": said}, {"configurable": {"thread_id": "t1"}}))


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = str(Path(folder, "memory.db"))
        print("before the restart:", (await ask(url, "I live in Porto, by the river."))["reply"])
        result = await ask(url, "Where do I live?")
        print("after the restart:", result["reply"])
        print("turns so far:", result["turns"])


if __name__ == "__main__":
    asyncio.run(main())
