-- Every statement the SQLite backend runs. {memory_columns}, {index_columns}, {few} and {vectors} stand for text that
-- queries.py fills in when the package is loaded; no value is ever part of a statement.

-- name: memory_columns
-- What rows.memory reads, in its order.
m.id, m.user, m.session, m.kind, m.state, m.importance, m.trust, m.occurred_at, m.recorded_at, m.valid_from,
m.valid_to, m.expires_at, m.version, m.key, m.valence, m.access_count, m.last_accessed_at, m.interaction, m.role, m.speaker, m.uri,
m.span_start, m.span_end, m.tags, m.content, m.body, m.metadata, m.checksum

-- name: index_columns
-- What rows.index_row reads, in its order.
m.row, m.id, m.user, m.session, m.kind, m.state, m.importance, m.trust, m.occurred_at, m.recorded_at, m.valid_from,
m.valid_to, m.expires_at, m.terms, v.vector

-- name: scope
-- The number of an agent and how far its journal has come.
SELECT scope, head FROM scopes WHERE tenant = ? AND agent = ?;

-- name: scope_add
-- Give a new agent its number.
INSERT INTO scopes (tenant, agent) VALUES (?, ?) RETURNING scope, head;

-- name: scope_advance
-- Note how far the journal of an agent has come.
UPDATE scopes SET head = ? WHERE scope = ?;

-- name: scopes
-- Agents that hold at least one memory.
SELECT s.tenant, s.agent FROM scopes s
WHERE EXISTS (SELECT 1 FROM memories m WHERE m.row > s.scope << 38 AND m.row < (s.scope + 1) << 38)
ORDER BY s.tenant, s.agent;

-- name: head
-- How far the journal of an agent has come, and how often the active vector space has changed.
SELECT (SELECT head FROM scopes WHERE scope = ?), (SELECT max(epoch) FROM spaces);

-- name: memory_add
-- Store memories; queries.many repeats the group of values.
INSERT INTO memories (
    row, scope, id, user, session, kind, state, importance, trust, occurred_at, recorded_at, valid_from, valid_to,
    expires_at, terms, version, key, valence, access_count, last_accessed_at, interaction, role, speaker, uri, span_start,
    span_end, checksum, tags, content, body, metadata
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: memory_change
-- Replace what a memory says; its number and scope stay.
UPDATE memories SET (
    id, user, session, kind, state, importance, trust, occurred_at, recorded_at, valid_from, valid_to, expires_at, terms, version,
    key, valence, access_count, last_accessed_at, interaction, role, speaker, uri, span_start, span_end, checksum,
    tags, content, body, metadata
) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
WHERE row = ?;

-- name: memory_remove
-- Remove a memory.
DELETE FROM memories WHERE row = ?;

-- name: memories_remove
-- Remove the memories from a row up to another.
DELETE FROM memories WHERE row >= ? AND row < ?;

-- name: memory
-- One memory by its id.
SELECT {memory_columns} FROM memories m WHERE m.scope = ? AND m.id = ?;

-- name: memories_few
-- Several memories by their ids, of which there are as many as queries.FEW at most; the rest are NULL.
SELECT {memory_columns} FROM memories m WHERE m.scope = ? AND m.id IN ({few});

-- name: memories
-- Many memories by their ids.
SELECT {memory_columns} FROM memories m
WHERE m.scope = ? AND m.id IN (SELECT value FROM json_each(?));

-- name: memory_row
-- One memory by its id, with its row number in front and its terms behind.
SELECT m.row, {memory_columns}, m.terms FROM memories m WHERE m.scope = ? AND m.id = ?;

-- name: memory_by_key
-- The memory of a user (or of none) that holds a key.
SELECT {memory_columns} FROM memories m WHERE m.scope = ? AND m.user = ? AND m.key = ?;

-- name: users
-- Whose these memories are.
SELECT m.id, m.user FROM memories m WHERE m.scope = ? AND m.id IN (?, ?);

-- name: touch
-- Count one read of each of these memories.
UPDATE memories
SET access_count = access_count + 1, last_accessed_at = :at, interaction = interaction + :interaction
WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids)) AND (:user IS NULL OR user IN ('', :user));

-- name: reads_add
-- Count reads, given as [id, how many, when the last was]. SQLite cannot know that the list is short and would read the
-- whole agent for it, so the memories are found first, by their ids.
WITH r AS MATERIALIZED (
  SELECT m.row, value ->> 1 AS times, value ->> 2 AS at
  FROM json_each(:reads) CROSS JOIN memories m INDEXED BY memories_id
  WHERE m.scope = :scope AND m.id = value ->> 0 AND (:user IS NULL OR m.user IN ('', :user))
)
UPDATE memories SET access_count = access_count + r.times, last_accessed_at = r.at
FROM r WHERE memories.row = r.row;

-- name: link_add
-- Store a link, or replace the one between the same ends.
INSERT OR REPLACE INTO links (scope, source, relation, target, weight, valid_from, valid_to, metadata)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: link
-- One link, and whose it is: its source's user, or else its target's.
SELECT l.source, l.relation, l.target, l.weight, l.valid_from, l.valid_to, l.metadata
FROM links l WHERE l.scope = ? AND l.source = ? AND l.relation = ? AND l.target = ?;

-- name: link_remove
-- Remove a link.
DELETE FROM links WHERE scope = ? AND source = ? AND relation = ? AND target = ?;

-- name: links_of
-- All links of a memory, with the users of both ends behind.
SELECT l.source, l.relation, l.target, l.weight, l.valid_from, l.valid_to, l.metadata, s.user, t.user
FROM (
  SELECT * FROM links WHERE scope = :scope AND source = :id
  UNION
  SELECT * FROM links INDEXED BY links_target WHERE scope = :scope AND target = :id
) l
JOIN memories s ON s.scope = l.scope AND s.id = l.source
JOIN memories t ON t.scope = l.scope AND t.id = l.target
ORDER BY l.source, l.relation, l.target;

-- name: links_from_remove
-- Remove the links that leave a memory.
DELETE FROM links WHERE scope = :scope AND source = :id;

-- name: links_to_remove
-- Remove the links that reach a memory.
DELETE FROM links INDEXED BY links_target WHERE scope = :scope AND target = :id;

-- name: links_out
-- Links that leave these memories.
SELECT l.source, l.relation, l.target, l.weight, l.valid_from, l.valid_to, l.metadata FROM links l
WHERE l.scope = :scope AND l.source IN (SELECT value FROM json_each(:ids))
  AND (:relation IS NULL OR l.relation = :relation)
  AND (:user IS NULL OR NOT EXISTS (
    SELECT 1 FROM memories m
    WHERE m.scope = l.scope AND m.id IN (l.source, l.target) AND m.user NOT IN ('', :user)))
ORDER BY l.weight DESC, l.source, l.relation, l.target LIMIT :limit;

-- name: links_in
-- Links that reach these memories.
SELECT l.source, l.relation, l.target, l.weight, l.valid_from, l.valid_to, l.metadata
FROM links l INDEXED BY links_target
WHERE l.scope = :scope AND l.target IN (SELECT value FROM json_each(:ids))
  AND (:relation IS NULL OR l.relation = :relation)
  AND (:user IS NULL OR NOT EXISTS (
    SELECT 1 FROM memories m
    WHERE m.scope = l.scope AND m.id IN (l.source, l.target) AND m.user NOT IN ('', :user)))
ORDER BY l.weight DESC, l.source, l.relation, l.target LIMIT :limit;

-- name: links_both
-- Links that leave or reach these memories.
SELECT l.source, l.relation, l.target, l.weight, l.valid_from, l.valid_to, l.metadata
FROM (
  SELECT * FROM links WHERE scope = :scope AND source IN (SELECT value FROM json_each(:ids))
  UNION
  SELECT * FROM links INDEXED BY links_target
  WHERE scope = :scope AND target IN (SELECT value FROM json_each(:ids))
) l
WHERE (:relation IS NULL OR l.relation = :relation)
  AND (:user IS NULL OR NOT EXISTS (
    SELECT 1 FROM memories m
    WHERE m.scope = l.scope AND m.id IN (l.source, l.target) AND m.user NOT IN ('', :user)))
ORDER BY l.weight DESC, l.source, l.relation, l.target LIMIT :limit;

-- name: batch_add
-- Note who makes the following lines, when and why.
INSERT INTO batches (row, lines, operation, at, actor, reason) VALUES (?, ?, ?, ?, ?, ?);

-- name: line_add
-- Write journal lines; queries.many repeats the group of values.
INSERT INTO journal (row, action, memory_id, user, before, link, target) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: cleared_operations
-- The operations of lines about erased memories or users before a row, each with its first row. The places of a line's
-- operation are found in batches by the line's own row.
SELECT o.operation, min(o.row) FROM batches o
WHERE o.row > :begin AND o.row < :own AND o.operation IN (
  SELECT b.operation FROM journal j JOIN batches b ON b.row = (SELECT max(p.row) FROM batches p WHERE p.row <= j.row)
  WHERE j.row IN (
    SELECT k.row FROM journal k WHERE k.memory_id IN (SELECT value FROM json_each(:ids))
    UNION ALL
    SELECT k.row FROM journal k WHERE k.target IN (SELECT value FROM json_each(:ids))
  ) AND j.row > :begin AND j.row < :own)
GROUP BY o.operation;

-- name: cleared_operations_of_users
-- The operations of lines about these users' memories, or of all lines, before a row, each with its first row.
SELECT o.operation, min(o.row) FROM batches o
WHERE o.row > :begin AND o.row < :own AND (:everything OR o.operation IN (
  SELECT b.operation FROM journal j JOIN batches b ON b.row = (SELECT max(p.row) FROM batches p WHERE p.row <= j.row)
  WHERE j.row > :begin AND j.row < :own AND j.user IN (SELECT value FROM json_each(:users))))
GROUP BY o.operation;

-- name: operation_clear
-- Clear why an operation was made, and give it another id if its own may hold words.
UPDATE batches SET reason = '', operation = :new WHERE operation = :old AND row > :begin AND row < :own;

-- name: operation_forget
-- Forget an idempotent batch.
DELETE FROM operations WHERE scope = :scope AND operation = :old;

-- name: operations_forget
-- Forget the idempotent batches of these users, and those that answered with erased memories, or all.
DELETE FROM operations WHERE scope = :scope AND (:everything OR user IN (SELECT value FROM json_each(:users)) OR EXISTS (
  SELECT 1 FROM json_each(operations.ids) WHERE json_each.value IN (SELECT value FROM json_each(:ids))));

-- name: lines_clear
-- Clear what the journal tells of memories.
UPDATE journal SET before = NULL, link = NULL, target = NULL
WHERE memory_id IN (SELECT value FROM json_each(:ids)) AND row > :begin AND row < :end;

-- name: lines_clear_target
-- Clear what the journal tells of links that lead to memories.
UPDATE journal SET before = NULL, link = NULL, target = NULL
WHERE target IN (SELECT value FROM json_each(:ids)) AND row > :begin AND row < :end;

-- name: lines_clear_users
-- Clear what the journal tells of these users' memories, or of all, and the users' names.
UPDATE journal SET before = NULL, link = NULL, target = NULL, user = ''
WHERE (:everything OR user IN (SELECT value FROM json_each(:users))) AND row > :begin AND row < :end;

-- name: past_links_out
-- Links that left these memories at any time, as far as the journal tells.
SELECT j.link FROM journal j
WHERE j.memory_id IN (SELECT value FROM json_each(:ids)) AND j.link IS NOT NULL AND j.row > :begin AND j.row < :end
  AND (:user IS NULL OR j.user IN ('', :user))
ORDER BY j.row;

-- name: past_links_in
-- Links that reached these memories at any time, as far as the journal tells.
SELECT j.link FROM journal j
WHERE j.target IN (SELECT value FROM json_each(:ids)) AND j.link IS NOT NULL AND j.row > :begin AND j.row < :end
  AND (:user IS NULL OR j.user IN ('', :user))
ORDER BY j.row;

-- name: past_ids
-- The memories of a user, or of anybody, and those that were before they were deleted, unless their history was cleared.
-- Beside max(), SQLite takes the other columns from the row that has it.
SELECT n.memory_id FROM (
  SELECT j.memory_id, j.action, j.before, max(j.row) FROM journal j
  WHERE j.row > :begin AND j.row < :end AND j.action NOT IN ('link', 'unlink') AND (:user IS NULL OR j.user = :user)
  GROUP BY j.memory_id) n
WHERE n.action IN ('put', 'update') OR n.before IS NOT NULL
ORDER BY n.memory_id;

-- name: past_scopes
-- Agents that hold something or ever did.
SELECT tenant, agent FROM scopes WHERE head > 0 ORDER BY tenant, agent;

-- name: debt_add
-- Note that the log is to be emptied and the pages are to be rewritten, unless that is noted already.
INSERT OR IGNORE INTO erasure_debts (place, since) VALUES ('log', :at), ('pages', :at);

-- name: debts
-- Where erased words may still be, and since when.
SELECT place, since FROM erasure_debts;

-- name: debt_clear
-- Erased words are no longer in a place.
DELETE FROM erasure_debts WHERE place = ?;

-- name: journal
-- Lines of an agent in order.
SELECT j.row, b.operation, b.at, b.actor, b.reason, j.action, j.memory_id, j.before, j.link
FROM journal j JOIN batches b ON b.row = (SELECT max(p.row) FROM batches p WHERE p.row <= j.row)
WHERE j.row > :after AND j.row < :end AND (:user IS NULL OR j.user IN ('', :user))
ORDER BY j.row LIMIT :limit;

-- name: journal_of_memory
-- Lines of one memory in order.
SELECT j.row, b.operation, b.at, b.actor, b.reason, j.action, j.memory_id, j.before, j.link
FROM journal j JOIN batches b ON b.row = (SELECT max(p.row) FROM batches p WHERE p.row <= j.row)
WHERE j.memory_id = :memory_id AND j.row > :after AND j.row < :end AND (:user IS NULL OR j.user IN ('', :user))
ORDER BY j.row LIMIT :limit;

-- name: journal_of_operation
-- Lines of one operation in order, perhaps of one memory only.
SELECT j.row, b.operation, b.at, b.actor, b.reason, j.action, j.memory_id, j.before, j.link
FROM batches b JOIN journal j ON j.row >= b.row AND j.row < b.row + b.lines
WHERE b.operation = :operation AND b.row > :begin AND b.row < :end AND j.row > :after
  AND (:memory_id IS NULL OR j.memory_id = :memory_id) AND (:user IS NULL OR j.user IN ('', :user))
ORDER BY j.row LIMIT :limit;

-- name: later_lines
-- What happened to these memories after a line: all that is needed to tell how they were.
SELECT j.row, j.action, j.memory_id, j.before FROM journal j
WHERE j.memory_id IN (SELECT value FROM json_each(:ids)) AND j.row > :after AND j.row < :end
  AND j.action IN ('update', 'delete', 'erase')
ORDER BY j.row;

-- name: operation
-- What an idempotent batch asked for, and the memories it answered with.
SELECT fingerprint, ids FROM operations WHERE scope = ? AND user = ? AND operation = ?;

-- name: operation_add
-- Remember an idempotent batch.
INSERT INTO operations (scope, user, operation, fingerprint, ids, at) VALUES (?, ?, ?, ?, ?, ?);

-- name: count_memories
-- Visible memories by kind and state.
SELECT m.kind, m.state, count(*) FROM memories m
WHERE m.row > :begin AND m.row < :end AND (:user IS NULL OR m.user IN ('', :user))
GROUP BY m.kind, m.state;

-- name: count_links
-- Visible links.
SELECT count(*) FROM links l
WHERE l.scope = :scope AND (:user IS NULL OR NOT EXISTS (
    SELECT 1 FROM memories m
    WHERE m.scope = l.scope AND m.id IN (l.source, l.target) AND m.user NOT IN ('', :user)));

-- name: count_lines
-- Visible journal lines.
SELECT count(*) FROM journal j
WHERE j.row > :begin AND j.row < :end AND (:user IS NULL OR j.user IN ('', :user));

-- name: count_vectors
-- Visible memories that have a vector in a space.
SELECT count(*) FROM {vectors} v
WHERE v.row > :begin AND v.row < :end
  AND (:user IS NULL OR (SELECT m.user FROM memories m WHERE m.row = v.row) IN ('', :user));

-- name: feed_agent
-- What search reads of an agent.
SELECT {index_columns} FROM memories m LEFT JOIN {vectors} v ON v.row = m.row
WHERE m.row > :begin AND m.row < :end ORDER BY m.row;

-- name: feed_user
-- What search reads of one user of an agent.
SELECT {index_columns} FROM memories m LEFT JOIN {vectors} v ON v.row = m.row
WHERE m.row IN (SELECT u.row FROM memories u WHERE u.scope = :scope AND u.user IN ('', :user)) ORDER BY m.row;

-- name: feed_ids
-- Memories that were written or removed after a line.
SELECT DISTINCT j.memory_id FROM journal j
WHERE j.row > :after AND j.row < :end AND j.action IN ('put', 'update', 'delete', 'erase')
  AND (:user IS NULL OR j.user IN ('', :user));

-- name: feed_rows
-- What search reads of these memories.
SELECT {index_columns} FROM memories m LEFT JOIN {vectors} v ON v.row = m.row
WHERE m.scope = :scope AND m.id IN (SELECT value FROM json_each(:ids)) AND (:user IS NULL OR m.user IN ('', :user))
ORDER BY m.row;

-- name: spaces
-- The vector spaces there are.
SELECT slot, name, dimensions, epoch FROM spaces;

-- name: space_active
-- The vector space that is read now.
SELECT name, dimensions FROM spaces WHERE epoch IS NOT NULL;

-- name: space_add
-- Declare a space, or begin to build one (no epoch).
INSERT INTO spaces (slot, name, dimensions, epoch) VALUES (?, ?, ?, ?);

-- name: space_activate
-- Read this space from now on.
UPDATE spaces SET epoch = ? WHERE slot = ?;

-- name: space_remove
-- Leave a space.
DELETE FROM spaces WHERE slot = ?;

-- name: vector_add
-- Store or replace a vector.
INSERT OR REPLACE INTO {vectors} (row, vector) VALUES (?, ?);

-- name: vector_remove
-- Remove the vector of a memory.
DELETE FROM {vectors} WHERE row = ?;

-- name: vectors_clear
-- Remove all vectors of a space.
DELETE FROM {vectors};

-- name: vectors_missing
-- Memories after a row that say something and have no vector in this space.
SELECT m.row, s.tenant, s.agent, m.id, m.content
FROM memories m
JOIN scopes s ON s.scope = m.scope
WHERE m.row > ? AND m.content <> '' AND NOT EXISTS (SELECT 1 FROM {vectors} v WHERE v.row = m.row)
ORDER BY m.row LIMIT ?;

-- name: vectors_missing_count
-- How many memories say something and have no vector in this space.
SELECT count(*) FROM memories m
WHERE m.content <> '' AND NOT EXISTS (SELECT 1 FROM {vectors} v WHERE v.row = m.row);

-- name: content
-- Where a memory is, what it says and whose it is.
SELECT m.row, m.content, m.user FROM memories m WHERE m.scope = ? AND m.id = ?;

-- name: page
-- A page of a scan, put together by reads.page_query: each row with the value it is sorted by in front.
SELECT {by}, {memory_columns} FROM memories m
WHERE m.row IN (SELECT m.row FROM memories m WHERE {clause} {ordering} LIMIT :limit) {ordering};

-- name: matching
-- The ids of all memories that pass a filter.
SELECT m.id FROM memories m WHERE {clause};

-- name: memory_at
-- One memory by its row number.
SELECT {memory_columns} FROM memories m WHERE m.row = ?;

-- name: memory_and_terms_at
-- One memory by its row number, with its terms behind.
SELECT {memory_columns}, m.terms FROM memories m WHERE m.row = ?;
