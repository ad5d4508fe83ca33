-- The file beside a SQLite store: keys and audit of all its tenants.

CREATE TABLE IF NOT EXISTS keys (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    digest TEXT NOT NULL,
    name TEXT NOT NULL,
    permissions TEXT NOT NULL,
    agents TEXT,
    created_at TEXT NOT NULL,
    created_by TEXT,
    expires_at TEXT,
    revoked_at TEXT,
    last_used_at TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS keys_by_tenant ON keys (tenant, created_at);

CREATE TABLE IF NOT EXISTS audit (
    seq INTEGER NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    line TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS audit_by_tenant ON audit (tenant, seq);

CREATE TABLE IF NOT EXISTS audit_head (
    single INTEGER NOT NULL PRIMARY KEY CHECK (single = 1),
    base_seq INTEGER NOT NULL,
    base_hash TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;
