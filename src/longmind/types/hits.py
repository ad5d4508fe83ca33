"""What search and recall return."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, PrivateAttr, SerializerFunctionWrapHandler, model_serializer

from longmind.types.fields import Unit
from longmind.types.memory import SHARED_AGENT, Memory
from longmind.types.model import Model, construct_unvalidated


class Scored(Model):
    """The id of a memory and its score, in the units of one arm."""

    id: str
    score: float


class Hit(Model):
    """A recalled memory, how well it fits, and why.

    Recall makes the reason and the components only when they are looked at, in whatever way: most callers read only
    the memory.
    """

    memory: Memory
    score: Unit
    why: str
    parts: Mapping[str, float] = Field(default_factory=dict)
    """The components of the score, by arm and prior."""
    _explain: Callable[[], tuple[str, Mapping[str, float]]] | None = PrivateAttr(None)

    @classmethod
    def explained_later(
        cls, memory: Memory, score: float, explain: Callable[[], tuple[str, Mapping[str, float]]]
    ) -> Hit:
        """Return a hit whose reason and components ``explain`` makes when they are first looked at."""
        hit = construct_unvalidated(cls, {"memory": memory, "score": score})
        object.__setattr__(hit, "__pydantic_private__", {"_explain": explain})
        return hit

    def _explained(self) -> Hit:
        """Make the reason and the components, if that was not done yet."""
        private = self.__pydantic_private__
        if private is not None and private["_explain"] is not None:
            why, parts = private["_explain"]()
            self.__dict__.update(why=why, parts=parts)
            private["_explain"] = None
        return self

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name in ("why", "parts"):
                return self._explained().__dict__[name]
            return super().__getattr__(name)

    @model_serializer(mode="wrap")
    def _serialize(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self._explained())

    def __eq__(self, other: object) -> bool:
        self._explained()
        return super().__eq__(other._explained() if isinstance(other, Hit) else other)

    def __iter__(self) -> Generator[tuple[str, Any], None, None]:
        yield from super(Hit, self._explained()).__iter__()

    def __getstate__(self) -> dict[Any, Any]:
        return super(Hit, self._explained()).__getstate__()

    def __copy__(self) -> Hit:
        return super(Hit, self._explained()).__copy__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Hit:
        return super(Hit, self._explained()).__deepcopy__(memo)

    @property
    def shared(self) -> bool:
        """Whether it comes from the shared memory of the tenant, and not from what the agent knows itself."""
        return self.memory.agent == SHARED_AGENT

    def __repr__(self) -> str:
        return f"Hit({self.score:.2f}, {self.memory!r})"
