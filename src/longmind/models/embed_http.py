"""An embedder on a server with the OpenAI embeddings protocol: a hosted one, or vLLM, Ollama, llama.cpp.

Nothing is sent but the texts and the model's name, to the address that was given. The key goes into one header and
nowhere else: not into a log line, an error or a repr.
"""

from __future__ import annotations

import asyncio
import importlib.util
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from longmind.clock import Clock, SystemClock
from longmind.errors import ModelError, ModelMismatch, ModelMissing
from longmind.models.embed import clipped, unit_rows
from longmind.models.resilience import retry_after
from longmind.models.traces import observed_embed
from longmind.models.wire import bearer, checked_address

if TYPE_CHECKING:
    import httpx2
    from numpy.typing import NDArray

    from longmind.models.embed import Vectors

ADDRESS_HINT = "Give it as http(s)://host[:port]/v1, without user name, password or query; the key goes in api_key."
BATCH_TEXTS = 128
BATCH_CHARACTERS = 200_000
"""Servers limit the tokens of one request as well as the number of texts."""
ATTEMPTS = 4
LONGEST_WAIT = 60.0
"""Seconds. The call fails at once if the server asks for a longer wait."""
RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


class _Retry(Exception):
    """A failure that a retry may solve, and how long the server asked to wait."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.wait = wait


class HttpEmbedder:
    """``POST <base_url>/embeddings`` in batches, with retries. ``dimensions`` is learnt from the first answer."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout: float = 30.0,
        max_characters: int = 8_000,
        clock: Clock | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if importlib.util.find_spec("httpx2") is None:
            raise ModelMissing("The http embedder needs httpx2.", hint='Run: pip install "longmind[http]"')
        self.name = f"http/{model}"
        self._url = checked_address(base_url, "embedding server", ADDRESS_HINT).rstrip("/") + "/embeddings"
        self._model = model
        self._headers = bearer(api_key)
        self._dimensions = dimensions
        self._timeout = timeout
        self._max_characters = max_characters
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._client: httpx2.AsyncClient | None = None

    @property
    def dimensions(self) -> int:
        if self._dimensions is None:
            raise ModelError(
                f"The dimensions of {self.name} are not known before its first answer.",
                hint="Call `await embedder.embed([])` once.",
            )
        return self._dimensions

    @observed_embed("openai", client=True)
    async def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        texts = clipped(texts, self._max_characters)
        with_text = [row for row, text in enumerate(texts) if text.strip()]  # servers refuse an empty text
        if self._dimensions is None and not with_text:
            await self._ask(["dimensions"])
        answers = [(rows, await self._ask([texts[row] for row in rows])) for rows in _batches(texts, with_text)]
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for rows, answer in answers:
            vectors[rows] = answer
        return vectors

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def __repr__(self) -> str:
        return f"HttpEmbedder({self._url!r}, {self._model!r})"

    async def _ask(self, texts: list[str]) -> Vectors:
        """Embed one batch, with retries."""
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = await self._post({"model": self._model, "input": texts})
            except _Retry as again:
                wait = again.wait if again.wait is not None else 2.0 ** (attempt - 2) * random.uniform(0.75, 1.25)
                if attempt == ATTEMPTS or wait > LONGEST_WAIT:
                    raise ModelError(
                        f"{self._url} did not answer after {attempt} of {ATTEMPTS} attempts: {again}.",
                        hint="Check that the server runs and is not overloaded, then try again.",
                        **({"retry_after": wait} if again.wait is not None else {}),
                    ) from again.__cause__
                await self._sleep(wait)
            else:
                return self._vectors(answer, len(texts))

    async def _post(self, body: dict[str, Any]) -> Any:
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(headers=self._headers, timeout=self._timeout)
        try:
            async with asyncio.timeout(self._timeout):  # the client's own limit is per read; a slow drip never ends
                response = await self._client.post(self._url, json=body)
        except TimeoutError as error:
            raise _Retry(f"no whole answer within {self._timeout:g} s") from error
        except httpx2.TransportError as error:
            raise _Retry(f"{type(error).__name__}: {error}".rstrip(": ")) from error
        except httpx2.HTTPError as error:
            raise ModelError(f"{self._url} gave an answer that cannot be read: {type(error).__name__}.") from error
        if response.status_code in RETRIED:
            raise _Retry(
                f"status {response.status_code}", retry_after(response.headers.get("retry-after"), self._clock)
            )
        if response.status_code != 200:
            raise self._refusal(response)
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            raise self._malformed("it is not JSON") from error

    def _refusal(self, response: httpx2.Response) -> ModelError:
        """Return the error for a refusal, without the server's own text: some servers repeat the key or the texts."""
        hints = {
            400: "Check that the model takes texts of this length.",
            401: "Check the API key.",
            403: "Check that the API key may use this model.",
            404: "Check the address (it usually ends in /v1) and the model's name.",
        }
        status = response.status_code
        return ModelError(
            f"{self._url} refused the request for model {self._model!r} with status {status}.",
            hint=hints.get(status, "Check the address and the model's name."),
            status=status,
        )

    def _malformed(self, what: str) -> ModelError:
        return ModelError(
            f"{self._url} gave an answer that is not a list of embeddings: {what}.",
            hint="Check that the address is an OpenAI-compatible API (it usually ends in /v1).",
        )

    def _vectors(self, answer: Any, expected: int) -> Vectors:
        """Return the vectors in the order of the texts, after checking their number, length and finiteness."""
        rows = self._rows(answer, expected)
        if self._dimensions is None:
            self._dimensions = rows.shape[1]
        if rows.shape[1] != self._dimensions:
            raise ModelMismatch(
                f"{self.name} answered with {rows.shape[1]} dimensions instead of {self._dimensions}.",
                hint="The model behind the server has changed. Bring the old one back, or embed anew with this one.",
                expected=self._dimensions,
                found=rows.shape[1],
            )
        return unit_rows(rows)

    def _rows(self, answer: Any, expected: int) -> NDArray[Any]:
        import numpy as np

        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise self._malformed("it has no list 'data'")
        places = [item.get("index", place) for place, item in enumerate(data)]
        if sorted(place for place in places if type(place) is int) != list(range(expected)):
            raise self._malformed(f"it does not have one vector for each of the {expected} texts")
        ordered = dict(zip(places, data, strict=True))
        try:
            rows = np.array([ordered[place]["embedding"] for place in range(expected)], dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise self._malformed("an embedding is not a list of numbers of one length") from error
        if rows.ndim != 2 or rows.shape[1] == 0 or not np.isfinite(rows).all():
            raise self._malformed("an embedding is not a list of finite numbers")
        return rows


def _batches(texts: list[str], rows: list[int]) -> Iterator[list[int]]:
    """Yield batches of row numbers that respect both limits."""
    batch: list[int] = []
    characters = 0
    for row in rows:
        if batch and (len(batch) == BATCH_TEXTS or characters + len(texts[row]) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(row)
        characters += len(texts[row])
    if batch:
        yield batch
