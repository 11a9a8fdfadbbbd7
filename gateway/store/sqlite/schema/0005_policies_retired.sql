-- Custom policies that were retired, up to which version. Their documents stay in `policies`.

CREATE TABLE policies_retired (
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    retired_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ')),
    PRIMARY KEY (id, version)
) STRICT, WITHOUT ROWID;
