"""Whose memory a framework means: its names as agent, user and session of Longmind (ADR 0028)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from pydantic import TypeAdapter, ValidationError

from longmind.errors import Forbidden, InvalidInput
from longmind.types import Name

DEFAULT_AGENT = "assistant"
"""The agent of an adapter that was given none, where the framework has no name of an application."""
_NAME: TypeAdapter[str] = TypeAdapter(Name)


def name_of(id: object, what: str) -> str:
    """Return an id of a framework as a name of Longmind; one that cannot be a name becomes ``#`` and its hash.

    ``what`` says for an error what the id is of, such as ``thread_id``.
    """
    text = id if isinstance(id, str) else str(id) if isinstance(id, int) else ""
    if not text:
        raise InvalidInput(f"{what} must be a text that is not empty, not {id!r}.", field=what)
    hashed = "#" + sha256(text.encode(errors="surrogatepass")).hexdigest()
    if text.startswith("#"):  # a hash of ours stays apart from an id that looks like one
        return hashed
    try:
        return _NAME.validate_python(text)
    except ValidationError:
        return hashed


@dataclass(frozen=True, slots=True)
class AdapterScope:
    """The agent and the user that an adapter was made for; None where each call may name them."""

    agent: str | None = None
    user: str | None = None

    def agent_name(self, application: str | None = None) -> str:
        """Return the agent of a call: the adapter's own, or else the application that the framework names."""
        if self.agent is not None:
            return self.agent
        return DEFAULT_AGENT if application is None else name_of(application, "the application's name")

    def user_name(self, user: str | None = None) -> str | None:
        """Return the user of a call: the adapter's own, or else the one that the framework names.

        The adapter's own user is a wall: a call for another one is ``Forbidden``.
        """
        if user is None:
            return self.user
        asked = name_of(user, "the user's id")
        if self.user is not None and asked != self.user:
            raise Forbidden(
                "This adapter is for one user, and the call is for another.",
                hint="Make an adapter for that user, or one without a user.",
            )
        return asked
