"""A model in this process: a GGUF file run by llama.cpp (the ``xllamacpp`` package). No key, no download, no service.

llama.cpp always starts a server on the loopback interface. It gets a random key for this run and refuses requests from
web pages, and this provider is its client. So it behaves like any other server, and a cancelled call stops the
computation.
"""

from __future__ import annotations

import asyncio
import importlib.util
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from longmind.errors import InvalidSetting, ModelError, ModelMissing
from longmind.models.chat import Answer, ChatMessage, Form, Piece, Request
from longmind.models.chat_openai import OpenAiProvider

PROMPT_CACHE_MIB = 256
"""Size of the prompt cache; llama.cpp's default is 8 GiB."""


class LlamaCppProvider:
    """A GGUF model, loaded in a thread on first use. ``close`` frees it; a later call loads it again."""

    forms: tuple[Form, ...] = ("schema", "json")
    system = "llama.cpp"
    address = ""

    def __init__(
        self, path: Path | str, *, threads: int | None = None, context: int = 4096, timeout: float = 60.0
    ) -> None:
        missing = [name for name in ("xllamacpp", "openai") if importlib.util.find_spec(name) is None]
        if missing:
            raise ModelMissing(
                f"A GGUF model needs {' and '.join(missing)}.", hint='Run: pip install "longmind[llamacpp]"'
            )
        self._path = _checked(Path(path).expanduser())
        self.name = f"llamacpp/{self._path.stem}"
        self._threads = threads
        self._context = context
        self._timeout = timeout
        self._loading = asyncio.Lock()
        self._server: Any = None
        self._client: OpenAiProvider | None = None

    def __repr__(self) -> str:
        return f"LlamaCppProvider({self._path.name!r})"

    async def answer(self, request: Request) -> Answer:
        return await (await self._loaded()).answer(request)

    async def pieces(self, request: Request) -> AsyncGenerator[Piece, None]:
        client = await self._loaded()
        async with aclosing(client.pieces(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def models(self) -> list[str]:
        return [self._path.stem]

    async def count(self, messages: Sequence[ChatMessage]) -> int:
        return await (await self._loaded()).count_by_llamacpp(messages)

    async def close(self) -> None:
        server, self._server = self._server, None
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        if server is not None:
            held = [server]
            del server
            await asyncio.to_thread(held.clear)  # the last reference stops the server, which takes a moment

    async def load(self) -> None:
        """Load the model now instead of on the first call."""
        await self._loaded()

    async def _loaded(self) -> OpenAiProvider:
        async with self._loading:
            if self._client is None:
                key = secrets.token_urlsafe(32)
                self._server = await asyncio.to_thread(self._start, key)
                self._client = OpenAiProvider(
                    self._path.stem,
                    base_url=f"{self._server.listening_address}/v1",
                    api_key=SecretStr(key),
                    timeout=self._timeout,
                    name=self.name,
                )
            return self._client

    def _start(self, key: str) -> Any:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.model_alias = {self._path.stem}
        params.n_ctx = self._context
        params.n_parallel = 1
        params.cache_ram_mib = PROMPT_CACHE_MIB
        if self._threads is not None:
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.verbosity = -1
        params.warmup = False
        params.offline = True
        params.hostnames = ["127.0.0.1"]
        params.api_keys = [key]
        params.cors_origins = "http://127.0.0.1"
        params.ui = params.endpoint_slots = params.endpoint_props = False
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelError(
                f"llama.cpp could not load {self._path.name}.",
                hint="The file may be damaged, or need more memory than there is; a smaller ?context= needs less.",
            ) from error


def _checked(path: Path) -> Path:
    """Return the path of a readable GGUF file; raise ``InvalidSetting`` now rather than on the first call."""
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        raise InvalidSetting(
            f"The model file {path} cannot be read: {error.strerror}.", hint="Give llamacpp:path/to/model.gguf."
        ) from error
    if head != b"GGUF":
        raise InvalidSetting(f"{path} is not a GGUF model.", hint="Give llamacpp:path/to/model.gguf.")
    return path
