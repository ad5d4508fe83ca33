-- Everything that changes an agent's memories. Rows are given as one array for each column.

-- name: put_all
-- Store new memories with their vectors and journal lines, numbered, in one statement. Gives no row, and has done nothing, when a key is
-- taken or when the active space is not the one the vectors are of; a taken id is a unique violation.
WITH given AS (
    SELECT *
    FROM unnest(
        %(id)s::uuid[], %(version)s::bigint[], %(user_id)s::text[], %(session)s::text[], %(kind)s::text[],
        %(key)s::text[], %(state)s::text[], %(importance)s::float8[], %(valence)s::float8[], %(trust)s::float8[],
        %(occurred_at)s::timestamptz[], %(recorded_at)s::timestamptz[], %(valid_from)s::timestamptz[],
        %(valid_to)s::timestamptz[], %(expires_at)s::timestamptz[], %(access_count)s::bigint[],
        %(last_accessed_at)s::timestamptz[], %(interaction)s::float8[], %(role)s::text[], %(speaker)s::text[], %(uri)s::text[],
        %(span_start)s::bigint[], %(span_end)s::bigint[], %(tags)s::text[], %(content)s::text[],
        %(body)s::text[], %(metadata)s::text[], %(terms)s::bytea[], %(vector)s::halfvec[]
    ) WITH ORDINALITY AS g (
        id, version, user_id, session, kind, key, state, importance, valence, trust, occurred_at, recorded_at,
        valid_from, valid_to, expires_at, access_count, last_accessed_at, interaction, role, speaker, uri, span_start,
        span_end, tags, content, body, metadata, terms, vector, place
    )
),
taken AS (
    SELECT FROM given g
    JOIN memories m
        ON m.tenant = %(tenant)s AND m.agent = %(agent)s AND m.key = g.key
        AND coalesce(m.user_id, '') = coalesce(g.user_id, '')
    LIMIT 1
),
fitting AS (
    SELECT name FROM spaces
    WHERE
        active AND (%(dimensions)s = 0 OR dimensions = %(dimensions)s)
        AND (%(space)s::text IS NULL OR name = %(space)s)
        AND (%(dimensions)s > 0 OR %(space)s::text IS NOT NULL)
    FOR KEY SHARE
),
numbered AS (
    INSERT INTO scopes (tenant, agent, head)
    SELECT %(tenant)s, %(agent)s, %(count)s
    WHERE
        NOT EXISTS (SELECT FROM taken)
        AND (EXISTS (SELECT FROM fitting) OR (%(dimensions)s = 0 AND %(space)s::text IS NULL))
    ON CONFLICT (tenant, agent) DO UPDATE SET head = scopes.head + excluded.head
    RETURNING head - %(count)s AS start
),
stored AS (
    INSERT INTO memories (
        tenant, agent, id, seq, version, user_id, session, kind, key, state, importance, valence, trust, occurred_at,
        recorded_at, valid_from, valid_to, expires_at, access_count, last_accessed_at, interaction, role, speaker, uri,
        span_start, span_end, tags, content, body, metadata, terms
    )
    SELECT
        %(tenant)s, %(agent)s, g.id, n.start + g.place, g.version, g.user_id, g.session, g.kind, g.key, g.state,
        g.importance, g.valence, g.trust, g.occurred_at, g.recorded_at, g.valid_from, g.valid_to, g.expires_at,
        g.access_count, g.last_accessed_at, g.interaction, g.role, g.speaker, g.uri, g.span_start, g.span_end, g.tags::text[],
        g.content, g.body::json, g.metadata::json, g.terms
    FROM numbered n CROSS JOIN given g
),
embedded AS (
    INSERT INTO vectors (tenant, agent, memory_id, space, vector)
    SELECT %(tenant)s, %(agent)s, g.id, f.name, g.vector
    FROM numbered n CROSS JOIN fitting f CROSS JOIN given g
    WHERE g.vector IS NOT NULL
),
told AS (
    INSERT INTO journal (tenant, agent, seq, operation, at, actor, reason, action, memory_id, user_id)
    SELECT
        %(tenant)s, %(agent)s, n.start + g.place, %(operation)s, %(at)s, %(actor)s, %(reason)s, 'put', g.id, g.user_id
    FROM numbered n CROSS JOIN given g
)
SELECT start FROM numbered;

-- name: lock_scope
-- Keep other writers of this agent out until the transaction ends; gives how far its journal has come and, if the batch
-- has vectors, the active space, which cannot change before then. Naming the table spaces in this first statement is what
-- lets hold_off_writers hold a writer off before it holds anything itself.
WITH fitting AS (
    SELECT name, dimensions FROM spaces WHERE active AND %(vectors)s FOR KEY SHARE
),
locked AS (
    INSERT INTO scopes (tenant, agent, head) VALUES (%(tenant)s, %(agent)s, 0)
    ON CONFLICT (tenant, agent) DO UPDATE SET head = scopes.head
    RETURNING head
)
SELECT l.head, f.name, f.dimensions FROM locked l LEFT JOIN fitting f ON true;

-- name: find_operation
-- An idempotent batch that was applied before.
SELECT fingerprint, ids::text[] FROM operations
WHERE tenant = %(tenant)s AND agent = %(agent)s AND user_id = %(user)s AND operation = %(operation)s;

-- name: insert_operation
-- Remember an idempotent batch.
INSERT INTO operations (tenant, agent, user_id, operation, fingerprint, ids, at)
VALUES (%(tenant)s, %(agent)s, %(user)s, %(operation)s, %(fingerprint)s, %(ids)s::uuid[], %(at)s);

-- name: load_involved
-- Appended to select_memories: those a batch names by id or by key, locked in the order of their ids.
AND (m.id = ANY(%(ids)s::uuid[]) OR m.key = ANY(%(keys)s::text[])) ORDER BY m.id FOR UPDATE;

-- name: load_links
-- The links a batch may change: all that touch the memories it deletes, and those it names; and whose they are.
SELECT
    l.source::text, l.relation, l.target::text, l.weight, l.valid_from, l.valid_to, l.metadata::text,
    coalesce(
        (SELECT s.user_id FROM memories s WHERE s.tenant = l.tenant AND s.agent = l.agent AND s.id = l.source),
        (SELECT t.user_id FROM memories t WHERE t.tenant = l.tenant AND t.agent = l.agent AND t.id = l.target)
    )
FROM (
    SELECT * FROM links
    WHERE tenant = %(tenant)s AND agent = %(agent)s AND source = ANY(%(deleted)s::uuid[])
    UNION ALL
    SELECT * FROM links
    WHERE tenant = %(tenant)s AND agent = %(agent)s AND target = ANY(%(deleted)s::uuid[])
    UNION ALL
    SELECT k.* FROM unnest(%(sources)s::uuid[], %(relations)s::text[], %(targets)s::uuid[]) AS g (source, relation, target)
    JOIN links k
        ON k.tenant = %(tenant)s AND k.agent = %(agent)s
        AND k.source = g.source AND k.relation = g.relation AND k.target = g.target
) AS l;

-- name: insert_memories
-- Store new memories.
INSERT INTO memories (
    tenant, agent, id, seq, version, user_id, session, kind, key, state, importance, valence, trust, occurred_at,
    recorded_at, valid_from, valid_to, expires_at, access_count, last_accessed_at, interaction, role, speaker, uri,
    span_start, span_end, tags, content, body, metadata, terms
)
SELECT
    %(tenant)s, %(agent)s, g.id, g.seq, g.version, g.user_id, g.session, g.kind, g.key, g.state,
    g.importance, g.valence, g.trust, g.occurred_at, g.recorded_at, g.valid_from, g.valid_to, g.expires_at,
    g.access_count, g.last_accessed_at, g.interaction, g.role, g.speaker, g.uri, g.span_start, g.span_end, g.tags::text[],
    g.content, g.body::json, g.metadata::json, g.terms
FROM unnest(
    %(id)s::uuid[], %(seq)s::bigint[], %(version)s::bigint[], %(user_id)s::text[], %(session)s::text[],
    %(kind)s::text[], %(key)s::text[], %(state)s::text[], %(importance)s::float8[], %(valence)s::float8[],
    %(trust)s::float8[], %(occurred_at)s::timestamptz[], %(recorded_at)s::timestamptz[],
    %(valid_from)s::timestamptz[], %(valid_to)s::timestamptz[], %(expires_at)s::timestamptz[], %(access_count)s::bigint[],
    %(last_accessed_at)s::timestamptz[], %(interaction)s::float8[], %(role)s::text[], %(speaker)s::text[],
    %(uri)s::text[], %(span_start)s::bigint[], %(span_end)s::bigint[], %(tags)s::text[], %(content)s::text[],
    %(body)s::text[], %(metadata)s::text[], %(terms)s::bytea[]
) AS g (
    id, seq, version, user_id, session, kind, key, state, importance, valence, trust, occurred_at, recorded_at,
    valid_from, valid_to, expires_at, access_count, last_accessed_at, interaction, role, speaker, uri, span_start,
    span_end, tags, content, body, metadata, terms
);

-- name: update_memories
-- Write all columns of memories that exist.
UPDATE memories m SET
    seq = g.seq, version = g.version, user_id = g.user_id, session = g.session, kind = g.kind, key = g.key,
    state = g.state, importance = g.importance, valence = g.valence, trust = g.trust, occurred_at = g.occurred_at,
    recorded_at = g.recorded_at, valid_from = g.valid_from, valid_to = g.valid_to, expires_at = g.expires_at,
    access_count = g.access_count, last_accessed_at = g.last_accessed_at, interaction = g.interaction, role = g.role, speaker = g.speaker,
    uri = g.uri, span_start = g.span_start, span_end = g.span_end, tags = g.tags::text[], content = g.content,
    body = g.body::json, metadata = g.metadata::json, terms = coalesce(g.terms, m.terms)
FROM unnest(
    %(id)s::uuid[], %(seq)s::bigint[], %(version)s::bigint[], %(user_id)s::text[], %(session)s::text[],
    %(kind)s::text[], %(key)s::text[], %(state)s::text[], %(importance)s::float8[], %(valence)s::float8[],
    %(trust)s::float8[], %(occurred_at)s::timestamptz[], %(recorded_at)s::timestamptz[],
    %(valid_from)s::timestamptz[], %(valid_to)s::timestamptz[], %(expires_at)s::timestamptz[], %(access_count)s::bigint[],
    %(last_accessed_at)s::timestamptz[], %(interaction)s::float8[], %(role)s::text[], %(speaker)s::text[],
    %(uri)s::text[], %(span_start)s::bigint[], %(span_end)s::bigint[], %(tags)s::text[], %(content)s::text[],
    %(body)s::text[], %(metadata)s::text[], %(terms)s::bytea[]
) AS g (
    id, seq, version, user_id, session, kind, key, state, importance, valence, trust, occurred_at, recorded_at,
    valid_from, valid_to, expires_at, access_count, last_accessed_at, interaction, role, speaker, uri, span_start,
    span_end, tags, content, body, metadata, terms
)
WHERE m.tenant = %(tenant)s AND m.agent = %(agent)s AND m.id = g.id;

-- name: release_keys
-- Free the keys of memories that are about to lose them, so that others of the batch may take them.
UPDATE memories SET key = NULL
WHERE tenant = %(tenant)s AND agent = %(agent)s AND id = ANY(%(ids)s::uuid[]);

-- name: delete_memories
-- Remove memories.
DELETE FROM memories WHERE tenant = %(tenant)s AND agent = %(agent)s AND id = ANY(%(ids)s::uuid[]);

-- name: delete_vectors
-- Remove the vectors of memories in every space.
DELETE FROM vectors WHERE tenant = %(tenant)s AND agent = %(agent)s AND memory_id = ANY(%(ids)s::uuid[]);

-- name: store_vectors
-- Give memories their vectors in one space.
INSERT INTO vectors (tenant, agent, memory_id, space, vector)
SELECT %(tenant)s, %(agent)s, g.id, %(space)s, g.vector
FROM unnest(%(ids)s::uuid[], %(vectors)s::halfvec[]) AS g (id, vector)
ON CONFLICT (tenant, agent, memory_id, space) DO UPDATE SET vector = excluded.vector;

-- name: store_links
-- Add links, or replace those that are there.
INSERT INTO links (tenant, agent, source, relation, target, weight, valid_from, valid_to, metadata)
SELECT
    %(tenant)s, %(agent)s, g.source, g.relation, g.target, g.weight, g.valid_from, g.valid_to, g.metadata::json
FROM unnest(
    %(source)s::uuid[], %(relation)s::text[], %(target)s::uuid[], %(weight)s::float8[],
    %(valid_from)s::timestamptz[], %(valid_to)s::timestamptz[], %(metadata)s::text[]
) AS g (source, relation, target, weight, valid_from, valid_to, metadata)
ON CONFLICT (tenant, agent, source, relation, target) DO UPDATE SET
    weight = excluded.weight, valid_from = excluded.valid_from, valid_to = excluded.valid_to,
    metadata = excluded.metadata;

-- name: delete_links
-- Remove links.
DELETE FROM links l
USING unnest(%(sources)s::uuid[], %(relations)s::text[], %(targets)s::uuid[]) AS g (source, relation, target)
WHERE
    l.tenant = %(tenant)s AND l.agent = %(agent)s
    AND l.source = g.source AND l.relation = g.relation AND l.target = g.target;

-- name: cleared_operations
-- The operations of lines about erased memories or users, each with its first line.
SELECT j.operation, min(j.seq) FROM journal j
WHERE
    j.tenant = %(tenant)s AND j.agent = %(agent)s AND j.operation IN (
        SELECT k.operation FROM journal k
        WHERE
            k.tenant = %(tenant)s AND k.agent = %(agent)s
            AND (
                k.memory_id = ANY(%(ids)s::uuid[]) OR k.target = ANY(%(ids)s::uuid[])
                OR k.user_id = ANY(%(users)s::text[]) OR %(everything)s::boolean
            )
    )
GROUP BY j.operation;

-- name: clear_operations
-- Clear why operations were made, and give those another id whose own may hold words.
UPDATE journal j SET reason = '', operation = g.new
FROM unnest(%(old)s::text[], %(new)s::text[]) AS g (old, new)
WHERE j.tenant = %(tenant)s AND j.agent = %(agent)s AND j.operation = g.old;

-- name: forget_operations
-- Forget the idempotent batches of these operations, and those that answered with erased memories.
DELETE FROM operations
WHERE
    tenant = %(tenant)s AND agent = %(agent)s
    AND (operation = ANY(%(old)s::text[]) OR user_id = ANY(%(users)s::text[]) OR ids && %(ids)s::uuid[] OR %(everything)s::boolean);

-- name: clear_lines
-- Take what the journal remembers of erased memories or users out of it; the lines themselves stay.
UPDATE journal SET
    before = NULL, link = NULL, target = NULL,
    user_id = CASE WHEN user_id = ANY(%(users)s::text[]) OR %(everything)s::boolean THEN NULL ELSE user_id END
WHERE
    tenant = %(tenant)s AND agent = %(agent)s
    AND (
        memory_id = ANY(%(ids)s::uuid[]) OR target = ANY(%(ids)s::uuid[]) OR user_id = ANY(%(users)s::text[])
        OR %(everything)s::boolean
    );

-- name: insert_lines
-- Add lines to the journal and note how far it has come.
WITH moved AS (
    UPDATE scopes SET head = %(start)s + %(count)s WHERE tenant = %(tenant)s AND agent = %(agent)s
)
INSERT INTO journal (
    tenant, agent, seq, operation, at, actor, reason, action, memory_id, target, user_id, before, link
)
SELECT
    %(tenant)s, %(agent)s, %(start)s + g.place, %(operation)s, %(at)s, %(actor)s, g.reason, g.action, g.memory_id, g.target,
    g.user_id, g.before::json, g.link::json
FROM unnest(
    %(reason)s::text[], %(action)s::text[], %(memory_id)s::uuid[], %(target)s::uuid[], %(user_id)s::text[],
    %(before)s::text[], %(link)s::text[]
) WITH ORDINALITY AS g (reason, action, memory_id, target, user_id, before, link, place);

-- name: touch
-- Count one read of each memory the scope sees, taking the rows in the order of their ids so that readers never deadlock.
WITH seen AS (
    SELECT id FROM memories
    WHERE
        tenant = %(tenant)s AND agent = %(agent)s AND id = ANY(%(ids)s::uuid[])
        AND (%(user)s::text IS NULL OR user_id IS NULL OR user_id = %(user)s)
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE memories m SET
    access_count = m.access_count + 1, last_accessed_at = %(at)s, interaction = m.interaction + %(interaction)s
FROM seen WHERE m.tenant = %(tenant)s AND m.agent = %(agent)s AND m.id = seen.id;

-- name: was_put
-- Whether the journal has the put of this memory by this operation: asked when a connection broke during the statement.
SELECT EXISTS (
    SELECT FROM journal
    WHERE
        tenant = %(tenant)s AND agent = %(agent)s AND memory_id = %(memory_id)s AND action = 'put'
        AND operation = %(operation)s
);

-- name: was_written
-- Whether a line of the journal is the one that a batch wrote: asked when a connection broke during the commit.
SELECT EXISTS (
    SELECT FROM journal
    WHERE
        tenant = %(tenant)s AND agent = %(agent)s AND seq = %(seq)s AND memory_id = %(memory_id)s
        AND action = %(action)s AND operation = %(operation)s AND at = %(at)s
);
