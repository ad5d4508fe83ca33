"""The statements of ``isolation_sql``, by what they try.

``{table}`` is a random table, ``{words}`` a column of it that may hold a tenant's word, ``{ids}`` one of ids and
``{column}`` one that the role may change. ``%(tenant)s`` is the tenant that asks and ``%(other)s`` another one.
"""

from __future__ import annotations

TABLES = ("scopes", "memories", "links", "journal", "operations", "vectors", "keys", "audit", "view_snapshots")
WORDS = {"memories": "content", "journal": "before", "audit": "line", "operations": "operation"}
"""A column of a table that may hold a tenant's word."""
IDS = {"memories": "id", "journal": "memory_id", "links": "source", "vectors": "memory_id"}
SETTABLE = {"scopes": "head", "memories": "content", "journal": "reason", "links": "weight", "vectors": "space"}
"""A column that the role may change in rows of its own tenant."""

COUNTS = (
    "SELECT count(*) FROM {table}",
    "SELECT count(*) FROM {table} WHERE tenant = %(tenant)s OR tenant = %(other)s OR true",
    "SELECT coalesce(sum(n), 0) FROM (SELECT tenant, count(*) AS n FROM {table} GROUP BY tenant) AS g",
    "WITH every AS MATERIALIZED (SELECT * FROM {table}) SELECT count(*) FROM every",
    "SELECT count(*) FROM {table} TABLESAMPLE SYSTEM (100)",
    "SELECT coalesce(max(n), 0) FROM (SELECT row_number() OVER () AS n FROM {table}) AS numbered",
    "SELECT count(*) FILTER (WHERE tenant <> '') FROM ONLY {table}",
)
"""Each tells how many rows of a table there are."""

TEXTS = (
    "SELECT string_agg(t::text, ' ') FROM {table} t",
    "SELECT array_agg(DISTINCT t.tenant)::text FROM {table} t",
    "SELECT json_agg(t)::text FROM {table} t",
    "SELECT min(t.tenant) || ' ' || max(t.tenant) FROM {table} t",
    "SELECT string_agg(g.tenant, ' ') FROM (SELECT tenant FROM {table} GROUP BY ROLLUP (tenant)) AS g",
    "SELECT string_agg(n.tenant, ' ') FROM (SELECT lag(tenant) OVER (ORDER BY tenant) AS tenant FROM {table}) AS n",
    "SELECT string_agg(l.t, ' ') FROM scopes s, LATERAL (SELECT t::text AS t FROM {table} t LIMIT 9) AS l",
    "SELECT string_agg(word, ' ') FROM ts_stat('SELECT to_tsvector(''simple'', content) FROM memories')",
    "SELECT string_agg(p.most_common_vals::text, ' ') FROM pg_stats p WHERE p.tablename = '{table}'::regclass::text",
)
"""Each makes a text of all rows of a table: aggregates, windows, a function that runs a query, and statistics."""

NOTHING = {
    "name a tenant": (
        "SELECT * FROM {table} WHERE tenant = %(other)s",
        "SELECT * FROM {table} WHERE tenant <> %(tenant)s",
        "SELECT max(tenant) FROM {table} HAVING max(tenant) <> %(tenant)s",
        "SELECT 1 WHERE EXISTS (SELECT FROM {table} WHERE tenant = %(other)s)",
        "SELECT * FROM {table} WHERE tenant = ANY(tenant_names()) AND tenant <> %(tenant)s",
        "SELECT tenant FROM {table} EXCEPT SELECT %(tenant)s",
        "SELECT * FROM {table} WHERE tenant = %(other)s FOR UPDATE SKIP LOCKED",
    ),
    "search a word": ("SELECT * FROM {table} WHERE {words}::text LIKE '%%' || %(word)s || '%%'",),
    "fetch ids": ("SELECT * FROM {table} WHERE {ids} = ANY(%(foreign_ids)s)",),
    "join": (
        "SELECT s.tenant FROM scopes s FULL JOIN {table} t ON t.tenant = s.tenant"
        " WHERE coalesce(s.tenant, t.tenant) <> %(tenant)s",
        "SELECT t.* FROM unnest(tenant_names()) AS n (name) JOIN {table} t ON t.tenant = n.name"
        " WHERE n.name <> %(tenant)s",
        "SELECT a.tenant FROM {table} a CROSS JOIN scopes s WHERE a.tenant <> s.tenant",
        "SELECT t.* FROM scopes s LEFT JOIN LATERAL (SELECT * FROM {table} WHERE tenant <> s.tenant) AS t ON true"
        " WHERE t.tenant IS NOT NULL",
    ),
    "change": (
        "UPDATE {table} SET {column} = {column} WHERE tenant <> %(tenant)s RETURNING tenant",
        "UPDATE {table} SET {column} = {column} FROM unnest(tenant_names()) AS n (name)"
        " WHERE tenant = n.name AND n.name <> %(tenant)s RETURNING tenant",
        "WITH changed AS (UPDATE {table} SET {column} = {column} RETURNING *)"
        " SELECT * FROM changed WHERE tenant <> %(tenant)s",
    ),
    "delete": (
        "DELETE FROM {table} WHERE tenant = %(other)s RETURNING *",
        "WITH gone AS (DELETE FROM {table} RETURNING *) SELECT * FROM gone WHERE tenant <> %(tenant)s",
        "DELETE FROM {table} USING unnest(tenant_names()) AS n (name)"
        " WHERE tenant = n.name AND n.name <> %(tenant)s RETURNING *",
    ),
    "function": (
        "SELECT * FROM find_key(%(other)s) WHERE id IS NOT NULL",
        "SELECT * FROM find_key('%%') WHERE id IS NOT NULL",
        "SELECT * FROM {table} WHERE starts_with(tenant, %(other)s) AND NOT starts_with(tenant, %(tenant)s)",
        "SELECT * FROM {table} WHERE 1 / (CASE WHEN tenant = %(tenant)s THEN 1 ELSE 0 END) = 0",
    ),
}
"""Each gives no row, and no error: that would tell that there is one."""

REFUSED = {
    "insert": (
        "INSERT INTO scopes (tenant, agent, head) VALUES (%(other)s, 'assistant', 0)",
        "INSERT INTO scopes (tenant, agent, head) VALUES (%(other)s, 'assistant', 0)"
        " ON CONFLICT (tenant, agent) DO UPDATE SET head = 0",
        "INSERT INTO links (tenant, agent, source, relation, target, weight, metadata)"
        " VALUES (%(other)s, 'assistant', gen_random_uuid(), 'about', gen_random_uuid(), 1, '{{}}')",
        "INSERT INTO operations (tenant, agent, user_id, operation, fingerprint, ids, at)"
        " VALUES (%(other)s, 'assistant', '', 'x', 'x', ARRAY[]::uuid[], now())",
        "INSERT INTO memories SELECT (jsonb_populate_record(m, jsonb_build_object('tenant', %(other)s::text))).*"
        " FROM memories m",
        "INSERT INTO keys (id, tenant, digest, name, permissions, created_at)"
        " VALUES (gen_random_uuid()::text, %(other)s, 'x', 'x', '[\"admin\"]', now())",
        "MERGE INTO scopes s USING (SELECT %(other)s AS tenant) AS o ON s.tenant = o.tenant"
        " WHEN MATCHED THEN UPDATE SET head = 0 WHEN NOT MATCHED THEN INSERT VALUES (o.tenant, 'assistant', 0)",
    ),
    "move": ("UPDATE {table} SET tenant = %(other)s",),
    "pass by": (
        "SELECT set_config('row_security', 'off', true); SELECT * FROM {table}",
        "SELECT set_config('role', relowner::regrole::text, true) FROM pg_class WHERE oid = '{table}'::regclass",
        "SELECT set_config('session_authorization', relowner::regrole::text, true)"
        " FROM pg_class WHERE oid = '{table}'::regclass",
        "SELECT set_config('session_replication_role', 'replica', true)",
        "ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY everyone ON {table} USING (true)",
        "CREATE FUNCTION longmind.all_rows() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
        "TRUNCATE {table}",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT * FROM pg_statistic",
    ),
}
"""Each is refused for want of a right, before anything is looked up: another error would tell what there is."""

COPIES = (
    "COPY {table} TO STDOUT",
    "COPY (SELECT * FROM {table} ORDER BY tenant) TO STDOUT (FORMAT csv)",
    "COPY (SELECT * FROM {table} WHERE tenant = %(other)s) TO STDOUT",
)

NOTE = """
CREATE TEMP TABLE noted (value text) ON COMMIT DROP;
CREATE FUNCTION pg_temp.note(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$
BEGIN
    INSERT INTO noted VALUES ($1);
    RETURN true;
END $$;
SELECT FROM {table} t WHERE pg_temp.note(t.tenant);
"""
"""A function of the role that notes what it is called with, and so cheap that the planner would call it first."""
