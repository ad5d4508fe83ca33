-- name: write_ahead
-- Let readers and writers of the jobs' SQLite file not wait for each other; the file keeps this once it is set.
PRAGMA journal_mode = WAL;

-- name: page
-- Jobs of a tenant, the newest first, from a time and an id on. The same on both databases.
SELECT workflow_uuid, authenticated_user, status, created_at FROM workflow_status
WHERE name = 'longmind.consolidate' AND attributes->>'tenant' = :tenant
AND (CAST(:agent_key AS text) IS NULL OR authenticated_user = :agent_key)
AND status IN :statuses
AND (created_at < :at OR (created_at = :at AND workflow_uuid < :id))
ORDER BY created_at DESC, workflow_uuid DESC
LIMIT :limit;

-- name: set_tenant
-- Let the transaction see the jobs of one tenant only.
SELECT set_config('longmind.tenant', %(tenant)s, true);

-- name: find_jobs
-- Whether a worker has made the tables of the jobs, and what the connected role may do with them.
SELECT
    pg_has_role(c.relowner, 'MEMBER') AS owned,
    CASE WHEN has_schema_privilege(n.oid, 'USAGE') THEN has_table_privilege(c.oid, 'SELECT') ELSE false END AS usable
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'longmind_jobs' AND c.relname = 'workflow_status';

-- name: protect_turns
-- Let one process at a time do what follows.
SELECT pg_advisory_xact_lock(hashtext('longmind_jobs'));

-- name: protect_rows
-- Keep tenants apart: a job has the tenant among its attributes. Whether everything is paused may be seen by all. The
-- owner is not bound: workers serve all tenants.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_policies WHERE schemaname = 'longmind_jobs' AND policyname = 'own_tenant') THEN
        RETURN;
    END IF;
    ALTER TABLE longmind_jobs.workflow_status ENABLE ROW LEVEL SECURITY;
    ALTER TABLE longmind_jobs.workflow_input ENABLE ROW LEVEL SECURITY;
    ALTER TABLE longmind_jobs.workflow_output ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own_tenant ON longmind_jobs.workflow_status
    USING (attributes->>'tenant' = current_setting('longmind.tenant', true));
    CREATE POLICY everything_paused ON longmind_jobs.workflow_status FOR SELECT
    USING (workflow_uuid = 'longmind:everything');
    CREATE POLICY own_tenant ON longmind_jobs.workflow_input
    USING (EXISTS (SELECT FROM longmind_jobs.workflow_status s WHERE s.workflow_uuid = workflow_input.workflow_uuid));
    CREATE POLICY own_tenant ON longmind_jobs.workflow_output
    USING (EXISTS (SELECT FROM longmind_jobs.workflow_status s WHERE s.workflow_uuid = workflow_output.workflow_uuid));
END
$$;

-- name: protect_grants
-- Let those roles see and steer jobs, behind the policies, that may write memories.
DO $$
DECLARE
    role name;
BEGIN
    FOR role IN
        SELECT DISTINCT grantee FROM information_schema.role_table_grants
        WHERE table_schema = 'longmind' AND table_name = 'memories' AND privilege_type = 'INSERT'
        AND grantee <> current_user AND grantee <> 'PUBLIC'
    LOOP
        EXECUTE 'GRANT USAGE ON SCHEMA longmind_jobs TO ' || quote_ident(role);
        EXECUTE 'GRANT SELECT, INSERT, UPDATE ON longmind_jobs.workflow_status TO ' || quote_ident(role);
        EXECUTE 'GRANT SELECT, INSERT ON longmind_jobs.workflow_input TO ' || quote_ident(role);
        EXECUTE 'GRANT SELECT ON longmind_jobs.workflow_output TO ' || quote_ident(role);
    END LOOP;
END
$$;
