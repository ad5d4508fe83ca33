-- Preparing a database: once for each store, and again when a newer version ships migrations.

-- name: find_vector
-- Where pgvector is installed in this database, and whether it knows half-precision vectors.
SELECT n.nspname, t.oid::int8
FROM pg_extension e
JOIN pg_namespace n ON n.oid = e.extnamespace
LEFT JOIN pg_type t ON t.typnamespace = n.oid AND t.typname = 'halfvec'
WHERE e.extname = 'vector';

-- name: vector_available
-- Whether the server has the files of pgvector.
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector');

-- name: create_vector
-- Install pgvector into this database.
CREATE EXTENSION IF NOT EXISTS vector;

-- name: schema_tables
-- The tables and views of a schema.
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relkind IN ('r', 'p', 'v', 'm', 'f');

-- name: create_schema
-- Make the schema that keeps Longmind's tables apart from others.
CREATE SCHEMA IF NOT EXISTS {schema};

-- name: applied_migrations
-- The ids of the migrations that were applied.
SELECT migration_id FROM {schema}._yoyo_migration;

-- name: set_search_path
-- Look for tables in our schema and for types where pgvector is, until the transaction ends.
SELECT set_config('search_path', %(path)s, true);

-- name: take_turns
-- Let one process at a time prepare a database.
SELECT pg_advisory_xact_lock(%(key)s);
