"""Opening the store at a URL: the only place where backends are named."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from longmind.clock import Clock
from longmind.config import Settings
from longmind.errors import InvalidSetting, NotFound
from longmind.store.base import Backend, SnapshotBackend
from longmind.store.store import Store

if TYPE_CHECKING:
    from longmind.store.search.snapshot_format import Snapshots

IN_MEMORY = ("memory:", "memory://", ":memory:")
_SCHEMES = "a path, sqlite:///path, postgresql://user@host/database, or memory:"


async def open_store(url: str, *, clock: Clock, settings: Settings, create: bool = True) -> Store:
    """Open the store at a URL. With ``create`` a new one is created; without, it is ``NotFound``."""
    if not create:
        require_store(url)
    backend = await _backend(url, clock, settings, create)
    return Store(
        backend,
        clock,
        view_bytes=settings.view_mb * 2**20,
        snapshots=_snapshots(url, backend) if settings.view_snapshots else None,
        defaults=settings.defaults,
    )


def _snapshots(url: str, backend: Backend) -> Snapshots | None:
    """Return where large views are stored; None for a store in memory, and where a folder cannot be locked."""
    if isinstance(backend, SnapshotBackend):
        return backend.snapshots()
    if not _is_file(url):
        return None
    from longmind.store.search.snapshots import FolderSnapshots, SnapshotFolder

    return FolderSnapshots(sqlite_path(url)) if SnapshotFolder.supported() else None


async def _backend(url: str, clock: Clock, settings: Settings, create: bool) -> Backend:
    if not url.strip():
        raise InvalidSetting("The store's URL is empty.", hint=f"Give {_SCHEMES}.")
    if url in IN_MEMORY:
        from longmind.store.inmem import InmemBackend

        return await InmemBackend.open()
    scheme = url.partition("://")[0].lower() if "://" in url else ""
    if scheme in ("postgresql", "postgres"):
        from longmind.store.postgres import PostgresBackend

        return await PostgresBackend.open(
            url,
            clock=clock,
            pool_size=settings.pool_size,
            timeout=settings.connect_seconds,
            busy_timeout=settings.busy_seconds,
            create=create,
        )
    if scheme and scheme != "sqlite":
        raise InvalidSetting(f"There is no store of the kind {scheme}.", hint=f"Give {_SCHEMES}.")
    from longmind.store.sqlite import SqliteBackend

    return await SqliteBackend.open(sqlite_path(url), clock=clock, busy_timeout_s=settings.busy_seconds)


def _is_file(url: str) -> bool:
    """Return whether a URL names a file of SQLite."""
    scheme = url.partition("://")[0].lower() if "://" in url else ""
    return url not in IN_MEMORY and scheme in ("", "sqlite")


def require_store(url: str) -> None:
    """Refuse a path at which there is no store. A database server is asked when it is opened."""
    if not url.strip() or not _is_file(url):
        return
    path = sqlite_path(url)
    if not path.exists() and not path.with_name(f"{path.name}-wal").exists():
        raise NotFound(
            f"There is no store at {path}.", hint="Check the path. The first `longmind remember` makes a store."
        )


def tenant_url(url: str, tenant: str) -> str:
    """Return the URL of the store that holds another tenant than the first: a database server and a store in memory
    hold all tenants, and of files each tenant has its own, in a folder beside the first."""
    if not _is_file(url):
        return url
    path = sqlite_path(url)
    digest = hashlib.sha256(tenant.encode()).hexdigest()[:16]  # two names may differ in case only
    folder = path.with_name(f"{path.stem}.tenants")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return str(folder / f"{quote(tenant, safe='')[:80]}-{digest}.db")


def tenant_files(url: str) -> list[str]:
    """Return the files of the tenants that have one of their own; none where one store holds all tenants."""
    if not _is_file(url):
        return []
    path = sqlite_path(url)
    files = sorted(path.with_name(f"{path.stem}.tenants").glob("*.db"))
    return [str(file) for file in files if not file.stem.endswith(".jobs")]


def sqlite_path(url: str) -> Path:
    """Return the file of a path or ``sqlite:`` URL: three slashes for a relative path, four for an absolute one."""
    _require_path(url)
    if not url.lower().startswith("sqlite://"):
        return Path(url).expanduser()
    parts = urlsplit(url)
    path = unquote(parts.path)
    _require_path(path[1:])
    if parts.query or parts.fragment:
        raise InvalidSetting(
            f"{url} has options behind the name of the file, and a SQLite store takes none.",
            hint="Write a ? in a name as %3F and a # as %23. A store in memory is `memory:`.",
        )
    if parts.netloc or len(path) < 2:
        raise InvalidSetting(
            f"{url} names no file.",
            hint="sqlite:///name.db is relative to here, sqlite:////folder/name.db is absolute.",
        )
    return Path(path[1:]).expanduser()


def _require_path(path: str) -> None:
    """Refuse what cannot be the path of a file, or would be taken for SQLite's own URIs."""
    if "\0" in path:
        raise InvalidSetting("The path of the store has a NUL character in it.", hint=f"Give {_SCHEMES}.")
    if path.lower().startswith("file:"):
        raise InvalidSetting(
            f"{path} is a URI of SQLite's, which is not understood here.",
            hint=f"Give {_SCHEMES}. For a file whose name begins so, write ./{path}",
        )
