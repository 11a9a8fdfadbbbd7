-- The secrets that a key had before it was rotated. Each opens until it ends.

CREATE TABLE keys_previous (
    secret_hash BLOB PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES keys (key_id),
    ends_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
