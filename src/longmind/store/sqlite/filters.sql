-- The conditions a Filter is put together from, and the orders of a scan. Conditions that an index can answer name the
-- scope; the others do not, so that without one of the former an agent's rows are simply read in their order.

-- name: agent
-- Rows of one agent.
m.row > :begin AND m.row < :end

-- name: viewer
-- Rows that a user may see.
m.scope = :scope AND m.user IN ('', :viewer)

-- name: ids
m.scope = :scope AND m.id IN (SELECT value FROM json_each(:ids))

-- name: kind
m.scope = :scope AND m.kind = :kind

-- name: kinds
m.scope = :scope AND m.kind IN (SELECT value FROM json_each(:kinds))

-- name: without_kinds
m.kind NOT IN (SELECT value FROM json_each(:without_kinds))

-- name: session
m.scope = :scope AND m.session = :session

-- name: sessions
m.scope = :scope AND m.session IN (SELECT value FROM json_each(:sessions))

-- name: users
m.scope = :scope AND m.user IN (SELECT value FROM json_each(:users))

-- name: keys
m.scope = :scope AND m.key IS NOT NULL AND m.key IN (SELECT value FROM json_each(:keys))

-- name: states
m.state IN (SELECT value FROM json_each(:states))

-- name: roles
m.role IN (SELECT value FROM json_each(:roles))

-- name: speakers
m.speaker IN (SELECT value FROM json_each(:speakers))

-- name: tags_any
EXISTS (SELECT 1 FROM json_each(m.tags) t WHERE t.value IN (SELECT value FROM json_each(:tags_any)))

-- name: tags_all
(SELECT count(DISTINCT t.value) FROM json_each(m.tags) t WHERE t.value IN (SELECT value FROM json_each(:tags_all)))
  = :tags_all_count

-- name: since
m.scope = :scope AND m.occurred_at >= :since

-- name: until
m.scope = :scope AND m.occurred_at < :until

-- name: recorded_since
m.recorded_at >= :recorded_since

-- name: recorded_until
m.recorded_at < :recorded_until

-- name: valid_at
(m.valid_from IS NULL OR m.valid_from <= :valid_at) AND (m.valid_to IS NULL OR m.valid_to > :valid_at)

-- name: expired
m.expires_at <= :expired_at

-- name: not_expired
(m.expires_at IS NULL OR m.expires_at > :expired_at)

-- name: min_importance
m.importance >= :min_importance

-- name: min_trust
m.trust >= :min_trust

-- name: metadata
-- Every wanted key is there with the wanted value; JSON's types tell true from 1, but 1 and 1.0 are one number.
NOT EXISTS (
  SELECT 1 FROM json_each(:metadata) w WHERE NOT EXISTS (
    SELECT 1 FROM json_each(m.metadata) h
    WHERE h.key = w.key AND h.value = w.value
      AND (h.type = w.type OR (h.type IN ('integer', 'real') AND w.type IN ('integer', 'real')))))

-- name: metadata_ranges
-- Every bound, given as [key, comparison, value], holds. Numbers are compared with numbers, texts with texts.
NOT EXISTS (
  SELECT 1 FROM json_each(:metadata_ranges) w WHERE NOT EXISTS (
    SELECT 1 FROM json_each(m.metadata) h
    WHERE h.key = w.value ->> 0
      AND (h.type = 'text') = (json_type(w.value, '$[2]') = 'text')
      AND h.type IN ('text', 'integer', 'real')
      AND CASE w.value ->> 1
        WHEN 'gt' THEN h.value > w.value ->> 2
        WHEN 'gte' THEN h.value >= w.value ->> 2
        WHEN 'lt' THEN h.value < w.value ->> 2
        ELSE h.value <= w.value ->> 2 END))

-- name: by_recorded
m.row

-- name: by_occurred
m.occurred_at

-- name: by_importance
m.importance

-- name: by_accessed
ifnull(m.last_accessed_at, -9223372036854775808)
