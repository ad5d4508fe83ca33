-- The schema after all migrations, to read; a test proves that it equals their sum. Stores are made by the migrations.

-- An agent of a tenant, its short number, and how many changes it has seen. The number leads every key below: a row
-- number is (scope << 38) + seq, so a table is clustered by agent and, within one, by the order in which it learnt
-- things, with no index spent on it. That leaves room for 33 million agents of 274 thousand million changes each.
CREATE TABLE scopes (
    scope INTEGER PRIMARY KEY CHECK (scope < 33554432),
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    head INTEGER NOT NULL DEFAULT 0 CHECK (head < 274877906944),
    UNIQUE (tenant, agent)
) STRICT;

-- One row for each memory; its number is that of the change that put it. Times are microseconds since 1970, a user of
-- '' is no user in particular, and an empty list or object is NULL. What search reads stands before the texts, so that
-- a long text's pages are not read on the way. The checksum is that of the other columns, without the counts of reads.
CREATE TABLE memories (
    row INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    session TEXT,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    importance REAL NOT NULL,
    trust REAL NOT NULL,
    occurred_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    expires_at INTEGER,
    terms BLOB NOT NULL,
    version INTEGER NOT NULL,
    key TEXT,
    valence REAL NOT NULL,
    access_count INTEGER NOT NULL,
    last_accessed_at INTEGER,
    interaction REAL NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT,
    uri TEXT,
    span_start INTEGER,
    span_end INTEGER,
    checksum INTEGER NOT NULL,
    tags TEXT,
    content TEXT NOT NULL,
    body TEXT,
    metadata TEXT
) STRICT;

CREATE UNIQUE INDEX memories_id ON memories (scope, id);
CREATE UNIQUE INDEX memories_key ON memories (scope, key, user) WHERE key IS NOT NULL;
CREATE INDEX memories_user ON memories (scope, user);
CREATE INDEX memories_kind ON memories (scope, kind);
CREATE INDEX memories_session ON memories (scope, session) WHERE session IS NOT NULL;
CREATE INDEX memories_occurred ON memories (scope, occurred_at);

-- Relations between two memories of one agent.
CREATE TABLE links (
    scope INTEGER NOT NULL,
    source TEXT NOT NULL,
    relation TEXT NOT NULL,
    target TEXT NOT NULL,
    weight REAL NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    metadata TEXT,
    PRIMARY KEY (scope, source, relation, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_target ON links (scope, target);

-- Who changed something, when and why; the changes themselves are the journal lines row .. row + lines - 1.
CREATE TABLE batches (
    row INTEGER PRIMARY KEY,
    lines INTEGER NOT NULL,
    operation TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT;

CREATE INDEX batches_operation ON batches (operation);

-- Every change and what was there before it; nothing is ever taken out, an erasure only clears what a line tells.
CREATE TABLE journal (
    row INTEGER PRIMARY KEY,
    action TEXT NOT NULL CHECK (action IN ('put', 'update', 'delete', 'erase', 'link', 'unlink')),
    memory_id TEXT NOT NULL,
    user TEXT NOT NULL,
    before TEXT,
    link TEXT,
    target TEXT
) STRICT;

CREATE INDEX journal_memory ON journal (memory_id);
CREATE INDEX journal_target ON journal (target) WHERE target IS NOT NULL;

-- Batches that may be sent again: what they asked for, and the memories they answered with.
CREATE TABLE operations (
    scope INTEGER NOT NULL,
    user TEXT NOT NULL,
    operation TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    ids TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (scope, user, operation)
) STRICT, WITHOUT ROWID;

-- Where words of something erased may still be, and since when: in the write-ahead log, because another process was
-- reading when it was to be emptied; in unused parts of pages, because the file is too large to be rewritten every time.
CREATE TABLE erasure_debts (
    place TEXT PRIMARY KEY CHECK (place IN ('log', 'pages')),
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The vector spaces: the active one has an epoch, one that is being built has none. Each has one of the two tables of
-- vectors to itself, so that leaving a space empties a table and rewrites nothing.
CREATE TABLE spaces (
    slot TEXT PRIMARY KEY CHECK (slot IN ('a', 'b')),
    name TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    epoch INTEGER
) STRICT, WITHOUT ROWID;

-- Vectors by the row of their memory, as float16, little end first.
CREATE TABLE vectors_a (row INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
CREATE TABLE vectors_b (row INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;

-- "Lmd1": how a file is known to be a store of Longmind. The version is the number of this migration.
PRAGMA application_id = 1282237489;
PRAGMA user_version = 1;
