"""Addresses and keys of servers, as they may be used: an address can stand in a log, a key can stand in a header."""

from __future__ import annotations

from urllib.parse import urlsplit

from longmind.errors import InvalidSetting


def checked_address(base_url: str, whose: str, hint: str) -> str:
    """An address that may appear in logs and errors: so no user name, password, query or fragment in it."""
    try:
        parts = urlsplit(base_url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or parts.username is not None or parts.query or parts.fragment:
        raise InvalidSetting(f"The address of the {whose} is not usable.", hint=hint)
    return base_url


def checked_key(key: str | None) -> str | None:
    """A key that cannot be in a header is refused without being shown."""
    if key is not None and (not key or not key.isascii() or not key.isprintable() or " " in key):
        raise InvalidSetting(
            "The API key has characters that a key cannot have.",
            hint="Check for a line break, a space or quotes that were copied along with it.",
        )
    return key


def bearer(key: str | None) -> dict[str, str]:
    """The header that carries a key; none without one."""
    return {} if checked_key(key) is None else {"Authorization": f"Bearer {key}"}
