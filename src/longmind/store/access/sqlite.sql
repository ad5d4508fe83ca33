-- Keys and audit in SQLite.

-- name: add_key
-- Store a new key.
INSERT INTO keys (id, tenant, digest, name, permissions, agents, created_at, created_by, expires_at)
VALUES (:id, :tenant, :digest, :name, :permissions, :agents, :created_at, :created_by, :expires_at);

-- name: find_key
-- A key by its id, of any tenant.
SELECT id, tenant, digest, name, permissions, agents, created_at, created_by, expires_at, revoked_at, last_used_at
FROM keys WHERE id = :id;

-- name: list_keys
-- The keys of a tenant, the newest first.
SELECT id, tenant, digest, name, permissions, agents, created_at, created_by, expires_at, revoked_at, last_used_at
FROM keys WHERE tenant = :tenant ORDER BY created_at DESC, id DESC;

-- name: key_tenants
-- The tenants that have keys.
SELECT DISTINCT tenant FROM keys ORDER BY tenant;

-- name: any_key
-- Whether there is any key.
SELECT EXISTS (SELECT 1 FROM keys);

-- name: revoke_key
-- Mark a key as revoked; the first time counts.
UPDATE keys SET revoked_at = coalesce(revoked_at, :at) WHERE tenant = :tenant AND id = :id;

-- name: touch_key
-- Note when a key was used.
UPDATE keys SET last_used_at = max(coalesce(last_used_at, ''), :at) WHERE tenant = :tenant AND id = :id;

-- name: head
-- Where the chain begins and ends.
SELECT base_seq, base_hash, seq, hash FROM audit_head;

-- name: set_head
-- Note where the chain begins and ends.
INSERT INTO audit_head (single, base_seq, base_hash, seq, hash) VALUES (1, :base_seq, :base_hash, :seq, :hash)
ON CONFLICT (single) DO UPDATE
SET base_seq = excluded.base_seq, base_hash = excluded.base_hash, seq = excluded.seq, hash = excluded.hash;

-- name: insert_line
-- Add a line of the audit.
INSERT INTO audit (seq, tenant, line, hash) VALUES (?, ?, ?, ?);

-- name: recent
-- Lines of a tenant, the newest first; a filter that is NULL asks for nothing.
SELECT seq, tenant, line, hash FROM audit
WHERE
    tenant = :tenant AND seq < :before
    AND (:key IS NULL OR line ->> '$.key' = :key)
    AND (:agent IS NULL OR line ->> '$.agent' = :agent)
    AND (:operation IS NULL OR line ->> '$.operation' = :operation)
ORDER BY seq DESC LIMIT :limit;

-- name: lines
-- Lines of all tenants, in order.
SELECT seq, tenant, line, hash FROM audit WHERE seq > :after ORDER BY seq LIMIT :limit;

-- name: delete_lines
-- Drop lines that were rotated away.
DELETE FROM audit WHERE seq <= :base_seq;
