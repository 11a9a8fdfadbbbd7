-- `terms` is JSON: the scopes, policies, models and quotas of a key. `period` is a day or a month in UTC.

ALTER TABLE keys ADD COLUMN expires_at TEXT;
ALTER TABLE keys ADD COLUMN terms TEXT NOT NULL DEFAULT '{}';

CREATE TABLE key_usage (
    key_id TEXT NOT NULL,
    period TEXT NOT NULL,
    requests INTEGER NOT NULL,
    characters INTEGER NOT NULL,
    PRIMARY KEY (key_id, period)
) STRICT, WITHOUT ROWID;
