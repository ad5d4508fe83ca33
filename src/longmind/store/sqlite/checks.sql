-- What can be wrong with a store although its pages are sound. Each query counts, and gives one example.

-- name: pages
-- Whether every page is sound; the first twenty that are not.
PRAGMA integrity_check(20);

-- name: row_numbers
-- The numbers of the memories after a row, in order.
SELECT row FROM memories NOT INDEXED WHERE row > ? ORDER BY row LIMIT ?;

-- name: memories_misplaced
-- Memories whose row number does not belong to their agent, or is not that of the change that put them.
SELECT count(*), min(m.id) FROM memories m
LEFT JOIN scopes s ON s.scope = m.scope
LEFT JOIN journal j ON j.row = m.row AND j.action = 'put' AND j.memory_id = m.id
WHERE m.row >> 38 <> m.scope OR s.scope IS NULL OR j.row IS NULL;

-- name: memories_unreadable
-- Memories whose lists or objects are not JSON.
SELECT count(*), min(m.id) FROM memories m
WHERE NOT json_valid(ifnull(m.tags, '[]')) OR NOT json_valid(ifnull(m.body, '{}'))
  OR NOT json_valid(ifnull(m.metadata, '{}'));

-- name: terms_missing
-- Memories that the word search cannot find, because their terms are missing or another analyser's.
SELECT count(*), min(m.id) FROM memories m WHERE length(m.terms) < 5 OR hex(substr(m.terms, 1, 1)) <> :analysis;

-- name: links_loose
-- Links that begin or end nowhere.
SELECT count(*), min(l.source || ' ' || l.relation || ' ' || l.target) FROM links l
WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.scope = l.scope AND m.id = l.source)
   OR NOT EXISTS (SELECT 1 FROM memories m WHERE m.scope = l.scope AND m.id = l.target);

-- name: journal_gaps
-- Agents whose journal has not exactly the lines 1 to head.
SELECT count(*), min(s.tenant || '/' || s.agent) FROM scopes s
WHERE s.head <> (SELECT count(*) FROM journal j WHERE j.row > s.scope << 38 AND j.row < (s.scope + 1) << 38)
   OR (s.scope << 38) + s.head <> ifnull(
        (SELECT max(j.row) FROM journal j WHERE j.row > s.scope << 38 AND j.row < (s.scope + 1) << 38), s.scope << 38);

-- name: journal_unsigned
-- Agents some of whose changes do not say who made them.
SELECT count(*), min(s.tenant || '/' || s.agent) FROM scopes s
WHERE s.head <> (
  SELECT ifnull(sum(b.lines), 0) FROM batches b WHERE b.row > s.scope << 38 AND b.row < (s.scope + 1) << 38);

-- name: vectors_loose
-- Vectors that belong to no memory, or have not as many numbers as their space.
SELECT count(*), min(ifnull(m.id, 'row ' || v.row)) FROM {vectors} v
LEFT JOIN memories m ON m.row = v.row
LEFT JOIN spaces s ON s.slot = '{slot}'
WHERE m.row IS NULL OR s.slot IS NULL OR length(v.vector) <> 2 * s.dimensions;

-- name: spaces_active
-- Whether it is plain which space is read: at most one has an epoch, and none is built beside nothing.
SELECT CASE WHEN count(epoch) > 1 OR (count(*) > 0 AND count(epoch) = 0) THEN count(*) ELSE 0 END, min(name) FROM spaces;
