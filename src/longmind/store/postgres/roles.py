"""The role of an application: it owns nothing, and row-level security keeps it to one tenant at a time."""

from __future__ import annotations

import math

from psycopg import sql

from longmind.errors import InvalidInput, InvalidSetting
from longmind.store.postgres.driver import load_queries, psycopg
from longmind.store.postgres.failures import place, translate

_install = load_queries("install.sql")
_GRANTS = tuple(name for name in _install if name.startswith("grant_"))


def create_role(url: str, role: str, *, schema: str = "longmind", timeout: float = 5.0) -> bool:
    """Make the role of an application, or give one that exists what it needs. Return whether it is new. Blocks.

    Connect as the owner of the tables. The role can log in once the administrator gave it a password or a
    certificate.
    """
    where = place(url)
    if not role or len(role.encode()) > 63 or "\0" in role:
        raise InvalidInput("The name of a role has 1 to 63 bytes.", field="role")
    names = {"role": sql.Identifier(role), "schema": sql.Identifier(schema)}
    try:
        with psycopg.connect(url, connect_timeout=math.ceil(timeout)) as connection:
            known = connection.execute(_install["find_role"], {"role": role}).fetchone()
            if known is not None and known[0]:
                raise InvalidSetting(
                    f"The role {role} could pass by row-level security.", hint="Give the name of a new role."
                )
            statements = _GRANTS if known is not None else ("create_role", *_GRANTS)
            for name in statements:
                connection.execute(sql.SQL(_install[name].decode()).format(**names))
        return known is None
    except psycopg.Error as error:
        raise translate(error, where) from error
