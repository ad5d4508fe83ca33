-- Everything that reads. A name that begins with "and_" or "order_" is the end of another query, chosen by what is asked for.

-- name: select_memories
-- Memories of an agent, all columns.
SELECT
    m.id::text, m.seq, m.version, m.user_id, m.session, m.kind, m.key, m.state, m.importance, m.valence, m.trust,
    m.occurred_at, m.recorded_at, m.valid_from, m.valid_to, m.expires_at, m.access_count, m.last_accessed_at,
    m.interaction, m.role, m.speaker, m.uri, m.span_start, m.span_end, m.tags, m.content, m.body::text, m.metadata::text
FROM memories m WHERE m.tenant = %(tenant)s AND m.agent = %(agent)s

-- name: select_ids
-- Ids of an agent's memories.
SELECT m.id::text FROM memories m WHERE m.tenant = %(tenant)s AND m.agent = %(agent)s

-- name: and_seen
-- Only what the scope's user may see.
AND (m.user_id IS NULL OR m.user_id = %(user)s)

-- name: and_ids
-- Filter.ids
AND m.id = ANY(%(ids)s::uuid[])

-- name: and_kinds
-- Filter.kinds
AND m.kind = ANY(%(kinds)s)

-- name: and_without_kinds
-- Filter.without_kinds
AND m.kind <> ALL(%(without_kinds)s)

-- name: and_states
-- Filter.states
AND m.state = ANY(%(states)s)

-- name: and_sessions
-- Filter.sessions
AND m.session = ANY(%(sessions)s)

-- name: and_users
-- Filter.users
AND m.user_id = ANY(%(users)s)

-- name: and_keys
-- Filter.keys
AND m.key = ANY(%(keys)s)

-- name: and_tags_any
-- Filter.tags_any
AND m.tags && %(tags_any)s::text[]

-- name: and_tags_all
-- Filter.tags_all
AND m.tags @> %(tags_all)s::text[]

-- name: and_roles
-- Filter.roles
AND m.role = ANY(%(roles)s)

-- name: and_speakers
-- Filter.speakers
AND m.speaker = ANY(%(speakers)s)

-- name: and_since
-- Filter.since
AND m.occurred_at >= %(since)s

-- name: and_until
-- Filter.until
AND m.occurred_at < %(until)s

-- name: and_recorded_since
-- Filter.recorded_since
AND m.recorded_at >= %(recorded_since)s

-- name: and_recorded_until
-- Filter.recorded_until
AND m.recorded_at < %(recorded_until)s

-- name: and_valid_at
-- Filter.valid_at
AND (m.valid_from IS NULL OR m.valid_from <= %(valid_at)s) AND (m.valid_to IS NULL OR m.valid_to > %(valid_at)s)

-- name: and_expired
-- Filter.expired, True
AND m.expires_at <= %(expired_at)s

-- name: and_not_expired
-- Filter.expired, False
AND (m.expires_at IS NULL OR m.expires_at > %(expired_at)s)

-- name: and_min_importance
-- Filter.min_importance
AND m.importance >= %(min_importance)s

-- name: and_min_trust
-- Filter.min_trust
AND m.trust >= %(min_trust)s

-- name: and_metadata
-- Filter.metadata: JSON equality, in which 1 is 1.0 but neither true nor "1".
AND NOT EXISTS (
    SELECT FROM unnest(%(metadata_keys)s::text[], %(metadata_values)s::text[]) AS w (key, value)
    WHERE (m.metadata -> w.key)::jsonb IS DISTINCT FROM w.value::jsonb
)

-- name: and_metadata_ranges
-- Filter.metadata_ranges: numbers are compared with numbers, texts with texts by code point.
AND NOT EXISTS (
    SELECT FROM unnest(%(range_keys)s::text[], %(range_comparisons)s::text[], %(range_bounds)s::text[])
        AS w (key, comparison, bound)
    WHERE NOT coalesce(
        CASE json_typeof(w.bound::json) || ' ' || json_typeof(m.metadata -> w.key)
            WHEN 'number number' THEN CASE w.comparison
                WHEN 'gt' THEN (m.metadata ->> w.key)::numeric > (w.bound::json #>> '{}')::numeric
                WHEN 'gte' THEN (m.metadata ->> w.key)::numeric >= (w.bound::json #>> '{}')::numeric
                WHEN 'lt' THEN (m.metadata ->> w.key)::numeric < (w.bound::json #>> '{}')::numeric
                ELSE (m.metadata ->> w.key)::numeric <= (w.bound::json #>> '{}')::numeric END
            WHEN 'string string' THEN CASE w.comparison
                WHEN 'gt' THEN (m.metadata ->> w.key) COLLATE "C" > (w.bound::json #>> '{}') COLLATE "C"
                WHEN 'gte' THEN (m.metadata ->> w.key) COLLATE "C" >= (w.bound::json #>> '{}') COLLATE "C"
                WHEN 'lt' THEN (m.metadata ->> w.key) COLLATE "C" < (w.bound::json #>> '{}') COLLATE "C"
                ELSE (m.metadata ->> w.key) COLLATE "C" <= (w.bound::json #>> '{}') COLLATE "C" END
        END, false)
)

-- name: and_after_recorded
-- Where a page of this order begins.
AND m.seq > %(place)s

-- name: order_recorded
-- As it was learnt.
ORDER BY m.seq LIMIT %(limit)s

-- name: and_after_recorded_descending
-- Where a page of this order begins.
AND m.seq < %(place)s

-- name: order_recorded_descending
-- Newest knowledge first.
ORDER BY m.seq DESC LIMIT %(limit)s

-- name: and_after_occurred
-- Where a page of this order begins.
AND (m.occurred_at, m.id) > (%(place)s, %(place_id)s::uuid)

-- name: order_occurred
-- As it happened.
ORDER BY m.occurred_at, m.id LIMIT %(limit)s

-- name: and_after_occurred_descending
-- Where a page of this order begins.
AND (m.occurred_at, m.id) < (%(place)s, %(place_id)s::uuid)

-- name: order_occurred_descending
-- Newest event first.
ORDER BY m.occurred_at DESC, m.id DESC LIMIT %(limit)s

-- name: and_after_importance
-- Where a page of this order begins.
AND (m.importance, m.id) > (%(place)s, %(place_id)s::uuid)

-- name: order_importance
-- Least important first.
ORDER BY m.importance, m.id LIMIT %(limit)s

-- name: and_after_importance_descending
-- Where a page of this order begins.
AND (m.importance, m.id) < (%(place)s, %(place_id)s::uuid)

-- name: order_importance_descending
-- Most important first.
ORDER BY m.importance DESC, m.id DESC LIMIT %(limit)s

-- name: and_after_accessed
-- Where a page of this order begins; what was never read stands before every moment.
AND (coalesce(m.last_accessed_at, '-infinity'), m.id) > (coalesce(%(place)s::timestamptz, '-infinity'), %(place_id)s::uuid)

-- name: order_accessed
-- Longest unread first.
ORDER BY coalesce(m.last_accessed_at, '-infinity'), m.id LIMIT %(limit)s

-- name: and_after_accessed_descending
-- Where a page of this order begins; what was never read stands before every moment.
AND (coalesce(m.last_accessed_at, '-infinity'), m.id) < (coalesce(%(place)s::timestamptz, '-infinity'), %(place_id)s::uuid)

-- name: order_accessed_descending
-- Last read first.
ORDER BY coalesce(m.last_accessed_at, '-infinity') DESC, m.id DESC LIMIT %(limit)s

-- name: select_links
-- Links of an agent.
SELECT l.source::text, l.relation, l.target::text, l.weight, l.valid_from, l.valid_to, l.metadata::text
FROM links l WHERE l.tenant = %(tenant)s AND l.agent = %(agent)s

-- name: and_out
-- Links that leave these memories.
AND l.source = ANY(%(ids)s::uuid[])

-- name: and_in
-- Links that reach these memories.
AND l.target = ANY(%(ids)s::uuid[])

-- name: and_both
-- Links at these memories.
AND (l.source = ANY(%(ids)s::uuid[]) OR l.target = ANY(%(ids)s::uuid[]))

-- name: and_relation
-- Links of one relation.
AND l.relation = %(relation)s

-- name: and_ends_seen
-- Links of which the scope's user may see both ends.
AND 2 = (
    SELECT count(*) FROM (VALUES (l.source), (l.target)) AS e (id)
    JOIN memories m
        ON m.tenant = %(tenant)s AND m.agent = %(agent)s AND m.id = e.id
        AND (m.user_id IS NULL OR m.user_id = %(user)s)
)

-- name: order_links
-- Heaviest first.
ORDER BY l.weight DESC, l.source, l.relation, l.target LIMIT %(limit)s

-- name: select_lines
-- Lines of an agent's journal after a number.
SELECT
    j.seq, j.operation, j.at, j.actor, j.reason, j.action, j.memory_id::text, j.before::text, j.link::text
FROM journal j WHERE j.tenant = %(tenant)s AND j.agent = %(agent)s AND j.seq > %(after)s

-- name: and_line_seen
-- Only lines the scope's user may see.
AND (j.user_id IS NULL OR j.user_id = %(user)s)

-- name: and_memory
-- Lines about one memory.
AND j.memory_id = %(memory_id)s::uuid

-- name: and_operation
-- Lines of one operation.
AND j.operation = %(operation)s

-- name: order_lines
-- As they were written.
ORDER BY j.seq LIMIT %(limit)s

-- name: later_lines
-- What happened to these memories after a number, newest first: from it a record is wound back.
SELECT seq, action, memory_id::text, before::text FROM journal
WHERE
    tenant = %(tenant)s AND agent = %(agent)s AND memory_id = ANY(%(ids)s::uuid[]) AND seq > %(after)s
    AND action IN ('put', 'update', 'delete', 'erase')
ORDER BY seq DESC

-- name: count_all
-- What a scope holds: memories and vectors by kind and state, then links, then journal lines. LIMIT 1 makes the planner
-- look up each vector: of an agent it has no statistics of it would else compare every memory with every vector.
SELECT 'memories', m.kind, m.state, count(*), count(v.memory_id)
FROM memories m
LEFT JOIN LATERAL (
    SELECT memory_id FROM vectors
    WHERE tenant = m.tenant AND agent = m.agent AND memory_id = m.id AND space = (SELECT name FROM spaces WHERE active)
    LIMIT 1
) AS v ON true
WHERE
    m.tenant = %(tenant)s AND m.agent = %(agent)s
    AND (%(user)s::text IS NULL OR m.user_id IS NULL OR m.user_id = %(user)s)
GROUP BY m.kind, m.state
UNION ALL
SELECT 'links', '', '', count(*), 0
FROM links l
WHERE
    l.tenant = %(tenant)s AND l.agent = %(agent)s
    AND (%(user)s::text IS NULL OR 2 = (
        SELECT count(*) FROM (VALUES (l.source), (l.target)) AS e (id)
        JOIN memories m
            ON m.tenant = %(tenant)s AND m.agent = %(agent)s AND m.id = e.id
            AND (m.user_id IS NULL OR m.user_id = %(user)s)
    ))
UNION ALL
SELECT 'changes', '', '', count(*), 0
FROM journal j
WHERE
    j.tenant = %(tenant)s AND j.agent = %(agent)s
    AND (%(user)s::text IS NULL OR j.user_id IS NULL OR j.user_id = %(user)s)

-- name: read_head
-- How far an agent's journal has come, and how often the active space has changed.
SELECT
    coalesce((SELECT head FROM scopes WHERE tenant = %(tenant)s AND agent = %(agent)s), 0),
    coalesce((SELECT epoch FROM spaces WHERE active), 0)

-- name: feed_all
-- What search reads of every memory the scope sees; each vector is looked up, as in count_all.
SELECT
    m.id::text, m.seq, m.user_id, m.session, m.kind, m.state, m.importance, m.trust, m.occurred_at, m.recorded_at,
    m.valid_from, m.valid_to, m.expires_at, m.terms, v.vector
FROM memories m
LEFT JOIN LATERAL (
    SELECT vector FROM vectors
    WHERE tenant = m.tenant AND agent = m.agent AND memory_id = m.id AND space = (SELECT name FROM spaces WHERE active)
    LIMIT 1
) AS v ON true
WHERE
    m.tenant = %(tenant)s AND m.agent = %(agent)s
    AND (%(user)s::text IS NULL OR m.user_id IS NULL OR m.user_id = %(user)s)
ORDER BY m.seq

-- name: feed_changed
-- What search reads of the memories that changed after a number. One row at least: the head; a row without
-- a sequence number is a memory that is gone. LIMIT 1 makes the planner look up each memory instead of reading all.
WITH reached AS (
    SELECT
        coalesce((SELECT head FROM scopes WHERE tenant = %(tenant)s AND agent = %(agent)s), 0) AS head,
        coalesce((SELECT epoch FROM spaces WHERE active), 0) AS epoch
),
changed AS (
    SELECT DISTINCT j.memory_id FROM journal j
    WHERE
        j.tenant = %(tenant)s AND j.agent = %(agent)s AND j.seq > %(after)s
        AND j.action IN ('put', 'update', 'delete', 'erase')
        AND (%(user)s::text IS NULL OR j.user_id IS NULL OR j.user_id = %(user)s)
)
SELECT
    r.head, r.epoch, c.memory_id::text, m.seq, m.user_id, m.session, m.kind, m.state, m.importance, m.trust,
    m.occurred_at, m.recorded_at, m.valid_from, m.valid_to, m.expires_at, m.terms, v.vector
FROM reached r
LEFT JOIN changed c ON true
LEFT JOIN LATERAL (
    SELECT * FROM memories
    WHERE
        tenant = %(tenant)s AND agent = %(agent)s AND id = c.memory_id
        AND (%(user)s::text IS NULL OR user_id IS NULL OR user_id = %(user)s)
    LIMIT 1
) AS m ON true
LEFT JOIN LATERAL (
    SELECT vector FROM vectors
    WHERE tenant = m.tenant AND agent = m.agent AND memory_id = m.id AND space = (SELECT name FROM spaces WHERE active)
    LIMIT 1
) AS v ON true
ORDER BY m.seq, c.memory_id

-- name: list_scopes
-- Every tenant and agent that holds a memory.
SELECT s.tenant, s.agent FROM scopes s
WHERE EXISTS (SELECT FROM memories m WHERE m.tenant = s.tenant AND m.agent = s.agent)
ORDER BY s.tenant, s.agent

-- name: require_durable
-- A commit that was acknowledged is on disk: stricter settings of the server stay, "off" does not.
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'

-- name: one_reading
-- Everything this transaction reads is of one moment.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY

-- name: limited
-- No more rows than this.
LIMIT %(limit)s

-- name: set_tenant
-- Whose rows the statements of this transaction see.
SELECT set_config('longmind.tenant', %(tenant)s, true);

-- name: tenant_names
-- The names of all tenants, for a role that sees the rows of one at a time.
SELECT unnest(tenant_names());
