-- Keys and audit in PostgreSQL.

-- name: add_key
-- Store a new key.
INSERT INTO keys (id, tenant, digest, name, permissions, agents, created_at, created_by, expires_at)
VALUES (
    %(id)s, %(tenant)s, %(digest)s, %(name)s, %(permissions)s::json, %(agents)s::json, %(created_at)s, %(created_by)s,
    %(expires_at)s
);

-- name: find_key
-- A key by its id, of any tenant. The function gives one row, so that the role of the server need not see all.
SELECT
    id, tenant, digest, name, permissions::text, agents::text, created_at, created_by, expires_at, revoked_at,
    last_used_at
FROM find_key(%(id)s);

-- name: list_keys
-- The keys of a tenant, the newest first.
SELECT
    id, tenant, digest, name, permissions::text, agents::text, created_at, created_by, expires_at, revoked_at,
    last_used_at
FROM keys WHERE tenant = %(tenant)s ORDER BY created_at DESC, id DESC;

-- name: key_tenants
-- The tenants that have keys.
SELECT DISTINCT tenant FROM keys ORDER BY tenant;

-- name: any_key
-- Whether any tenant has a key.
SELECT any_key();

-- name: revoke_key
-- Mark a key as revoked; the first time counts.
UPDATE keys SET revoked_at = coalesce(revoked_at, %(at)s) WHERE tenant = %(tenant)s AND id = %(id)s;

-- name: touch_key
-- Note when a key was used.
UPDATE keys SET last_used_at = greatest(last_used_at, %(at)s) WHERE tenant = %(tenant)s AND id = %(id)s;

-- name: head
-- Where the chain begins and ends.
SELECT base_seq, base_hash, seq, hash FROM audit_head;

-- name: lock_head
-- The same, held so that no other process adds lines until the transaction ends.
SELECT base_seq, base_hash, seq, hash FROM audit_head FOR UPDATE;

-- name: append
-- Add lines at the end of the chain.
WITH added AS (
    INSERT INTO audit (seq, tenant, line, hash)
    SELECT * FROM unnest(%(seqs)s::bigint[], %(tenants)s::text[], %(lines)s::text[], %(hashes)s::text[])
)
UPDATE audit_head SET seq = %(seq)s, hash = %(hash)s;

-- name: recent
-- Lines of a tenant, the newest first; a filter that is NULL asks for nothing.
SELECT seq, tenant, line, hash FROM audit
WHERE
    tenant = %(tenant)s AND seq < %(before)s
    AND (%(key)s::text IS NULL OR line::json ->> 'key' = %(key)s)
    AND (%(agent)s::text IS NULL OR line::json ->> 'agent' = %(agent)s)
    AND (%(operation)s::text IS NULL OR line::json ->> 'operation' = %(operation)s)
ORDER BY seq DESC LIMIT %(limit)s;

-- name: lines
-- Lines of all tenants, in order.
SELECT seq, tenant, line, hash FROM audit WHERE seq > %(after)s ORDER BY seq LIMIT %(limit)s;

-- name: delete_lines
-- Drop lines that were rotated away.
DELETE FROM audit WHERE seq <= %(base_seq)s;

-- name: set_base
-- Note where the chain begins now.
UPDATE audit_head SET base_seq = %(base_seq)s, base_hash = %(base_hash)s;
