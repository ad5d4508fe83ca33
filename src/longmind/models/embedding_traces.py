"""Embedding as spans and metrics, named after OpenTelemetry's GenAI semantic conventions; nothing while that is off.

The model, how many texts, how many numbers a vector has and how long it took are told; the texts are not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from longmind import telemetry

DURATION = "gen_ai.client.operation.duration"


F = TypeVar("F", bound=Callable[..., Coroutine[Any, Any, Any]])


def observed_embed(system: str, *, client: bool = False) -> Callable[[F], F]:
    """Measure an embedder's ``embed``. ``client``: another service is called."""

    def decorate(embed: F) -> F:
        @wraps(embed)
        async def measured(self: Any, texts: Sequence[str]) -> Any:
            if not telemetry.enabled():
                return await embed(self, texts)
            model = self.name.partition("/")[2] or self.name
            shared: dict[str, telemetry.Value | None] = {
                "gen_ai.operation.name": "embeddings",
                "gen_ai.provider.name": system,
                "gen_ai.request.model": model,
            }
            began = time.perf_counter()
            try:
                with telemetry.span(f"embeddings {model}", shared, client=client) as span:
                    span.set("longmind.texts", len(texts))
                    made = await embed(self, texts)
                    span.set("gen_ai.embeddings.dimension.count", int(made.shape[1]))
                    return made
            except Exception as error:
                shared["error.type"] = telemetry.error_type(error)
                raise
            finally:
                telemetry.record(DURATION, time.perf_counter() - began, shared, unit="s")

        return cast(F, measured)

    return decorate
