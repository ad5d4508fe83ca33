"""Tokens of an OpenID provider, with a provider that listens on this machine."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from tests.security.provider import AUDIENCE, Issuer

from longmind.errors import InvalidSetting, StoreUnavailable, Unauthenticated
from longmind.security import Credentials, Principal
from longmind.security.token_settings import TokenSettings
from longmind.security.tokens import PublicKeys, TokenAuthenticator


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    yield issuer
    issuer.close()


class Clock:
    at = 1000.0

    def __call__(self) -> float:
        return self.at


def authenticator(issuer: Issuer, clock: Clock | None = None, **more: Any) -> TokenAuthenticator:
    settings = TokenSettings(issuer=issuer.url, audience=AUDIENCE, **more)
    return TokenAuthenticator(settings, PublicKeys(settings, now=clock or Clock()))


async def known(by: TokenAuthenticator, token: str) -> Principal:
    return await by.authenticate(Credentials(authorization=f"Bearer {token}"))


async def test_claims_say_who_it_is_and_what_they_may_do(issuer: Issuer) -> None:
    by = authenticator(issuer, user_claim="email")
    principal = await known(by, issuer.token(agents=["a", "b"], email="ann@acme"))
    assert (principal.tenant, principal.permissions, principal.agents) == ("acme", {"write"}, {"a", "b"})
    assert (principal.subject, principal.user, principal.key_id) == ("ann", "ann@acme", None)
    lists = await known(authenticator(issuer, tenant="fixed"), issuer.token(scope=["longmind:read"], tenant=None))
    assert (lists.tenant, lists.permissions, lists.agents) == ("fixed", {"read"}, None)
    await known(by, issuer.token(email="x"))
    assert issuer.requests.count("/keys") == 2, "each authenticator fetched the keys once"


WRONG: dict[str, dict[str, Any]] = {
    "expired": {"exp": int(time.time()) - 3600},
    "without an end": {"exp": None},
    "not yet valid": {"nbf": int(time.time()) + 3600},
    "for others": {"aud": "other"},
    "without an audience": {"aud": None},
    "of another issuer": {"iss": "https://other.example"},
    "without a subject": {"sub": None},
    "without a tenant": {"tenant": None},
    "with a tenant that cannot be": {"tenant": ["acme"]},
    "with an empty tenant": {"tenant": ""},
    "without permission": {"scope": "openid read admin"},
    "with a permission of a wrong type": {"scope": {"longmind:admin": True}},
    "with an unknown key": {"kid": "second", "key": rsa.generate_private_key(public_exponent=65537, key_size=2048)},
    "with another key of the same id": {"key": rsa.generate_private_key(public_exponent=65537, key_size=2048)},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
async def test_a_token_that_does_not_fit_is_refused(issuer: Issuer, wrong: dict[str, Any]) -> None:
    by = authenticator(issuer)
    assert await known(by, issuer.token())
    with pytest.raises(Unauthenticated):
        await known(by, issuer.token(**wrong))


async def test_a_small_difference_of_clocks_is_forgiven(issuer: Issuer) -> None:
    assert await known(authenticator(issuer), issuer.token(exp=int(time.time()) - 5))


def _forged(issuer: Issuer, algorithm: str) -> str:
    """A token that claims another way of signing: none at all, or the public key taken for a shared secret."""
    public = issuer.keys["first"].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    head, body, _ = issuer.token().split(".")
    header = json.loads(base64.urlsafe_b64decode(head + "==")) | {"alg": algorithm}
    head = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    if algorithm.lower() == "none":
        return f"{head}.{body}."
    import hashlib
    import hmac

    signature = hmac.new(pem, f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "HS256", "HS512", "RS384", ""])
async def test_the_token_does_not_choose_how_it_is_checked(issuer: Issuer, algorithm: str) -> None:
    by = authenticator(issuer)
    with pytest.raises(Unauthenticated):
        await known(by, _forged(issuer, algorithm))
    with pytest.raises(ValueError, match="algorithms"):
        authenticator(issuer, algorithms=["HS256"])


async def test_a_key_of_one_kind_does_not_check_another(issuer: Issuer) -> None:
    issuer.keys["curve"] = ec.generate_private_key(ec.SECP256R1())
    by = authenticator(issuer)
    assert await known(by, issuer.token("curve", algorithm="ES256"))
    with pytest.raises(Unauthenticated):
        await known(by, issuer.token("curve", key=issuer.keys["first"]))
    only_rsa = authenticator(issuer, algorithms=["RS256"])
    with pytest.raises(Unauthenticated):
        await known(only_rsa, issuer.token("curve", algorithm="ES256"))


@pytest.mark.parametrize("text", ["", "a.b.c", "..", "a" * 20_000 + ".b.c", "é.é.é", "lm_x"])
async def test_what_is_no_token_is_refused(issuer: Issuer, text: str) -> None:
    with pytest.raises(Unauthenticated):
        await known(authenticator(issuer), text)


async def test_a_rotated_key_is_fetched_and_guesses_do_not_flood_the_issuer(issuer: Issuer) -> None:
    clock = Clock()
    by = authenticator(issuer, clock)
    old = issuer.token()
    await known(by, old)
    issuer.keys = {"second": rsa.generate_private_key(public_exponent=65537, key_size=2048)}
    clock.at += 11
    assert await known(by, issuer.token("second"))
    fetched = len(issuer.requests)
    for number in range(5):
        with pytest.raises(Unauthenticated):
            await known(by, issuer.token(f"guess{number}", key=issuer.keys["second"]))
    with pytest.raises(Unauthenticated):
        await known(by, old)
    assert len(issuer.requests) == fetched
    clock.at += 11
    with pytest.raises(Unauthenticated):
        await known(by, issuer.token("guess", key=issuer.keys["second"]))
    assert len(issuer.requests) == fetched + 2


async def test_an_issuer_that_does_not_answer_is_no_reason_to_trust_or_to_refuse_for_good(issuer: Issuer) -> None:
    clock = Clock()
    by = authenticator(issuer, clock)
    issuer.broken = True
    with pytest.raises(StoreUnavailable):
        await known(by, issuer.token())
    issuer.broken = False
    clock.at += 11
    assert await known(by, issuer.token())
    issuer.broken = True
    clock.at += 1_000
    assert await known(by, issuer.token()), "what was fetched is used for a while"
    clock.at += 3_600
    with pytest.raises(StoreUnavailable):
        await known(by, issuer.token())


async def test_the_document_of_another_issuer_is_not_believed(issuer: Issuer) -> None:
    documents = issuer.documents()
    documents["/.well-known/openid-configuration"]["issuer"] = "https://other.example"
    issuer.documents = lambda: documents  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        await known(authenticator(issuer), issuer.token())


def test_keys_are_fetched_over_tls_only() -> None:
    for fields in ({"issuer": "http://other.example"}, {"issuer": "https://x.example", "jwks_url": "http://y.example"}):
        with pytest.raises(InvalidSetting):
            TokenSettings(audience="x", **fields)
