-- name: write_ahead
-- Let readers and writers of the jobs' SQLite file not wait for each other; the file keeps this once it is set.
PRAGMA journal_mode = WAL;
