-- name: mem0_history
-- every change of every memory, the oldest first
SELECT * FROM history ORDER BY rowid;

-- name: mem0_messages
-- the messages that mem0 keeps for context, the oldest first
SELECT id, session_scope, role, content, name, created_at FROM messages ORDER BY rowid;

-- name: langgraph_store
-- the items of a store of LangGraph
SELECT * FROM store ORDER BY prefix, key;

-- name: checkpoint_count
-- how many checkpoints of LangGraph there are
SELECT count(*) AS checkpoints FROM checkpoints;

-- name: postgres_columns
-- the columns of a table that the search path leads to
SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped;

-- name: sqlite_columns
-- the columns of a table
SELECT name FROM pragma_table_info(?);
