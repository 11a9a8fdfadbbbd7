-- Values that callers have left in clear (keyed digests) or hidden (sealed). `owner` is the id of a key, empty for everyone.

CREATE TABLE corrections (
    correction_id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    created_at TEXT NOT NULL,
    content BLOB NOT NULL
) STRICT;

-- One row: the key of the corrections, wrapped, and a MAC over all rows. `revision` counts changes, so that other
-- processes notice them with one small query.

CREATE TABLE corrections_head (
    revision INTEGER NOT NULL,
    wrapped BLOB,
    previous BLOB,
    mac BLOB
) STRICT;
INSERT INTO corrections_head VALUES (0, NULL, NULL, NULL);
