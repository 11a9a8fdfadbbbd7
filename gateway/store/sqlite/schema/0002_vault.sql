-- Times are Unix seconds. `sealed` opens only with the session's token, of which only the hash is stored.

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
