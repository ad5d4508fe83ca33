"""Open a language model from its URL in the settings.

    openai://gpt-5-mini                       OpenAI
    anthropic://claude-sonnet-4-5             Anthropic
    http://localhost:11434/v1#llama3.2        any server that speaks the OpenAI protocol
    anthropic+https://gateway.example#claude  any server that speaks the Anthropic protocol
    llamacpp:models/small.gguf                a GGUF file, in this process

Options follow a ``?``, before the ``#``: ``timeout`` (seconds for one attempt), ``concurrency`` (calls at once),
``price`` (US dollars for a million tokens: input/output or input/output/cached), ``cache`` (how many answers to
remember), and for llama.cpp ``threads`` and ``context``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import parse_qsl

from pydantic import SecretStr

from longmind.clock import Clock
from longmind.config import Settings, provider_key
from longmind.errors import InvalidSetting
from longmind.models.chat_model import ChatModel, MemoryCache, Prices
from longmind.models.resilience import RetryPolicy

if TYPE_CHECKING:
    from longmind.models.chat import Provider

N = TypeVar("N", int, float)

_SCHEMES = ("openai", "http", "https", "anthropic", "anthropic+http", "anthropic+https", "llamacpp")
CHOICES = (
    "Give openai://model, anthropic://model, http(s)://host/v1#model or llamacpp:path.gguf; "
    "options follow a ?, as in openai://model?timeout=30."
)


def open_chat(spec: str, *, api_key: SecretStr | str | None = None, clock: Clock | None = None) -> ChatModel:
    """Open the model that ``spec`` names.

    Nothing is loaded or sent before the first use, but a missing package, file or key is reported here. Without
    ``api_key``, ``openai://`` and ``anthropic://`` use the key of their own SDKs (``OPENAI_API_KEY``,
    ``ANTHROPIC_API_KEY``). Other addresses get only ``api_key``.
    """
    parsed = _parsed(spec)
    local = parsed.scheme == "llamacpp"
    timeout = parsed.number("timeout", 300.0 if local else 60.0, above=0.0)
    concurrency = parsed.number("concurrency", 1 if local else 4, above=0)
    cache = parsed.number("cache", 0, above=-1)
    prices = parsed.prices(Prices(0.0, 0.0) if local else None)
    provider = _provider(parsed, SecretStr(api_key) if isinstance(api_key, str) else api_key, timeout, clock)
    parsed.nothing_left()
    return ChatModel(
        provider,
        retry_policy=RetryPolicy(timeout=timeout, deadline=3 * timeout, concurrency=concurrency),
        prices=prices,
        cache=MemoryCache(cache) if cache else None,
        clock=clock,
    )


def chat_from(settings: Settings, *, clock: Clock | None = None) -> ChatModel | None:
    """Open the model of the settings; return None without one, and then everything works by rules."""
    if settings.model is None:
        return None
    return open_chat(settings.model, api_key=settings.model_key, clock=clock)


@dataclass(slots=True)
class _Spec:
    """A model's URL in its parts."""

    scheme: str
    target: str
    model: str
    options: dict[str, str]

    def number(self, name: str, default: N, *, above: float) -> N:
        """Remove a numeric option and return its value. Options that remain at the end are unknown ones."""
        text = self.options.pop(name, None)
        if text is None:
            return default
        try:
            value = type(default)(text)
        except ValueError:
            value = type(default)(above)
        if not above < value < 1e9:
            raise InvalidSetting(
                f"The option {name} of the model's URL must be a number above {above:g}.", hint=CHOICES
            )
        return value

    def prices(self, default: Prices | None) -> Prices | None:
        text = self.options.pop("price", None)
        if text is None:
            return default
        try:
            numbers = [float(part) for part in text.split("/")]
            sound = len(numbers) in (2, 3) and all(0.0 <= number < 1e6 for number in numbers)
        except ValueError:
            sound = False
        if not sound:
            raise InvalidSetting(
                "The option price of the model's URL is not usable.",
                hint="Give US dollars for a million tokens as input/output, such as price=0.25/2.00.",
            )
        return Prices(*numbers)

    def nothing_left(self) -> None:
        if self.options:
            raise InvalidSetting(f"A model's URL has no option {min(self.options)[:40]!r}.", hint=CHOICES)


def _parsed(spec: str) -> _Spec:
    scheme, colon, rest = spec.partition(":")
    if not colon:
        raise InvalidSetting("The model is not given as a URL.", hint=CHOICES)
    if scheme not in _SCHEMES:
        raise InvalidSetting(f"There is no kind of model {scheme[:40]!r}.", hint=CHOICES)
    head, _, model = rest.partition("#") if scheme != "llamacpp" else (rest, "", "")
    target, _, query = head.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if scheme in ("openai", "anthropic"):
        target, model = "", (target.removeprefix("//") + ("#" + model if model else ""))
    if scheme != "llamacpp" and not model.strip():
        raise InvalidSetting(
            "The model's URL does not say which model.",
            hint='Write openai://model, or add it after a # as in "http://localhost:11434/v1#model".',
        )
    return _Spec(scheme, target, model, options)


def _provider(parsed: _Spec, key: SecretStr | None, timeout: float, clock: Clock | None) -> Provider:
    match parsed.scheme:
        case "openai":
            from longmind.models.chat_openai import OpenAiProvider

            return OpenAiProvider(parsed.model, api_key=_needed(key, "openai"), timeout=timeout, clock=clock)
        case "http" | "https":
            from longmind.models.chat_openai import OpenAiProvider

            address = f"{parsed.scheme}:{parsed.target}"
            return OpenAiProvider(parsed.model, base_url=address, api_key=key, timeout=timeout, clock=clock)
        case "anthropic":
            from longmind.models.chat_anthropic import AnthropicProvider

            return AnthropicProvider(parsed.model, api_key=_needed(key, "anthropic"), timeout=timeout, clock=clock)
        case "anthropic+http" | "anthropic+https":
            from longmind.models.chat_anthropic import AnthropicProvider

            address = f"{parsed.scheme.removeprefix('anthropic+')}:{parsed.target}"
            return AnthropicProvider(parsed.model, base_url=address, api_key=key, timeout=timeout, clock=clock)
        case _:
            from longmind.models.chat_llamacpp import LlamaCppProvider

            threads = parsed.number("threads", 0, above=-1) or None
            return LlamaCppProvider(
                parsed.target, threads=threads, context=parsed.number("context", 4096, above=0), timeout=timeout
            )


def _needed(key: SecretStr | None, provider: Literal["openai", "anthropic"]) -> SecretStr:
    available_key = key or provider_key(provider)
    if available_key is None:
        raise InvalidSetting(
            f"There is no key for {provider}://.",
            hint=f"Set LONGMIND_MODEL_KEY or {provider.upper()}_API_KEY in the environment.",
        )
    return available_key
