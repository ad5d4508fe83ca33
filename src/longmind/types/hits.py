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
    """A recalled memory, how likely it is right, and why.

    ``score`` is a chance: of hits with a score of 0.5 about half are right. It never rises from one hit to the next.
    Recall makes the reason and the components only when they are looked at, in whatever way: most callers read only
    the memory.
    """

    memory: Memory
    score: Unit
    why: str
    parts: Mapping[str, float] = Field(default_factory=dict)
    """What the score was made from: the fit, its components by arm and prior, and the signs of the whole question."""
    _fit: float | None = PrivateAttr(None)
    _explain: Callable[[], tuple[str, Mapping[str, float]]] | None = PrivateAttr(None)

    @classmethod
    def explained_later(
        cls, memory: Memory, score: float, fit: float, explain: Callable[[], tuple[str, Mapping[str, float]]]
    ) -> Hit:
        """Return a hit whose reason and components ``explain`` makes when they are first looked at."""
        hit = construct_unvalidated(cls, {"memory": memory, "score": score})
        object.__setattr__(hit, "__pydantic_private__", {"_explain": explain, "_fit": fit})
        return hit

    @property
    def fit(self) -> float:
        """The number by which recall orders hits. It compares the hits of one recall, and says nothing by itself."""
        return self.parts.get("fit", self.score) if self._fit is None else self._fit

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
        if not isinstance(other, Hit):
            return NotImplemented
        return type(self) is type(other) and self._explained().__dict__ == other._explained().__dict__

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
