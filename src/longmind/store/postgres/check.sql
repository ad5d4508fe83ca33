-- What could be wrong with a store. Each query gives tenant, agent and how many.

-- name: links_without_ends
-- Links of which an end does not exist.
SELECT l.tenant, l.agent, count(*)
FROM links l
WHERE
    NOT EXISTS (SELECT FROM memories m WHERE m.tenant = l.tenant AND m.agent = l.agent AND m.id = l.source)
    OR NOT EXISTS (SELECT FROM memories m WHERE m.tenant = l.tenant AND m.agent = l.agent AND m.id = l.target)
GROUP BY l.tenant, l.agent ORDER BY l.tenant, l.agent;

-- name: vectors_without_memory
-- Vectors of memories that do not exist.
SELECT v.tenant, v.agent, count(*)
FROM vectors v
WHERE NOT EXISTS (SELECT FROM memories m WHERE m.tenant = v.tenant AND m.agent = v.agent AND m.id = v.memory_id)
GROUP BY v.tenant, v.agent ORDER BY v.tenant, v.agent;

-- name: vectors_misfit
-- Vectors of an unknown space, or of another length than their space says.
SELECT v.tenant, v.agent, count(*)
FROM vectors v LEFT JOIN spaces s ON s.name = v.space
WHERE s.name IS NULL OR vector_dims(v.vector) <> s.dimensions
GROUP BY v.tenant, v.agent ORDER BY v.tenant, v.agent;

-- name: journal_gaps
-- Agents whose journal is not numbered 1, 2, 3 up to its head.
SELECT coalesce(s.tenant, j.tenant), coalesce(s.agent, j.agent), abs(coalesce(s.head, 0) - coalesce(j.lines, 0))
FROM scopes s
FULL JOIN (
    SELECT tenant, agent, count(*) AS lines, min(seq) AS first, max(seq) AS last FROM journal GROUP BY tenant, agent
) j ON j.tenant = s.tenant AND j.agent = s.agent
WHERE
    coalesce(s.head, -1) <> coalesce(j.last, 0) OR coalesce(j.lines, 0) <> coalesce(j.last, 0)
    OR coalesce(j.first, 1) <> 1
ORDER BY 1, 2;

-- name: memories_without_put
-- Memories whose number is not that of their put in the journal.
SELECT m.tenant, m.agent, count(*)
FROM memories m
WHERE NOT EXISTS (
    SELECT FROM journal j
    WHERE
        j.tenant = m.tenant AND j.agent = m.agent AND j.seq = m.seq AND j.memory_id = m.id AND j.action = 'put'
)
GROUP BY m.tenant, m.agent ORDER BY m.tenant, m.agent;

-- name: memories_without_terms
-- Memories that no search can find, since they have no terms or terms of another analysis.
SELECT m.tenant, m.agent, count(*)
FROM memories m
WHERE length(m.terms) < %(header)s OR substr(m.terms, 1, 1) <> %(analysis)s
GROUP BY m.tenant, m.agent ORDER BY m.tenant, m.agent;
