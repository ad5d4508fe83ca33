-- What erasure reads of the journal, and the cleaning of the tables' files.

-- name: past_links_out
-- Links that left these memories at any time, as far as the journal tells.
SELECT j.link::text FROM journal j
WHERE
    j.tenant = %(tenant)s AND j.agent = %(agent)s AND j.memory_id = ANY(%(ids)s::uuid[]) AND j.link IS NOT NULL
    AND (%(user)s::text IS NULL OR j.user_id IS NULL OR j.user_id = %(user)s)
ORDER BY j.seq;

-- name: past_links_in
-- Links that reached these memories at any time, as far as the journal tells.
SELECT j.link::text FROM journal j
WHERE
    j.tenant = %(tenant)s AND j.agent = %(agent)s AND j.target = ANY(%(ids)s::uuid[]) AND j.link IS NOT NULL
    AND (%(user)s::text IS NULL OR j.user_id IS NULL OR j.user_id = %(user)s)
ORDER BY j.seq;

-- name: past_ids
-- The memories of a user, or of anybody, and those that were before they were deleted, unless their history was cleared.
SELECT n.memory_id::text FROM (
    SELECT DISTINCT ON (j.memory_id) j.memory_id, j.action, j.before FROM journal j
    WHERE
        j.tenant = %(tenant)s AND j.agent = %(agent)s AND j.action NOT IN ('link', 'unlink')
        AND (%(user)s::text IS NULL OR coalesce(j.user_id, '') = %(user)s)
    ORDER BY j.memory_id, j.seq DESC
) n
WHERE n.action IN ('put', 'update') OR n.before IS NOT NULL
ORDER BY n.memory_id;

-- name: past_scopes
-- Agents that hold something or ever did.
SELECT tenant, agent FROM scopes WHERE head > 0 ORDER BY tenant, agent;

-- name: rewrite_journal
-- Rewrite the table journal and its indexes into new files.
VACUUM (FULL, ANALYZE) journal;

-- name: rewrite_links
-- Rewrite the table links and its indexes into new files.
VACUUM (FULL, ANALYZE) links;

-- name: rewrite_memories
-- Rewrite the table memories and its indexes into new files.
VACUUM (FULL, ANALYZE) memories;

-- name: rewrite_operations
-- Rewrite the table operations and its indexes into new files.
VACUUM (FULL, ANALYZE) operations;

-- name: rewrite_scopes
-- Rewrite the table scopes and its indexes into new files.
VACUUM (FULL, ANALYZE) scopes;

-- name: rewrite_spaces
-- Rewrite the table spaces and its indexes into new files.
VACUUM (FULL, ANALYZE) spaces;

-- name: rewrite_vectors
-- Rewrite the table vectors and its indexes into new files.
VACUUM (FULL, ANALYZE) vectors;

-- name: checkpoint
-- Write all changed pages to the files.
CHECKPOINT;
