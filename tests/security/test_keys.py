"""API keys: made, checked, revoked, and never more than the key that made them."""

from __future__ import annotations

import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from longmind.clock import SystemClock
from longmind.config import Settings
from longmind.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from longmind.security import AccessStore, Credentials, KeyAdministration, KeyAuthenticator, Principal
from longmind.store.access import access_store

NOW = SystemClock().now


def bearer(key: str) -> Credentials:
    return Credentials(authorization=f"Bearer {key}")


async def test_a_key_is_known_by_its_text_only(access: AccessStore) -> None:
    keys = KeyAdministration(access, "acme")
    created = await keys.create("laptop", permissions=["read"], agents=["assistant"])
    known = await KeyAuthenticator(access).authenticate(bearer(created.key))
    assert (known.tenant, known.permissions, known.agents) == ("acme", {"read"}, {"assistant"})
    assert known.key_id == created.id
    other = await keys.create("other")
    wrong = [created.key[:-1] + ("A" if created.key[-1] != "A" else "B"), created.key.upper(), created.id, "", "x y"]
    wrong += [f"lm_{created.id}_{other.key.rpartition(other.id + '_')[2]}", f"lm_{'0' * 16}_{'A' * 43}"]
    for text in wrong:
        with pytest.raises(Unauthenticated):
            await KeyAuthenticator(access).authenticate(bearer(text))
    with pytest.raises(Unauthenticated):
        await KeyAuthenticator(access).authenticate(Credentials(authorization=f"Basic {created.key}"))


async def test_the_store_does_not_hold_the_key(tmp_path: Path) -> None:
    access = access_store(str(tmp_path / "memory.db"), Settings.load({}))
    created = await KeyAdministration(access, "acme").create("laptop")
    await access.close()
    files = [tmp_path / name for name in os.listdir(tmp_path)]
    assert any(created.id.encode() in file.read_bytes() for file in files)
    secret = created.key.rpartition(f"{created.id}_")[2].encode()
    assert not any(secret in file.read_bytes() for file in files)
    assert all(stat.S_IMODE(os.stat(file).st_mode) == 0o600 for file in files)


async def test_the_list_shows_the_keys_of_the_tenant_and_when_they_were_used(access: AccessStore) -> None:
    keys, foreign = KeyAdministration(access, "acme"), KeyAdministration(access, "umbrella")
    first, second = await keys.create("first"), await keys.create("second")
    hidden = await foreign.create("hidden")
    await KeyAuthenticator(access).authenticate(bearer(first.key))
    listed = await keys.list()
    assert [key.name for key in listed] == ["second", "first"]
    assert [key.last_used_at is not None for key in listed] == [False, True]
    assert not hasattr(listed[0], "key")
    assert (await keys.get(second.id)).name == "second"
    for ask in (keys.get, keys.revoke):
        with pytest.raises(NotFound):
            await ask(hidden.id)
    assert (await foreign.get(hidden.id)).revoked_at is None


async def test_a_revoked_key_is_refused_by_every_process_when_its_cache_ends(store_url: str) -> None:
    here, elsewhere = (access_store(store_url, Settings.load({})) for _ in range(2))
    created = await KeyAdministration(here, "acme").create("laptop")
    cached, fresh = KeyAuthenticator(elsewhere, cache_seconds=3600), KeyAuthenticator(elsewhere, cache_seconds=0)
    for authenticator in (cached, fresh):
        await authenticator.authenticate(bearer(created.key))
    revoked = await KeyAdministration(here, "acme").revoke(created.id)
    assert revoked.revoked_at is not None
    with pytest.raises(Unauthenticated):
        await fresh.authenticate(bearer(created.key))
    assert await cached.authenticate(bearer(created.key)), "what was read is trusted until the cache ends, no longer"
    again = await KeyAdministration(here, "acme").revoke(created.id)
    assert again.revoked_at == revoked.revoked_at
    for store in (here, elsewhere):
        await store.close()


async def test_an_expired_key_is_refused_also_from_the_cache(access: AccessStore) -> None:
    class Later(SystemClock):
        ahead = timedelta()

        def now(self):  # type: ignore[no-untyped-def]
            return super().now() + self.ahead

    clock = Later()
    created = await KeyAdministration(access, "acme").create("short", expires_at=NOW() + timedelta(hours=1))
    authenticator = KeyAuthenticator(access, cache_seconds=3600, clock=clock)
    await authenticator.authenticate(bearer(created.key))
    clock.ahead = timedelta(hours=2)
    with pytest.raises(Unauthenticated):
        await authenticator.authenticate(bearer(created.key))


async def test_a_key_cannot_give_more_than_it_has(access: AccessStore) -> None:
    soon = NOW() + timedelta(days=1)
    writer = Principal(tenant="acme", permissions=frozenset({"write"}), key_id="w")
    bounded = Principal(
        tenant="acme", permissions=frozenset({"admin"}), agents=frozenset({"a", "b"}), expires_at=soon, key_id="b"
    )
    with pytest.raises(Forbidden):
        await KeyAdministration(access, "acme", writer).create("x", permissions=["admin"])
    limited = KeyAdministration(access, "acme", bounded)
    for permissions, agents, until in ((["read"], None, soon), (["read"], ["c"], soon), (["read"], ["a"], None)):
        with pytest.raises(Forbidden):
            await limited.create("x", permissions=permissions, agents=agents, expires_at=until)
    assert (await limited.create("x", permissions=["admin"], agents=["a"], expires_at=soon)).created_by == "b"


@pytest.mark.parametrize(
    "wrong",
    [{"permissions": []}, {"agents": []}, {"expires_at": NOW() - timedelta(seconds=1)}],
    ids=["permissions", "agents", "end"],
)
async def test_a_key_that_is_of_no_use_is_refused(access: AccessStore, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        await KeyAdministration(access, "acme").create("x", **wrong)  # type: ignore[arg-type]
