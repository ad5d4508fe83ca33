"""Subscriptions: a client that stays connected is told when a resource it watches may have changed.

Only this connection's own writes are told, as by the reference memory server. Clients of the protocol until 2025-11-25
subscribe to single resources; later ones listen on a stream.
"""

from __future__ import annotations

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from longmind.server.mcp.context import Context
from longmind.server.mcp.resources import find_resource

CHANGING = ("longmind://memories", "memory://knowledge-graph")
"""The resources that a write may change."""


class Subscriptions:
    """The subscriptions of one connection."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._uris: set[str] = set()
        self.listen = ListenHandler(self._bus)

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        find_resource(str(params.uri))
        self._uris.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        self._uris.discard(str(params.uri))
        return EmptyResult()

    async def changed(self, ctx: Context) -> None:
        """Tell that a write was made."""
        for uri in CHANGING:
            await self._bus.publish(ResourceUpdated(uri=uri))
            if uri in self._uris:
                await ctx.session.send_resource_updated(uri)
