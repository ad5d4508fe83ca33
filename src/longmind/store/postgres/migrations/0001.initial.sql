-- The tables of the first release.
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
