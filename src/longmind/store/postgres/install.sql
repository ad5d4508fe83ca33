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

-- name: role
-- Who is connected, and whether row-level security could be passed by.
SELECT
    r.rolname, r.rolsuper, r.rolbypassrls, pg_has_role(r.oid, c.relowner, 'MEMBER'),
    EXISTS (
        SELECT FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = 'tenant'
        WHERE t.relnamespace = c.relnamespace AND t.relkind = 'r' AND NOT (t.relrowsecurity AND t.relforcerowsecurity)
    )
FROM pg_roles r, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rolname = current_user AND n.nspname = %(schema)s AND c.relname = 'memories';

-- name: find_role
-- Whether a role exists, and whether it could pass by row-level security.
SELECT rolsuper OR rolbypassrls OR rolcreaterole FROM pg_roles WHERE rolname = %(role)s;

-- name: create_role
-- Make the role of an application. It gets a password, or another way to log in, from the administrator.
CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT;

-- name: grant_schema
-- Let the role find the tables.
GRANT USAGE ON SCHEMA {schema} TO {role};

-- name: grant_migrations
-- Let the role see that the schema is current.
GRANT SELECT ON {schema}._yoyo_migration TO {role};

-- name: grant_memories
-- Let the role work with what agents hold.
GRANT SELECT, INSERT, UPDATE, DELETE
ON {schema}.scopes, {schema}.memories, {schema}.links, {schema}.journal, {schema}.operations, {schema}.vectors,
{schema}.view_snapshots TO {role};

-- name: grant_spaces
-- Let the role read vector spaces, hold their rows, and declare the first; another embedder is the owner's decision.
GRANT SELECT, INSERT, UPDATE ON {schema}.spaces TO {role};

-- name: grant_keys
-- Let the role list, make, use and revoke keys; what a key allows cannot be changed.
GRANT SELECT, INSERT, UPDATE (revoked_at, last_used_at) ON {schema}.keys TO {role};

-- name: grant_audit
-- Let the role read and add lines of the audit, and never change or delete one.
GRANT SELECT, INSERT ON {schema}.audit TO {role};

-- name: grant_head
-- Let the role move the end of the audit.
GRANT SELECT, UPDATE (seq, hash) ON {schema}.audit_head TO {role};

-- name: grant_functions
-- Let the role find keys, and learn the names of tenants.
GRANT EXECUTE ON FUNCTION {schema}.find_key(text), {schema}.any_key(), {schema}.tenant_names() TO {role};

-- name: grant_jobs
-- Let the role see and steer the jobs of workers, if there are any and row-level security keeps tenants apart in them.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'longmind_jobs' AND c.relname = 'workflow_status' AND c.relrowsecurity
    ) THEN
        GRANT USAGE ON SCHEMA longmind_jobs TO {role};
        GRANT SELECT, INSERT, UPDATE ON longmind_jobs.workflow_status TO {role};
        GRANT SELECT, INSERT ON longmind_jobs.workflow_input TO {role};
        GRANT SELECT ON longmind_jobs.workflow_output TO {role};
    END IF;
END
$$;
