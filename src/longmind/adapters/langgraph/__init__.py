"""LangGraph: a ``BaseStore`` and a ``BaseCheckpointSaver`` over Longmind.

from longmind.adapters.langgraph import LongmindSaver, LongmindStore

graph = builder.compile(
    checkpointer=LongmindSaver(longmind, agent="assistant"), store=LongmindStore(longmind, agent="assistant")
)
"""

from longmind.adapters.langgraph.saver import LongmindSaver
from longmind.adapters.langgraph.store import LongmindStore

__all__ = ["LongmindSaver", "LongmindStore"]
