"""Model calls and embeddings as spans and metrics, named after OpenTelemetry's GenAI semantic conventions.

The model, the number of tokens or texts, the duration and the outcome are recorded; the texts themselves are not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from longmind import telemetry

if TYPE_CHECKING:
    from longmind.models.chat import Answer, Provider, Request

DURATION = "gen_ai.client.operation.duration"
TOKENS = "gen_ai.client.token.usage"
FIRST_CHUNK = "gen_ai.client.operation.time_to_first_chunk"
F = TypeVar("F", bound=Callable[..., Coroutine[Any, Any, Any]])


@dataclass(slots=True)
class ObservedCall:
    """A model call in progress."""

    span: telemetry.Span
    began: float
    shared: dict[str, telemetry.Value | None]

    def first_piece(self) -> None:
        took = time.perf_counter() - self.began
        self.span.set("gen_ai.response.time_to_first_chunk", took)
        telemetry.record(FIRST_CHUNK, took, self.shared, unit="s")

    def answered(self, answer: Answer) -> None:
        usage = answer.usage
        self.shared["gen_ai.response.model"] = answer.model or None
        self.span.set("gen_ai.response.model", answer.model or None)
        self.span.set("gen_ai.response.finish_reasons", [answer.finish])
        self.span.set("gen_ai.usage.input_tokens", usage.input_tokens)
        self.span.set("gen_ai.usage.output_tokens", usage.output_tokens)
        self.span.set("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens)
        self.span.set("longmind.cost", usage.cost)
        telemetry.record(TOKENS, usage.input_tokens, self.shared | {"gen_ai.token.type": "input"}, unit="{token}")
        telemetry.record(TOKENS, usage.output_tokens, self.shared | {"gen_ai.token.type": "output"}, unit="{token}")


@contextmanager
def observed(provider: Provider, request: Request, *, stream: bool = False) -> Iterator[ObservedCall]:
    """Measure one call, retries included."""
    model = provider.name.partition("/")[2] or provider.name
    host, _, port = provider.address.rpartition(":") if ":" in provider.address else (provider.address, "", "")
    shared: dict[str, telemetry.Value | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider.system,
        "gen_ai.request.model": model,
        "server.address": host or None,
        "server.port": int(port) if port.isdigit() else None,
    }
    own: dict[str, telemetry.Value | None] = {
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.temperature": request.temperature,
        "gen_ai.request.stream": stream or None,
        "gen_ai.output.type": "json" if request.form else "text",
        "gen_ai.prompt.name": ", ".join(request.prompts) or None,
    }
    began = time.perf_counter()
    try:
        with telemetry.span(f"chat {model}", shared | own, client=True, current=not stream) as span:
            yield ObservedCall(span, began, shared)
    except Exception as error:
        shared["error.type"] = telemetry.error_type(error)
        raise
    finally:
        telemetry.record(DURATION, time.perf_counter() - began, shared, unit="s")


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
                    vectors = await embed(self, texts)
                    span.set("gen_ai.embeddings.dimension.count", int(vectors.shape[1]))
                    return vectors
            except Exception as error:
                shared["error.type"] = telemetry.error_type(error)
                raise
            finally:
                telemetry.record(DURATION, time.perf_counter() - began, shared, unit="s")

        return cast(F, measured)

    return decorate
