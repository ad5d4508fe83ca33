"""Spans and metrics through OpenTelemetry; off by default.

Longmind sends nothing anywhere. Switched on (``LONGMIND_OTEL=true``), it gives spans and metrics to the OpenTelemetry
providers of the application, and the application decides where they go. Every layer may use this module:

    with telemetry.span("longmind.recall", {"longmind.agent": agent}) as span:
        ...
        span.set("longmind.hits", len(hits))

Attributes are names, numbers and counts; never the text of a memory, a prompt or an answer. For the same reason an
error is recorded by its code, not by its message.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from longmind.errors import InvalidSetting, LongmindError

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram, Meter, MeterProvider
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer, TracerProvider

SCOPE = "longmind"
"""The instrumentation scope: the name of our tracer and our meter."""

Value: TypeAlias = str | bool | int | float | Sequence[str]
Attributes: TypeAlias = Mapping[str, Value | None]


class Span(Protocol):
    """A span to which attributes can be added."""

    def set(self, name: str, value: Value | None) -> None:
        """Add an attribute; None adds nothing."""
        ...


class _NoSpan:
    """The span while telemetry is off. It has no state, so one instance is shared."""

    def __enter__(self) -> _NoSpan:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def set(self, name: str, value: Value | None) -> None:
        pass


class _RealSpan:
    def __init__(self, span: OtelSpan) -> None:
        self._span = span

    def set(self, name: str, value: Value | None) -> None:
        if value is not None:
            self._span.set_attribute(name, value)


class _On:
    """Telemetry switched on: a tracer, a meter, and the instruments created so far."""

    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer
        self._meter = meter
        self._histograms: dict[str, Histogram] = {}
        self._counters: dict[str, Counter] = {}

    @contextmanager
    def span(self, name: str, attributes: Attributes, *, client: bool, current: bool) -> Iterator[Span]:
        from opentelemetry.trace import SpanKind, Status, StatusCode, use_span

        kind = SpanKind.CLIENT if client else SpanKind.INTERNAL
        raw_span = self._tracer.start_span(name, kind=kind, attributes=_known(attributes))
        try:
            if current:
                with use_span(raw_span, record_exception=False, set_status_on_exception=False):
                    yield _RealSpan(raw_span)
            else:
                yield _RealSpan(raw_span)
        except Exception as error:
            raw_span.set_attribute("error.type", error_type(error))
            raw_span.set_status(Status(StatusCode.ERROR))
            raise
        finally:
            raw_span.end()

    def record(self, name: str, value: float, attributes: Attributes, unit: str) -> None:
        if name not in self._histograms:
            self._histograms[name] = self._meter.create_histogram(name, unit=unit)
        self._histograms[name].record(value, _known(attributes))

    def count(self, name: str, value: int, attributes: Attributes, unit: str) -> None:
        if name not in self._counters:
            self._counters[name] = self._meter.create_counter(name, unit=unit)
        self._counters[name].add(value, _known(attributes))


_NO_SPAN = _NoSpan()
_active: _On | None = None


def configure(
    on: bool, *, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> None:
    """Switch telemetry on or off for this process; without providers, those of the application are used."""
    global _active
    if not on:
        _active = None
        return
    if importlib.util.find_spec("opentelemetry") is None:
        raise InvalidSetting(
            "Telemetry was switched on, but OpenTelemetry is not installed.",
            hint='Run: pip install "longmind[otel]", or leave LONGMIND_OTEL unset.',
        )
    from opentelemetry import metrics, trace

    _active = _On(
        trace.get_tracer(SCOPE, tracer_provider=tracer_provider),
        metrics.get_meter(SCOPE, meter_provider=meter_provider),
    )


def enabled() -> bool:
    """Return whether telemetry is on."""
    return _active is not None


def span(
    name: str, attributes: Attributes | None = None, *, client: bool = False, current: bool = True
) -> AbstractContextManager[Span]:
    """Measure a block of code as a span. ``client`` marks a call to another service.

    Use ``current=False`` in a generator: its current span would otherwise also be current in the caller between items.
    """
    return _NO_SPAN if _active is None else _active.span(name, attributes or {}, client=client, current=current)


def record(name: str, value: float, attributes: Attributes | None = None, *, unit: str = "1") -> None:
    """Record a value in a histogram."""
    if _active is not None:
        _active.record(name, value, attributes or {}, unit)


def count(name: str, value: int = 1, attributes: Attributes | None = None, *, unit: str = "1") -> None:
    """Add ``value`` to a counter."""
    if _active is not None:
        _active.count(name, value, attributes or {}, unit)


def error_type(error: BaseException) -> str:
    """Return the name of an error in spans and metrics."""
    return error.code if isinstance(error, LongmindError) else type(error).__qualname__


def _known(attributes: Attributes) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}
