-- The whole schema as the migrations leave it; a test compares the two.
-- Tenant and agent lead every key and index of what an agent holds, so that the tables can be distributed by scope.
-- Text is compared byte by byte (COLLATE "C"): the order is that of Python's strings on every server.
-- JSON is kept as it was written (json, not jsonb, which would make 1e16 a whole number and lose -0.0).
-- There are no foreign keys: the writers of one agent take turns on its row of "scopes", which keeps the tables
-- consistent without a look-up for each row, and "check" tells when something else has changed them.

CREATE TABLE scopes (
    tenant text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    head bigint NOT NULL,
    PRIMARY KEY (tenant, agent)
) WITH (fillfactor = 50);

CREATE TABLE memories (
    tenant text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    seq bigint NOT NULL,
    version bigint NOT NULL,
    user_id text COLLATE "C",
    session text COLLATE "C",
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    importance double precision NOT NULL,
    valence double precision NOT NULL,
    trust double precision NOT NULL,
    occurred_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    valid_from timestamptz,
    valid_to timestamptz,
    expires_at timestamptz,
    access_count bigint NOT NULL,
    last_accessed_at timestamptz,
    interaction double precision NOT NULL,
    role text COLLATE "C" NOT NULL,
    speaker text COLLATE "C",
    uri text COLLATE "C",
    span_start bigint,
    span_end bigint,
    tags text[] COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL,
    body json NOT NULL,
    metadata json NOT NULL,
    terms bytea NOT NULL,
    PRIMARY KEY (tenant, agent, id)
) WITH (fillfactor = 90);

CREATE UNIQUE INDEX memories_by_seq ON memories (tenant, agent, seq);
CREATE INDEX memories_by_occurred ON memories (tenant, agent, occurred_at, id);
CREATE INDEX memories_by_kind ON memories (tenant, agent, kind, seq);
CREATE INDEX memories_by_session ON memories (tenant, agent, session, seq) WHERE session IS NOT NULL;
CREATE UNIQUE INDEX memories_by_key ON memories (tenant, agent, key, coalesce(user_id, '')) WHERE key IS NOT NULL;

CREATE TABLE links (
    tenant text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    source uuid NOT NULL,
    relation text COLLATE "C" NOT NULL,
    target uuid NOT NULL,
    weight double precision NOT NULL,
    valid_from timestamptz,
    valid_to timestamptz,
    metadata json NOT NULL,
    PRIMARY KEY (tenant, agent, source, relation, target)
);

CREATE INDEX links_by_target ON links (tenant, agent, target, source, relation);

CREATE TABLE journal (
    tenant text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    operation text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    actor text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    target uuid,
    user_id text COLLATE "C",
    before json,
    link json,
    PRIMARY KEY (tenant, agent, seq)
);

CREATE INDEX journal_by_memory ON journal (tenant, agent, memory_id, seq);
CREATE INDEX journal_by_operation ON journal (tenant, agent, operation, seq);
CREATE INDEX journal_by_target ON journal (tenant, agent, target) WHERE target IS NOT NULL;

CREATE TABLE operations (
    tenant text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    ids uuid[] NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant, agent, user_id, operation)
);

CREATE TABLE vectors (
    tenant text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    space text COLLATE "C" NOT NULL,
    vector halfvec NOT NULL,
    PRIMARY KEY (tenant, agent, memory_id, space)
);

CREATE TABLE spaces (
    name text COLLATE "C" NOT NULL,
    dimensions integer NOT NULL,
    active boolean NOT NULL,
    epoch bigint NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (name)
);

CREATE UNIQUE INDEX spaces_one_active ON spaces (active) WHERE active;
CREATE UNIQUE INDEX spaces_one_building ON spaces (active) WHERE NOT active;

-- Snapshots of large views, a cache: part 0 is the header, -1 announces one that is being made. Not in the write-ahead
-- log: a crash of the server empties the table, and what is erased is in no archive of the log.
CREATE UNLOGGED TABLE view_snapshots (
    tenant text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    viewer text COLLATE "C" NOT NULL,
    snapshot uuid NOT NULL,
    part integer NOT NULL,
    content bytea NOT NULL,
    used_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, agent, viewer, snapshot, part)
);

ALTER TABLE view_snapshots ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE keys (
    id text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    permissions json NOT NULL,
    agents json,
    created_at timestamptz NOT NULL,
    created_by text COLLATE "C",
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    PRIMARY KEY (id)
);

CREATE INDEX keys_by_tenant ON keys (tenant, created_at);

CREATE TABLE audit (
    seq bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    line text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (seq)
);

CREATE INDEX audit_by_tenant ON audit (tenant, seq);

CREATE TABLE audit_head (
    single boolean NOT NULL CHECK (single),
    base_seq bigint NOT NULL,
    base_hash text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (single)
);

INSERT INTO audit_head (single, base_seq, base_hash, seq, hash)
VALUES (true, 0, repeat('0', 64), 0, repeat('0', 64));

-- Row-level security: a role sees the rows of the tenant in longmind.tenant, which is set for each transaction. The owner
-- of the tables sees all of them while no tenant is set.

ALTER TABLE scopes ENABLE ROW LEVEL SECURITY;
ALTER TABLE scopes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON scopes USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON scopes TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');

ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON memories USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON memories TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');

ALTER TABLE links ENABLE ROW LEVEL SECURITY;
ALTER TABLE links FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON links USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON links TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');

ALTER TABLE journal ENABLE ROW LEVEL SECURITY;
ALTER TABLE journal FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON journal USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON journal TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');

ALTER TABLE operations ENABLE ROW LEVEL SECURITY;
ALTER TABLE operations FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON operations USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON operations TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');

ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON vectors USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON vectors TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');

ALTER TABLE view_snapshots ENABLE ROW LEVEL SECURITY;
ALTER TABLE view_snapshots FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON view_snapshots USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON view_snapshots TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');

ALTER TABLE keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON keys USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON keys TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');

ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON audit USING (tenant = current_setting('longmind.tenant', true));
CREATE POLICY all_tenants ON audit TO CURRENT_USER USING (coalesce(current_setting('longmind.tenant', true), '') = '');
CREATE POLICY any_line ON audit FOR INSERT WITH CHECK (true);

-- With the rights of the owner, for a role that sees no other tenant: a key by its id before its tenant is known, whether
-- there are keys, and the names of the tenants.
CREATE FUNCTION find_key(text) RETURNS keys LANGUAGE sql STABLE SECURITY DEFINER
RETURN (SELECT k FROM keys k WHERE k.id = $1);

CREATE FUNCTION any_key() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
RETURN EXISTS (SELECT FROM keys);

CREATE FUNCTION tenant_names() RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER
RETURN ARRAY(SELECT DISTINCT tenant FROM scopes ORDER BY tenant);

REVOKE ALL ON FUNCTION find_key(text), any_key(), tenant_names() FROM PUBLIC;
