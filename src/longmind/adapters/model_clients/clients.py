"""``with_memory``: a copy of a client whose calls have memory.

The copy is a client of the same class, with the same connections. The resources that call a model (such as
``client.chat.completions``) are of their own class too; only what they send and receive passes through memory, so that
every way to call them has it: ``create``, ``parse``, ``stream`` and the runner of tools.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar, cast

from longmind import AgentMemory, InvalidInput
from longmind.adapters.model_clients.call import Exchange, MemoryCall, MemoryOptions, RecentCalls
from longmind.adapters.model_clients.requests import ChatCompletions, Interface, Messages, Responses
from longmind.adapters.model_clients.streams import watch_async_stream, watch_stream
from longmind.sync import AgentMemory as BlockingAgentMemory

C = TypeVar("C")
Part = Callable[[AgentMemory], Coroutine[Any, Any, None]]
"""What memory does, before a request or after it."""
ExchangeOf = Callable[[Any, Mapping[str, Any]], Exchange | None]
"""Returns memory's part in a request, from its body and its options."""
_RESOURCES: Mapping[str, Mapping[str, Interface]] = {
    "openai": {
        "chat.completions": ChatCompletions(),
        "responses": Responses(),
        "beta.chat.completions": ChatCompletions(),
        "beta.responses": Responses(),
    },
    "anthropic": {"messages": Messages(), "beta.messages": Messages()},
}
"""The resources of each provider's client that call a model."""
_CALLS = ("create", "parse", "stream")
_RAW = "x-stainless-raw-response"


def with_memory(
    client: C, mem: AgentMemory | BlockingAgentMemory, *, options: MemoryOptions | None = None, **changes: Any
) -> C:
    """Return a copy of a client of OpenAI or Anthropic whose calls get their context from memory and are remembered.

    ``changes`` are fields of ``MemoryOptions``: ``session``, ``tokens``, ``recall``, ``remember``, ``place`` and
    ``on_error``. Every call takes ``memory=`` as well: False switches it off, a dict changes options for this call.
    What memory did is in ``response.longmind``, of a stream in ``stream.longmind``, and in ``client.last_call``.
    A blocking client needs a memory of ``longmind.sync``; an asynchronous one takes either.
    """
    provider = next(
        (name for cls in type(client).__mro__ if (name := cls.__module__.partition(".")[0]) in _RESOURCES), None
    )
    if provider is None:
        raise InvalidInput(
            f"A {type(client).__name__} is no client of OpenAI or Anthropic.",
            hint="Give an instance of OpenAI, AsyncOpenAI, Anthropic or AsyncAnthropic, or use mem.tools().",
            field="client",
        )
    wired: Any = client
    asynchronous = inspect.iscoroutinefunction(type(wired).post)
    if not asynchronous and not isinstance(mem, BlockingAgentMemory):
        raise InvalidInput(
            "A blocking client needs a blocking memory.",
            hint="Open it with `from longmind.sync import Longmind`, or use the asynchronous client.",
            field="mem",
        )
    return cast(C, _Wiring(wired, mem, (options or MemoryOptions()).changed(changes), provider, asynchronous).client)


class _Wiring:
    """Connects a copy of a client with a memory."""

    def __init__(
        self,
        client: Any,
        mem: AgentMemory | BlockingAgentMemory,
        options: MemoryOptions,
        provider: str,
        asynchronous: bool,
    ) -> None:
        self._mem = mem
        self._options = options
        self._asynchronous = asynchronous
        self._recent = RecentCalls()
        self.client = client.copy()
        self.client.last_call = None
        copy = self.client.copy
        self.client.copy = self.client.with_options = lambda **changes: with_memory(
            copy(**changes), mem, options=options
        )
        for path, interface in _RESOURCES[provider].items():
            self._connect(path, interface)

    def _connect(self, path: str, interface: Interface) -> None:
        *parents, name = path.split(".")
        parent = self.client
        for attribute in parents:
            parent = getattr(parent, attribute, None)
        if not hasattr(type(parent), name):  # a client of a cloud, or of another version, may lack a resource
            return
        resource = type(getattr(parent, name))(self.client)
        for call in _CALLS:
            if hasattr(resource, call):
                setattr(resource, call, self._call(type(resource), call, interface))
        parent.__dict__[name] = resource

    def _call(self, resource: type, name: str, interface: Interface) -> Callable[..., Any]:
        """Return a method that takes ``memory=`` and calls the resource's own, on a resource that has memory."""

        def call(*args: Any, memory: bool | Mapping[str, Any] | MemoryOptions = True, **kwargs: Any) -> Any:
            options = self._options.changed(memory)
            target = resource(self.client)
            if options.recall or options.remember:
                make = self._async_post if self._asynchronous else self._post
                target._post = make(
                    target._post, lambda body, request: self._exchange(interface, options, body, request)
                )
            return getattr(target, name)(*args, **kwargs)

        return call

    def _exchange(
        self, interface: Interface, options: MemoryOptions, body: Any, request: Mapping[str, Any]
    ) -> Exchange | None:
        """Return memory's part in a request; None for a raw response, which the caller reads itself."""
        headers = {str(name).lower() for name in request.get("headers") or {}}
        if _RAW in headers or not isinstance(body, Mapping):
            return None
        exchange = Exchange(interface, body, options, self._recent)
        self.client.last_call = exchange.report
        return exchange

    def _post(self, post: Callable[..., Any], exchange_of: ExchangeOf) -> Callable[..., Any]:
        """Return the way in which a resource sends a request, with memory before and after it."""

        def send(path: str, *, body: Any = None, options: Any = None, stream: bool = False, **more: Any) -> Any:
            more |= {"options": options or {}, "stream": stream}
            exchange = exchange_of(body, options or {})
            if exchange is None:
                return post(path, body=body, **more)

            def remember() -> None:
                with exchange.guarded():
                    self._run(exchange.remember)
                exchange.report.done = True

            with exchange.guarded():
                self._run(exchange.recall)
            response = post(path, body=exchange.body, **more)
            if stream:
                watch_stream(response, exchange, remember)
            else:
                exchange.read(response)
                remember()
            return _reported(response, exchange.report)

        return send

    def _async_post(self, post: Callable[..., Any], exchange_of: ExchangeOf) -> Callable[..., Any]:
        """Return the same for an asynchronous client."""

        async def send(path: str, *, body: Any = None, options: Any = None, stream: bool = False, **more: Any) -> Any:
            more |= {"options": options or {}, "stream": stream}
            exchange = exchange_of(body, options or {})
            if exchange is None:
                return await post(path, body=body, **more)

            async def remember() -> None:
                with exchange.guarded():
                    await self._await(exchange.remember)
                exchange.report.done = True

            with exchange.guarded():
                await self._await(exchange.recall)
            response = await post(path, body=exchange.body, **more)
            if stream:
                watch_async_stream(response, exchange, remember)
            else:
                exchange.read(response)
                await remember()
            return _reported(response, exchange.report)

        return send

    def _run(self, part: Part) -> None:
        """Run a part of memory's work and wait for it."""
        assert isinstance(self._mem, BlockingAgentMemory)
        self._mem._loop.run(part(self._mem._target))

    async def _await(self, part: Part) -> None:
        """Run a part of memory's work; a blocking memory does it in its own event loop."""
        if isinstance(self._mem, BlockingAgentMemory):
            await asyncio.to_thread(self._run, part)
        else:
            await part(self._mem)


def _reported(response: Any, report: MemoryCall) -> Any:
    # not as a field of the provider's model: it would be a part of the response's JSON
    object.__setattr__(response, "longmind", report)
    return response
