-- Where the numbers of rows are kept. salvage.py appends ASC or DESC, to come at a bad page from both sides.

-- name: table
SELECT row FROM memories NOT INDEXED ORDER BY row

-- name: index_id
SELECT row FROM memories INDEXED BY memories_id ORDER BY scope, id

-- name: index_kind
SELECT row FROM memories INDEXED BY memories_kind ORDER BY scope, kind

-- name: index_user
SELECT row FROM memories INDEXED BY memories_user ORDER BY scope, user

-- name: index_occurred
SELECT row FROM memories INDEXED BY memories_occurred ORDER BY scope, occurred_at

-- name: journal
SELECT row FROM journal WHERE action = 'put' ORDER BY row

-- name: links
SELECT source, relation, target, weight, valid_from, valid_to, metadata, scope FROM links
ORDER BY scope, source, relation, target

-- name: links_backwards
SELECT source, relation, target, weight, valid_from, valid_to, metadata, scope FROM links
ORDER BY scope DESC, source DESC, relation DESC, target DESC

-- name: scopes
SELECT scope FROM scopes ORDER BY scope

-- name: scope
SELECT tenant, agent FROM scopes WHERE scope = ?

-- name: id
SELECT memory_id FROM journal WHERE row = ?

-- name: schema_pages
-- The pages that hold the schema.
SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'

-- name: has_tables
-- Whether the schema has the table of memories and that of agents.
SELECT count(*) = 2 FROM sqlite_schema WHERE type = 'table' AND name IN ('memories', 'scopes')
