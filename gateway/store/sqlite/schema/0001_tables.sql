-- API keys. `terms` is JSON: the scopes, policies, models and quotas of a key. `keys_revision` counts changes, so that
-- other processes notice them with one small query.

CREATE TABLE keys (
    key_id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    scope TEXT NOT NULL,
    secret_hash BLOB NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    expires_at TEXT,
    terms TEXT NOT NULL
) STRICT;

CREATE TABLE keys_revision (revision INTEGER NOT NULL) STRICT;
INSERT INTO keys_revision VALUES (0);

-- The secrets that a key had before it was rotated. Each opens until it ends.

CREATE TABLE keys_previous (
    secret_hash BLOB PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES keys (key_id),
    ends_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Counts for quotas. `period` is a day or a month in UTC.

CREATE TABLE key_usage (
    key_id TEXT NOT NULL,
    period TEXT NOT NULL,
    requests INTEGER NOT NULL,
    characters INTEGER NOT NULL,
    PRIMARY KEY (key_id, period)
) STRICT, WITHOUT ROWID;

-- What keys were used for. `minute` is in UTC; `key_id` is empty for keys that are not valid.

CREATE TABLE key_calls (
    minute TEXT NOT NULL,
    key_id TEXT NOT NULL,
    call TEXT NOT NULL,
    outcome TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (minute, key_id, call, outcome)
) STRICT, WITHOUT ROWID;

-- Vault sessions. Times are Unix seconds. `sealed` opens only with the session's token, of which only the hash is
-- stored. `vault_clock` has the latest time that was noted: a session that expired by then stays expired.

CREATE TABLE vault_sessions (
    session_id TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL,
    owner TEXT NOT NULL,
    expires_at REAL NOT NULL,
    rows INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    max_values INTEGER NOT NULL,
    purged INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX vault_sessions_by_expiry ON vault_sessions (purged, expires_at);

CREATE TABLE vault_rows (
    session_id TEXT NOT NULL REFERENCES vault_sessions (session_id) ON DELETE CASCADE,
    row INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (session_id, row)
) STRICT;

CREATE TABLE vault_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    latest REAL NOT NULL
) STRICT;

-- Policy documents. `position` is the order in which they were added; a custom policy has one document for each
-- version.

CREATE TABLE policies (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    builtin INTEGER NOT NULL,
    document TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
) STRICT;

CREATE UNIQUE INDEX policies_custom ON policies (id, version) WHERE builtin = 0;

-- The receipt log. `body` is the canonical form that `hash` is taken over; `owner` is the id of the key that sent the
-- request. `kind` is `receipt` or `outcome`, or `rotation` or `pruning` for records about the log itself.

CREATE TABLE receipts (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    request_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX receipts_by_request ON receipts (request_id, kind);
CREATE INDEX receipts_by_owner ON receipts (owner, sequence) WHERE kind = 'receipt';
CREATE INDEX receipts_about_the_log ON receipts (kind, sequence) WHERE kind NOT IN ('receipt', 'outcome');

CREATE TABLE receipts_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    size INTEGER NOT NULL,
    head TEXT NOT NULL,
    checkpoint TEXT NOT NULL
) STRICT;

-- Complete subtrees of the Merkle tree over the log: `level` 1 covers 256 records each, 2 covers 65,536, and so on.

CREATE TABLE receipts_tree (
    level INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;

-- Keyed digests of the values that a receipt's request had protected. An empty digest marks a receipt that has more
-- values. Digests are random, so in one tree over all of them each would change a page of its own; those of one block
-- of 64 records are stored together. Block -1 has the mark of the key that the digests are made with.

CREATE TABLE receipts_values (
    block INTEGER NOT NULL,
    digest BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (block, digest, sequence)
) STRICT, WITHOUT ROWID;

-- Usage meters. `day` is in UTC, as in the receipts.

CREATE TABLE usage (
    day TEXT NOT NULL,
    meter TEXT NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (day, meter, name)
) STRICT, WITHOUT ROWID;
