-- Snapshots of views.

-- name: lock
-- Let an erasure and those who announce or store a snapshot of the same agent take turns, until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(tenant)s::text || '/' || %(agent)s::text, 25));

-- name: take_back
-- Remove every snapshot of an agent, also those that are being made.
DELETE FROM view_snapshots WHERE tenant = %(tenant)s AND agent = %(agent)s;

-- name: header
-- The header of the snapshot of a viewer.
SELECT content FROM view_snapshots
WHERE tenant = %(tenant)s AND agent = %(agent)s AND viewer = %(viewer)s AND part = 0;

-- name: parts
-- A snapshot, part by part.
SELECT content FROM view_snapshots
WHERE tenant = %(tenant)s AND agent = %(agent)s AND viewer = %(viewer)s AND part >= 0
ORDER BY part;

-- name: note_use
-- Note that a snapshot is read, once a day.
UPDATE view_snapshots SET used_at = now()
WHERE
    tenant = %(tenant)s AND agent = %(agent)s AND viewer = %(viewer)s AND part = 0
    AND used_at < now() - interval '1 day';

-- name: announce
-- Announce a snapshot.
INSERT INTO view_snapshots (tenant, agent, viewer, snapshot, part, content, used_at)
VALUES (%(tenant)s, %(agent)s, %(viewer)s, %(snapshot)s::uuid, -1, '', now());

-- name: replace_older
-- Remove what the new snapshot replaces; nothing if it was taken back, and then there is no row to return.
WITH announced AS (
    SELECT FROM view_snapshots
    WHERE
        tenant = %(tenant)s AND agent = %(agent)s AND viewer = %(viewer)s AND snapshot = %(snapshot)s::uuid
        AND part = -1
), removed AS (
    DELETE FROM view_snapshots
    WHERE tenant = %(tenant)s AND agent = %(agent)s AND viewer = %(viewer)s AND EXISTS (SELECT FROM announced)
)
SELECT EXISTS (SELECT FROM announced);

-- name: put_part
-- Store a part of a snapshot.
INSERT INTO view_snapshots (tenant, agent, viewer, snapshot, part, content, used_at)
VALUES (%(tenant)s, %(agent)s, %(viewer)s, %(snapshot)s::uuid, %(part)s, %(content)s, now());

-- name: remove_unused
-- Remove snapshots of the tenant that nobody has read for 30 days, and announcements that came to nothing.
DELETE FROM view_snapshots v
WHERE v.tenant = %(tenant)s AND v.snapshot IN (
    SELECT u.snapshot FROM view_snapshots u
    WHERE
        u.tenant = %(tenant)s
        AND ((u.part = 0 AND u.used_at < now() - interval '30 days') OR (u.part < 0 AND u.used_at < now() - interval '1 day'))
);

-- name: count
-- How many snapshots there are.
SELECT count(*) FROM view_snapshots WHERE part = 0;

-- name: remove_all
-- Remove every snapshot, and give the files back.
TRUNCATE view_snapshots;
