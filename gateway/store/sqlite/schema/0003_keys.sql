-- `keys_revision` counts changes, so that other processes notice them with one small query.

CREATE TABLE keys (
    key_id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    scope TEXT NOT NULL,
    secret_hash BLOB NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    revoked_at TEXT
) STRICT;

CREATE TABLE keys_revision (revision INTEGER NOT NULL) STRICT;
INSERT INTO keys_revision VALUES (0);
