"""What the HTTP providers share: a client with an allow-list of headers and a size limit, and error translation.

The SDKs would send headers of their own to any address (operating system, Python version, and the values of
``OPENAI_ORG_ID`` or ``*_CUSTOM_HEADERS``). Here an allow-list decides: only the request, the model's name and the key
are sent, and only to the configured address. Redirects are not followed, so the key stays with that address. A server's
error texts are not repeated in ours: some contain the key or the question.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from longmind.clock import Clock, SystemClock
from longmind.errors import InvalidAnswer, InvalidSetting, LongmindError, ModelError, ModelMissing
from longmind.models.resilience import Transient, retry_after

if TYPE_CHECKING:
    import httpx2

_ADDRESS_HINT = "Give it as http(s)://host[:port]/v1#model, without user name or password; the key is model_key."
MAX_ANSWER = 8 * 1024 * 1024
"""Bytes of one answer. A longer one is cut off, because it could fill the memory."""
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
FORM_REFUSED = frozenset({400, 404, 415, 422, 501})
"""Status codes with which a server may refuse the requested constraint on the answer."""
_SENT = ("host", "content-length", "content-type", "transfer-encoding", "accept", "connection", "anthropic-version")
_PLAIN = re.compile(r"^[A-Za-z0-9_.\[\]-]{1,64}$")
_HINTS = {
    400: "Check that the model takes questions of this length and kind.",
    401: "Check the API key (LONGMIND_MODEL_KEY).",
    403: "Check that the API key may use this model.",
    404: "Check the address (it usually ends in /v1) and the model's name; `longmind models` lists what there is.",
    413: "The question is too long for the server.",
}


def checked_address(base_url: str, whose: str, hint: str) -> str:
    """Return an address that may appear in logs; refuse one with a user name, password, query or fragment."""
    try:
        parts = urlsplit(base_url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or parts.username is not None or parts.query or parts.fragment:
        raise InvalidSetting(f"The address of the {whose} is not usable.", hint=hint)
    return base_url


def checked_key(key: str | None) -> str | None:
    """Return the key; refuse one that cannot be in a header, without showing it."""
    if key is not None and (not key or not key.isascii() or not key.isprintable() or " " in key):
        raise InvalidSetting(
            "The API key has characters that a key cannot have.",
            hint="Check for a line break, a space or quotes that were copied along with it.",
        )
    return key


def bearer(key: str | None) -> dict[str, str]:
    """Return the header that carries a key, or no header without one."""
    return {} if checked_key(key) is None else {"Authorization": f"Bearer {key}"}


class WireModel(BaseModel):
    """The part of a server's answer that is read. Unknown fields are ignored: servers add more over time."""

    model_config = ConfigDict(extra="ignore")


def to_plain_data(answer: Any) -> Any:
    """Return an SDK's object as plain data to validate: the SDKs do not validate what a server sends."""
    return answer.to_dict(mode="json", warnings=False) if hasattr(answer, "to_dict") else answer


class _AnswerTooLarge(Exception):
    """An answer over the size limit, or a compressed one whose size is unknown."""


@dataclass(slots=True)
class Wire:
    """The connection settings for one address and one key, and the translation of its errors."""

    sdk: str
    """The SDK package for the protocol; imported on first use."""
    extra: str
    base_url: str
    model: str
    key: SecretStr | None = None
    header: str = "authorization"
    """The header that carries the key."""
    timeout: float = 60.0
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        if importlib.util.find_spec(self.sdk) is None:
            raise ModelMissing(
                f"The model {self.model!r} needs the package {self.sdk!r}.",
                hint=f'Run: pip install "longmind[{self.extra}]"',
            )
        checked_address(self.base_url, "model's server", _ADDRESS_HINT)
        checked_key(None if self.key is None else self.key.get_secret_value())

    @property
    def address(self) -> str:
        return urlsplit(self.base_url).netloc

    def options(self) -> dict[str, Any]:
        """Return the arguments for the SDK's client: our HTTP client and timeouts, and no retries."""
        return {
            "api_key": "in the header that the wire sets",
            "base_url": self.base_url,
            "max_retries": 0,
            "timeout": self.limits(),
            "http_client": self.client(),
        }

    async def package(self) -> ModuleType:
        """Import the SDK, in a thread: it takes about a second, which would block the event loop."""
        return await asyncio.to_thread(importlib.import_module, self.sdk)

    def client(self) -> httpx2.AsyncClient:
        """Return a client that sends only allowed headers and reads at most ``MAX_ANSWER`` bytes."""
        import httpx2

        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [self._keep_allowed_headers],
            "response": [_limit_size],
        }
        return httpx2.AsyncClient(
            event_hooks=hooks,
            timeout=self.limits(),
            follow_redirects=False,
            trust_env=not _is_this_machine(self.base_url),  # a proxy must not see what stays on this machine
        )

    def limits(self) -> httpx2.Timeout:
        import httpx2

        return httpx2.Timeout(self.timeout, connect=min(10.0, self.timeout))

    async def _keep_allowed_headers(self, request: httpx2.Request) -> None:
        headers = {name: value for name, value in request.headers.items() if name.lower() in _SENT}
        headers |= {"user-agent": "longmind", "accept-encoding": "identity"}
        if self.key is not None:
            secret = self.key.get_secret_value()
            headers[self.header] = f"Bearer {secret}" if self.header == "authorization" else secret
        request.headers.clear()
        request.headers.update(headers)

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Translate the SDK's errors into ours. They are not chained, because they hold the key and the answer."""
        try:
            yield
        except LongmindError:
            raise
        except (ValidationError, ValueError, RecursionError) as error:
            raise self.malformed("it cannot be read", str(getattr(error, "doc", ""))) from None
        except Exception as error:
            failure = self._translate(error)
            if failure is None:
                raise
            raise failure from None

    def malformed(self, what: str, text: str = "") -> InvalidAnswer:
        """Return the error for an answer that violates the protocol."""
        return InvalidAnswer(
            f"{self.base_url} gave an answer that is not a chat answer: {what}.",
            hint="Check that the address is the API of a chat model (it usually ends in /v1).",
            text=self.without_key(text)[:2000],
        )

    def stream_cut(self) -> Transient:
        """Return the error for a stream that ended without its end marker."""
        return Transient("the stream ended before the answer did")

    def without_key(self, text: str) -> str:
        """Remove the key from a text, in case a server repeated it."""
        secret = self.key.get_secret_value() if self.key is not None else ""
        return text.replace(secret, "[key]") if secret else text

    def _translate(self, error: Exception) -> Exception | None:
        import httpx2

        if _is_too_large(error):
            return InvalidAnswer(
                f"{self.base_url} gave an answer of more than {MAX_ANSWER:,} bytes, or a packed one.",
                hint="It was broken off. Ask for fewer tokens.",
                text="",
            )
        status = getattr(error, "status_code", None)
        if isinstance(status, int):
            return self._refusal(status, error)
        kind = type(error).__name__
        if isinstance(error, httpx2.TimeoutException) or kind == "APITimeoutError":
            return Transient(f"no answer within {self.timeout:g} s")
        if isinstance(error, httpx2.TransportError) or kind == "APIConnectionError":
            return Transient(f"the connection failed ({type(error.__cause__ or error).__name__})")
        if kind == "APIError":  # an error event within a stream
            return Transient("the server reported an error while it answered")
        if isinstance(error, httpx2.HTTPError | httpx2.StreamError) or type(error).__module__.startswith(self.sdk):
            return self.malformed(kind)
        return None

    def _refusal(self, status: int, error: Any) -> Exception:
        words = self._error_words(error)
        if status in RETRIED and "insufficient_quota" not in words:
            header = error.response.headers.get("retry-after") if hasattr(error, "response") else None
            return Transient(f"status {status}", retry_after(header, self.clock), outage=status != 429)
        if status < 300:
            return self.malformed("it cannot be read")
        return ModelError(
            f"{self.base_url} refused the request for model {self.model!r} with status {status}"
            + (f" ({', '.join(words)})." if words else "."),
            hint="Check the account's credit."
            if "insufficient_quota" in words
            else _HINTS.get(status, "Check the address and the model's name."),
            status=status,
            said=words,
        )

    def _error_words(self, error: Any) -> list[str]:
        """Return the machine-readable words of a refusal, such as ``invalid_request_error`` and ``temperature``."""
        body = getattr(error, "body", None)
        inner = body.get("error", body) if isinstance(body, dict) else None
        fields = [inner.get(name) for name in ("type", "code", "param")] if isinstance(inner, dict) else []
        words = dict.fromkeys(word for word in fields if isinstance(word, str) and _PLAIN.match(word))
        secret = self.key.get_secret_value() if self.key is not None else None
        return [word for word in words if secret is None or (word not in secret and secret not in word)]


class _Bounded:
    """A response stream that fails after ``MAX_ANSWER`` bytes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for chunk in self._stream:
            seen += len(chunk)
            if seen > MAX_ANSWER:
                raise _AnswerTooLarge
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit_size(response: httpx2.Response) -> None:
    import httpx2

    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise _AnswerTooLarge  # we asked for none; a compressed answer could expand to any size

    class Bounded(_Bounded, httpx2.AsyncByteStream):
        pass

    response.stream = Bounded(response.stream)


def _is_too_large(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, _AnswerTooLarge):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_this_machine(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
