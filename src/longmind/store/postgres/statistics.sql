-- What the planner knows of the tables.

-- name: known
-- Whether statistics of the memories were ever gathered.
SELECT EXISTS (SELECT FROM pg_stats WHERE schemaname = current_schema() AND tablename = 'memories' AND attname = 'agent');

-- name: gather
-- Gather them now, unless somebody is at it. Only the owner of the tables can; for others it does nothing.
ANALYZE (SKIP_LOCKED) memories, vectors, links, journal;
