"""A reranker on a server with the common rerank protocol (Cohere, Jina, vLLM, text-embeddings-inference).

Nothing is sent but the question, the texts and the model's name, to the address that was given. A recall waits for the
answer, so there are no retries: a server that fails is an error at once.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from longmind.errors import ModelError, ModelMissing
from longmind.models.embed import clipped
from longmind.models.embed_http import ADDRESS_HINT
from longmind.models.wire import bearer, checked_address

if TYPE_CHECKING:
    import httpx2


class HttpReranker:
    """``POST <base_url>/rerank`` with the question and the texts."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float = 10.0,
        max_characters: int = 4_000,
    ) -> None:
        if importlib.util.find_spec("httpx2") is None:
            raise ModelMissing("The http reranker needs httpx2.", hint='Run: pip install "longmind[http]"')
        self.name = f"http/{model}"
        self._url = checked_address(base_url, "reranking server", ADDRESS_HINT).rstrip("/") + "/rerank"
        self._model = model
        self._headers = bearer(api_key)
        self._timeout = timeout
        self._max_characters = max_characters
        self._client: httpx2.AsyncClient | None = None

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the server's score of each text for the question."""
        if not texts:
            return []
        body = {
            "model": self._model,
            "query": clipped([query], self._max_characters)[0],
            "documents": clipped(texts, self._max_characters),
            "top_n": len(texts),
        }
        return self._scores(await self._post(body), len(texts))

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def __repr__(self) -> str:
        return f"HttpReranker({self._url!r}, {self._model!r})"

    async def _post(self, body: dict[str, Any]) -> Any:
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(headers=self._headers, timeout=self._timeout)
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.post(self._url, json=body)
            if response.status_code != 200:
                raise ModelError(
                    f"{self._url} refused the request for model {self._model!r} with status {response.status_code}.",
                    hint="Check the address, the model's name and the API key.",
                    status=response.status_code,
                )
            return response.json()
        except (TimeoutError, httpx2.HTTPError, ValueError, RecursionError) as error:
            raise ModelError(
                f"{self._url} gave no usable answer: {type(error).__name__}.",
                hint="Check that the server runs; recall works without a reranker.",
            ) from error

    def _scores(self, answer: Any, expected: int) -> list[float]:
        """Return the scores in the order of the texts, after checking them."""
        results = answer.get("results") if isinstance(answer, dict) else None
        scores: dict[int, float] = {}
        for result in results if isinstance(results, list) else []:
            place, score = (
                (result.get("index"), result.get("relevance_score")) if isinstance(result, dict) else (None, None)
            )
            if type(place) is int and isinstance(score, int | float) and not isinstance(score, bool):
                scores[place] = float(score)
        if sorted(scores) != list(range(expected)):
            raise ModelError(
                f"{self._url} did not answer with one score for each of the {expected} texts.",
                hint="Check that the address is a rerank API (it usually ends in /v1 or /v2).",
            )
        return [scores[place] for place in range(expected)]
