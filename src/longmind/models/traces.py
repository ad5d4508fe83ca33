"""A model call as spans and metrics, named after OpenTelemetry's GenAI semantic conventions.

Model, tokens, duration and how it ended are told; what was asked and answered is not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from longmind import telemetry
from longmind.models.chat import Answer, Provider, Request

DURATION = "gen_ai.client.operation.duration"
TOKENS = "gen_ai.client.token.usage"
FIRST_CHUNK = "gen_ai.client.operation.time_to_first_chunk"


@dataclass(slots=True)
class Observed:
    """A call as it goes on."""

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
def observed(provider: Provider, request: Request, *, stream: bool = False) -> Iterator[Observed]:
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
            yield Observed(span, began, shared)
    except Exception as error:
        shared["error.type"] = telemetry.error_type(error)
        raise
    finally:
        telemetry.record(DURATION, time.perf_counter() - began, shared, unit="s")
