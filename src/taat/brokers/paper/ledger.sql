-- name: schema
-- Amounts are text, exact; moments are ISO 8601 in UTC, so their order is that of the text.
CREATE TABLE account (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  cash TEXT NOT NULL,
  realised TEXT NOT NULL,
  fees TEXT NOT NULL,
  now TEXT,
  day TEXT,
  day_start_equity TEXT NOT NULL,
  changes INTEGER NOT NULL,
  reported INTEGER NOT NULL
) STRICT;
CREATE TABLE orders (
  number INTEGER PRIMARY KEY,
  client_id TEXT NOT NULL UNIQUE,
  instrument TEXT NOT NULL,
  side TEXT NOT NULL,
  quantity TEXT NOT NULL,
  kind TEXT NOT NULL,
  limit_price TEXT,
  stop_price TEXT,
  good_till TEXT NOT NULL,
  submitted_at TEXT NOT NULL,
  expires_at TEXT,
  triggered INTEGER NOT NULL,
  status TEXT NOT NULL,
  reason TEXT,
  change INTEGER NOT NULL
) STRICT;
CREATE INDEX open_orders ON orders (number) WHERE status IN ('accepted', 'partly_filled');
CREATE INDEX order_changes ON orders (change);
CREATE TABLE fills (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  client_id TEXT NOT NULL REFERENCES orders (client_id),
  instrument TEXT NOT NULL,
  side TEXT NOT NULL,
  quantity TEXT NOT NULL,
  price TEXT NOT NULL,
  fee TEXT NOT NULL,
  filled_at TEXT NOT NULL
) STRICT;
CREATE INDEX fills_of_orders ON fills (client_id, number);
CREATE TABLE positions (
  instrument TEXT PRIMARY KEY,
  quantity TEXT NOT NULL,
  cost TEXT NOT NULL
) STRICT;
CREATE TABLE marks (
  instrument TEXT PRIMARY KEY,
  bid TEXT NOT NULL,
  ask TEXT NOT NULL,
  at TEXT NOT NULL,
  used TEXT NOT NULL
) STRICT;

-- name: account_create
INSERT INTO account VALUES (1, :cash, '0', '0', NULL, NULL, :cash, 0, 0);

-- name: account
SELECT cash, realised, fees, now, day, day_start_equity, changes, reported FROM account;

-- name: account_update
UPDATE account SET cash = ?, realised = ?, fees = ?, now = ?, day = ?, day_start_equity = ?, changes = ?;

-- name: reported
-- Remember up to which change the caller was told.
UPDATE account SET reported = ? WHERE reported < ?;

-- name: positions
SELECT instrument, quantity, cost FROM positions ORDER BY instrument;

-- name: position_put
INSERT INTO positions VALUES (?, ?, ?)
ON CONFLICT (instrument) DO UPDATE SET quantity = excluded.quantity, cost = excluded.cost;

-- name: position_remove
DELETE FROM positions WHERE instrument = ?;

-- name: marks
-- Of what is held, waited for, or about to be ordered.
SELECT instrument, bid, ask, at, used FROM marks
WHERE instrument = ? OR instrument IN (SELECT instrument FROM positions)
  OR instrument IN (SELECT instrument FROM orders WHERE status IN ('accepted', 'partly_filled'));

-- name: mark_put
INSERT INTO marks VALUES (?, ?, ?, ?, ?)
ON CONFLICT (instrument) DO UPDATE SET bid = excluded.bid, ask = excluded.ask, at = excluded.at, used = excluded.used;

-- name: order
SELECT client_id, instrument, side, quantity, kind, limit_price, stop_price, good_till, submitted_at, expires_at,
  triggered, status, reason
FROM orders WHERE client_id = ?;

-- name: open_orders
SELECT client_id, instrument, side, quantity, kind, limit_price, stop_price, good_till, submitted_at, expires_at,
  triggered, status, reason
FROM orders WHERE status IN ('accepted', 'partly_filled') ORDER BY number;

-- name: changed_orders
SELECT client_id, instrument, side, quantity, kind, limit_price, stop_price, good_till, submitted_at, expires_at,
  triggered, status, reason
FROM orders WHERE change > ? ORDER BY change;

-- name: order_put
INSERT INTO orders (client_id, instrument, side, quantity, kind, limit_price, stop_price, good_till, submitted_at,
  expires_at, triggered, status, reason, change)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (client_id) DO UPDATE SET expires_at = excluded.expires_at, triggered = excluded.triggered,
  status = excluded.status, reason = excluded.reason, change = excluded.change;

-- name: fills_of_order
SELECT id, client_id, instrument, side, quantity, price, fee, filled_at FROM fills WHERE client_id = ? ORDER BY number;

-- name: fill_add
INSERT INTO fills (id, client_id, instrument, side, quantity, price, fee, filled_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING;

-- name: fill_number
SELECT number FROM fills WHERE id = ?;

-- name: fills_after
SELECT id, client_id, instrument, side, quantity, price, fee, filled_at FROM fills WHERE number > ? ORDER BY number;
