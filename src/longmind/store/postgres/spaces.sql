-- The life of a vector space: declared, built beside the active one, activated.

-- name: active_space
-- The space that is read now.
SELECT name, dimensions FROM spaces WHERE active;

-- name: hold_spaces
-- All spaces, the active one first, held so that no vector is written and no space changes until the transaction ends.
SELECT name, dimensions, active, epoch FROM spaces ORDER BY active DESC FOR UPDATE;

-- name: take_turns
-- Let one process at a time declare, begin or activate a space, also while there is none to hold.
SELECT pg_advisory_xact_lock(%(key)s);

-- name: hold_off_writers
-- Keep every writer waiting until the transaction ends. All of them name this table FOR KEY SHARE in their first
-- statement, whether they have vectors or not; readers do not, and go on. Taken after the turn, never before it.
LOCK TABLE spaces IN EXCLUSIVE MODE;

-- name: insert_space
-- Add a space.
INSERT INTO spaces (name, dimensions, active, epoch, since)
VALUES (%(name)s, %(dimensions)s, %(active)s, %(epoch)s, %(since)s);

-- name: delete_space
-- Forget a space.
DELETE FROM spaces WHERE name = %(name)s;

-- name: delete_space_vectors
-- Drop all vectors of a space.
DELETE FROM vectors WHERE space = %(name)s;

-- name: promote_space
-- Make a space the active one.
UPDATE spaces SET active = true, epoch = %(epoch)s, since = %(since)s WHERE name = %(name)s;

-- name: missing_vectors
-- Memories that say something and have no vector in a space, after a place.
SELECT m.tenant, m.agent, m.id::text, m.content
FROM memories m
WHERE
    m.content <> ''
    AND (m.tenant, m.agent, m.id) > (%(tenant)s, %(agent)s, %(memory_id)s::uuid)
    AND NOT EXISTS (
        SELECT FROM vectors v
        WHERE v.tenant = m.tenant AND v.agent = m.agent AND v.memory_id = m.id AND v.space = %(name)s
    )
ORDER BY m.tenant, m.agent, m.id LIMIT %(limit)s;

-- name: first_missing
-- The first memories that say something and have no vector in a space, each with how many there are in all.
SELECT m.tenant, m.agent, m.id::text, m.content, count(*) OVER ()
FROM memories m
WHERE
    m.content <> ''
    AND NOT EXISTS (
        SELECT FROM vectors v
        WHERE v.tenant = m.tenant AND v.agent = m.agent AND v.memory_id = m.id AND v.space = %(name)s
    )
ORDER BY m.tenant, m.agent, m.id LIMIT %(limit)s;

-- name: raise_epoch
-- The active space got vectors that views may have been read without.
UPDATE spaces SET epoch = epoch + 1 WHERE active AND name = %(name)s;

-- name: known_space
-- Whether the store has this space, which then cannot go before the transaction ends.
SELECT name FROM spaces WHERE name = %(name)s AND dimensions = %(dimensions)s FOR KEY SHARE;

-- name: put_vectors
-- Store vectors of memories that still say what was embedded. The rows are held, so that none changes meanwhile.
WITH given AS (
    SELECT * FROM unnest(
        %(tenant)s::text[], %(agent)s::text[], %(user_id)s::text[], %(id)s::uuid[], %(content)s::text[],
        %(vector)s::halfvec[]
    ) AS g (tenant, agent, user_id, id, content, vector)
),
same AS (
    SELECT m.tenant, m.agent, m.id, g.vector
    FROM given g
    JOIN memories m ON m.tenant = g.tenant AND m.agent = g.agent AND m.id = g.id
    WHERE m.content = g.content AND (g.user_id IS NULL OR m.user_id IS NULL OR m.user_id = g.user_id)
    ORDER BY m.tenant, m.agent, m.id
    FOR SHARE OF m
)
INSERT INTO vectors (tenant, agent, memory_id, space, vector)
SELECT tenant, agent, id, %(name)s, vector FROM same
ON CONFLICT (tenant, agent, memory_id, space) DO UPDATE SET vector = excluded.vector;

-- name: add_vectors
-- Store vectors of memories that nobody can change meanwhile, because all writers are held off.
INSERT INTO vectors (tenant, agent, memory_id, space, vector)
SELECT g.tenant, g.agent, g.id, %(name)s, g.vector
FROM unnest(%(tenant)s::text[], %(agent)s::text[], %(id)s::uuid[], %(vector)s::halfvec[]) AS g (tenant, agent, id, vector)
ON CONFLICT (tenant, agent, memory_id, space) DO UPDATE SET vector = excluded.vector;
