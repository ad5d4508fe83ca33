"""A FastAPI service with keys: each key belongs to a user, and reads and writes only that user's memories.

    uvicorn --factory examples.fastapi_service:create_app      # to serve it
    python examples/fastapi_service.py                         # to try it without a network

Expected output:

    without a key: 401
    alice stores: 201
    alice asks: ['I like green tea.']
    bob asks: []
"""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.testclient import TestClient
from pydantic import BaseModel

from longmind import AgentMemory, Longmind

KEYS = {"key-of-alice": "alice", "key-of-bob": "bob"}
"""In earnest: from your database, as hashes. `longmind serve` has keys, roles and limits built in."""


class Note(BaseModel):
    """What a client stores."""

    text: str


def memory_of_caller(request: Request) -> AgentMemory:
    """The memory of the user whose key the request carries."""
    sent = request.headers.get("x-api-key", "")
    user = next((user for key, user in KEYS.items() if hmac.compare_digest(key.encode(), sent.encode())), None)
    if user is None:
        raise HTTPException(401, "Send a key in X-API-Key.")
    longmind: Longmind = request.app.state.longmind
    return longmind.agent("service", user=user)


Caller = Annotated[AgentMemory, Depends(memory_of_caller)]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """One open store for all requests."""
    async with Longmind.open("memory:") as app.state.longmind:
        yield


def create_app() -> FastAPI:
    """The application."""
    app = FastAPI(lifespan=lifespan)

    @app.post("/notes", status_code=201)
    async def store(note: Note, mem: Caller) -> dict[str, str]:
        return {"id": (await mem.remember(note.text)).id}

    @app.get("/notes")
    async def ask(question: str, mem: Caller) -> list[str]:
        return [hit.memory.content for hit in await mem.recall(question, k=3)]

    return app


def main() -> None:
    alice, bob = {"X-API-Key": "key-of-alice"}, {"X-API-Key": "key-of-bob"}
    question = {"question": "What does she drink?"}
    with TestClient(create_app()) as client:
        print("without a key:", client.get("/notes", params=question).status_code)
        print("alice stores:", client.post("/notes", json={"text": "I like green tea."}, headers=alice).status_code)
        print("alice asks:", client.get("/notes", params=question, headers=alice).json())
        print("bob asks:", client.get("/notes", params=question, headers=bob).json())


if __name__ == "__main__":
    main()
