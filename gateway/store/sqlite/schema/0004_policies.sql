-- `position` is the order in which documents were added; a custom policy has one document for each version.

CREATE TABLE IF NOT EXISTS policies (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    builtin INTEGER NOT NULL,
    document TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
) STRICT;

CREATE UNIQUE INDEX IF NOT EXISTS policies_custom ON policies (id, version) WHERE builtin = 0;
