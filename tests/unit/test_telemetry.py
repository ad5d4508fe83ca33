"""Spans and metrics: nothing unless switched on, and then no text of anybody's."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from pydantic import BaseModel

from longmind import Longmind, Settings, telemetry
from longmind.errors import InvalidAnswer, InvalidInput, InvalidSetting, ModelError, ModelUnavailable
from longmind.models.chat import Answer, Usage
from longmind.models.embed_static import StaticEmbedder
from longmind.models.resilience import Transient
from longmind.testing import ScriptedModel
from longmind.types import STAGES

SECRET = "the secret of the memory"


class Seen:
    """What reached the application's OpenTelemetry."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self._metrics = InMemoryMetricReader()
        tracer_provider = TracerProvider(shutdown_on_exit=False)
        tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.meter_provider = MeterProvider([self._metrics], shutdown_on_exit=False)
        telemetry.configure(True, tracer_provider=tracer_provider, meter_provider=self.meter_provider)

    @property
    def spans(self) -> tuple[Any, ...]:
        return self._spans.get_finished_spans()

    def points(self) -> dict[str, list[Any]]:
        data: Any = self._metrics.get_metrics_data()
        found = data.resource_metrics[0].scope_metrics[0].metrics if data else []
        return {metric.name: list(metric.data.data_points) for metric in found}


@pytest.fixture
def seen() -> Iterator[Seen]:
    made = Seen()
    yield made
    telemetry.configure(False)
    made.meter_provider.shutdown()


def test_it_is_off_by_default_and_costs_nothing() -> None:
    assert not telemetry.enabled()
    with telemetry.span("a", {"x": 1}) as first, telemetry.span("b") as second:
        first.set("y", 2)
        telemetry.count("c")
        telemetry.record("d", 1.0)
    assert first is second  # one object that holds nothing


def test_it_says_when_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidSetting, match="OpenTelemetry") as caught:
        telemetry.configure(True)
    assert "longmind[otel]" in caught.value.hint
    assert not telemetry.enabled()


def test_spans_nest_and_tell_errors_by_code(seen: Seen) -> None:
    def work() -> None:
        with telemetry.span("outer", {"a": "x", "none": None}), telemetry.span("inner") as span:
            span.set("hits", 3)
            raise ModelError(SECRET)

    with pytest.raises(ModelError):
        work()
    inner, outer = seen.spans
    assert (inner.name, outer.name) == ("inner", "outer")
    assert inner.parent.span_id == outer.context.span_id
    assert dict(outer.attributes) == {"a": "x", "error.type": "model_error"}
    assert dict(inner.attributes) == {"hits": 3, "error.type": "model_error"}
    assert inner.status.status_code is StatusCode.ERROR
    assert SECRET not in inner.to_json() + outer.to_json()


def test_counts_and_values_are_measured(seen: Seen) -> None:
    telemetry.count("longmind.rejected", 2, {"stage": "extract"})
    telemetry.count("longmind.rejected", 3, {"stage": "extract"})
    telemetry.record("longmind.recall.duration", 0.25, unit="s")
    points = seen.points()
    assert points["longmind.rejected"][0].value == 5
    assert points["longmind.recall.duration"][0].sum == 0.25


async def test_a_model_call_follows_the_genai_conventions(seen: Seen) -> None:
    said = Answer(text=SECRET, model="m-2026", usage=Usage(input_tokens=9, output_tokens=4, requests=1))
    await ScriptedModel(said).chat().complete(SECRET, max_tokens=50, temperature=0.5, prompts=["extract@2"])
    (span,) = seen.spans
    assert (span.name, span.kind) == ("chat model", SpanKind.CLIENT)
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "model",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.output.type": "text",
        "gen_ai.prompt.name": "extract@2",
        "gen_ai.response.model": "m-2026",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.usage.cache_read.input_tokens": 0,
    }
    assert SECRET not in span.to_json()
    points = seen.points()
    used = {point.attributes["gen_ai.token.type"]: point.sum for point in points["gen_ai.client.token.usage"]}
    assert used == {"input": 9, "output": 4}
    (duration,) = points["gen_ai.client.operation.duration"]
    assert (duration.count, duration.attributes["gen_ai.response.model"]) == (1, "m-2026")


async def test_structured_answers_are_counted_by_outcome(seen: Seen) -> None:
    class Point(BaseModel):
        x: int

    chat = ScriptedModel({"x": 1}, "{x: 1", {"x": "?"}, {"x": 1}, "no", "no").chat()
    for _ in range(3):
        await chat.structured("A point.", Point)
    with pytest.raises(InvalidAnswer):
        await chat.structured("A point.", Point)
    counted = {p.attributes["longmind.outcome"]: p.value for p in seen.points()["longmind.structured"]}
    assert counted == {"valid": 1, "mended": 1, "retried": 1, "invalid": 1}


async def test_a_stream_and_a_failed_call(seen: Seen) -> None:
    chat = ScriptedModel("one two", *[Transient("down")] * 4).chat()
    assert "".join([piece.text async for piece in chat.stream("Hi")]) == "one two"
    with pytest.raises(ModelUnavailable):
        await chat.complete("Hi")
    streamed, failed = seen.spans
    assert streamed.attributes["gen_ai.request.stream"] is True
    assert streamed.attributes["gen_ai.response.time_to_first_chunk"] >= 0
    assert failed.attributes["error.type"] == "model_unavailable"
    errors = [p.attributes.get("error.type") for p in seen.points()["gen_ai.client.operation.duration"]]
    assert sorted(map(str, errors)) == ["None", "model_unavailable"]


async def test_each_stage_of_consolidation_is_a_span_and_is_counted(seen: Seen) -> None:
    async with Longmind.open("memory:", settings=Settings.load({})) as longmind:
        mem = longmind.agent("a", user="alice")
        await mem.remember(f"I live in Lisbon. {SECRET}")
        report = await mem.consolidate()
    spans = {span.name: span for span in seen.spans}
    whole = spans["longmind.consolidate"]
    assert (whole.attributes["longmind.agent"], whole.attributes["longmind.read"]) == ("a", 1)
    assert whole.attributes["longmind.changes"] == len(report.proposed)
    for stage in STAGES:
        part = spans[f"longmind.consolidate.{stage}"]
        assert part.parent.span_id == whole.context.span_id
        assert part.attributes["longmind.sources"] == 1
    assert spans["longmind.consolidate.extract"].attributes["longmind.changes"] >= 1
    points = seen.points()
    timed = {point.attributes["longmind.stage"] for point in points["longmind.consolidate.stage.duration"]}
    assert timed == set(STAGES)
    (added,) = [
        point.value
        for point in points["longmind.consolidate.changes"]
        if point.attributes == {"longmind.stage": "extract", "longmind.action": "added"}
    ]
    assert added == report.of("extract").added
    assert SECRET not in str([span.to_json() for span in seen.spans])


async def test_embedding_is_a_span_with_its_model_and_dimensions(seen: Seen) -> None:
    await StaticEmbedder().embed([SECRET, "two"])
    (span,) = seen.spans
    assert span.name == "embeddings longmind-1-256"
    assert span.attributes == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "longmind",
        "gen_ai.request.model": "longmind-1-256",
        "longmind.texts": 2,
        "gen_ai.embeddings.dimension.count": 256,
    }
    (point,) = seen.points()["gen_ai.client.operation.duration"]
    assert point.attributes["gen_ai.operation.name"] == "embeddings"
    assert SECRET not in span.to_json()


async def test_embedding_that_fails_is_told_by_its_code(seen: Seen) -> None:
    with pytest.raises(InvalidInput):
        await StaticEmbedder().embed("one string")
    (span,) = seen.spans
    assert (span.attributes["error.type"], span.status.status_code) == ("invalid_input", StatusCode.ERROR)
