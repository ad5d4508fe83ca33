"""Every error Longmind raises, in one tree.

LongmindError
├── InvalidInput            422  what was given cannot be stored or asked
│   └── InvalidSetting      422  a setting has a value it cannot have
├── NotFound                404  no such memory, operation or cursor in this scope
├── Conflict                409  the record changed since it was read
│   ├── VersionConflict     409  an expected version did not match
│   ├── KeyTaken            409  another live record holds this key
│   └── OperationMismatch   409  an operation id was used before for another change
├── Unauthenticated         401  nobody is known by this key
├── Forbidden               403  the scope or the key does not allow this
├── LimitExceeded           413  a request is larger than the server takes
├── RateLimited             429  too many requests with a key; ``details["retry_after"]``: seconds to wait
├── TimedOut                504  a request took longer than the server waits
├── Unsupported             501  this cannot be done over a server
├── PackageMissing          501  the package that an adapter is for is not installed; an ImportError too
├── StoreError              500  the database could not do it; nothing was changed
│   ├── StoreUnavailable    503  no connection, locked for too long, or closed
│   ├── StoreFull           507  the disk or quota is full
│   ├── StoreCorrupt        500  the file is damaged; it was left as it is
│   ├── ForeignStore        500  the file or database is not a Longmind store
│   └── SchemaTooNew        500  written by a newer Longmind
└── ModelError              502  a model (embedder, reranker, chat) failed
    ├── ModelMissing        501  an optional model is not installed
    ├── ModelMismatch       409  vectors of two models would mix
    ├── ModelUnavailable    503  no answer: not reachable, overloaded or too slow; a later call may work
    ├── InvalidAnswer       502  an answer that cannot be used; its text is in ``details["text"]``
    └── BudgetSpent         429  today's budget is used up; ``details["resumes_at"]`` says when there is more

The first line of a class's docstring is its default message. Every error carries a stable ``code``,
the HTTP ``status`` a server answers with, and ``hint``: what to do about it.
"""

from __future__ import annotations

from typing import Any, ClassVar


class LongmindError(Exception):
    """Something went wrong in Longmind."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500

    def __init__(self, message: str | None = None, *, hint: str = "", **details: Any) -> None:
        self.message = message or (type(self).__doc__ or "").split("\n", 1)[0]
        self.hint = hint
        self.details = details
        super().__init__(f"{self.message} {hint}".strip())

    def as_dict(self) -> dict[str, Any]:
        """Return the error as plain data, for ``--json`` and for HTTP responses."""
        return {"error": self.code, "message": self.message, "hint": self.hint, "details": self.details}


class InvalidInput(LongmindError):
    """What was given cannot be stored or asked."""

    code, status = "invalid_input", 422


class InvalidSetting(InvalidInput):
    """A setting has a value it cannot have."""

    code = "invalid_setting"


class NotFound(LongmindError):
    """There is no such record in this scope."""

    code, status = "not_found", 404


class Conflict(LongmindError):
    """The record changed since it was read."""

    code, status = "conflict", 409


class VersionConflict(Conflict):
    """The expected version did not match the stored one."""

    code = "version_conflict"


class KeyTaken(Conflict):
    """Another live record of this agent holds this key."""

    code = "key_taken"


class OperationMismatch(Conflict):
    """This operation id was used before for a different change."""

    code = "operation_mismatch"


class Forbidden(LongmindError):
    """The scope does not allow this."""

    code, status = "forbidden", 403


class Unauthenticated(LongmindError):
    """Nobody is known by this key."""

    code, status = "unauthenticated", 401


class LimitExceeded(LongmindError):
    """The request is larger than the server takes."""

    code, status = "limit_exceeded", 413


class RateLimited(LongmindError):
    """There are too many requests with this key."""

    code, status = "rate_limited", 429


class TimedOut(LongmindError):
    """The request took longer than the server waits."""

    code, status = "timed_out", 504


class Unsupported(LongmindError):
    """This cannot be done over a server."""

    code, status = "unsupported", 501


class PackageMissing(LongmindError, ImportError):
    """The package that this adapter is for is not installed."""

    code, status = "package_missing", 501


class StoreError(LongmindError):
    """The database could not do this; nothing was changed."""

    code, status = "store_error", 500


class StoreUnavailable(StoreError):
    """The store cannot be reached."""

    code, status = "store_unavailable", 503


class StoreFull(StoreError):
    """There is no space left for the store; nothing of this change was kept."""

    code, status = "store_full", 507


class StoreCorrupt(StoreError):
    """The store is damaged; it was left exactly as it is."""

    code = "store_corrupt"


class ForeignStore(StoreError):
    """This is not a Longmind store."""

    code = "foreign_store"


class SchemaTooNew(StoreError):
    """This store was written by a newer Longmind."""

    code = "schema_too_new"


class ModelError(LongmindError):
    """A model failed."""

    code, status = "model_error", 502


class ModelMissing(ModelError):
    """An optional model is not installed."""

    code, status = "model_missing", 501


class ModelMismatch(ModelError):
    """Vectors of two different models would mix."""

    code, status = "model_mismatch", 409


class ModelUnavailable(ModelError):
    """The model gives no answer at the moment."""

    code, status = "model_unavailable", 503


class InvalidAnswer(ModelError):
    """The model's answer cannot be used."""

    code = "invalid_answer"

    def __init__(self, message: str | None = None, *, hint: str = "", usage: Any = None, **details: Any) -> None:
        super().__init__(message, hint=hint, **details)
        self.usage = usage
        """The cost of the answer: a ``models.chat.Usage``, if known."""


class BudgetSpent(ModelError):
    """The budget for the model is used up for today."""

    code, status = "budget_spent", 429
