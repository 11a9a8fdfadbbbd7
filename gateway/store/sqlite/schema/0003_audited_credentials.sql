-- The audit of keys also has the digest of the provider's credential, and the id of the last request of each entry.

ALTER TABLE key_calls RENAME TO key_calls_before;

CREATE TABLE key_calls (
    minute TEXT NOT NULL,
    key_id TEXT NOT NULL,
    call TEXT NOT NULL,
    outcome TEXT NOT NULL,
    count INTEGER NOT NULL,
    credential TEXT NOT NULL,
    request_id TEXT NOT NULL,
    PRIMARY KEY (minute, key_id, call, outcome, credential)
) STRICT, WITHOUT ROWID;

INSERT INTO key_calls SELECT minute, key_id, call, outcome, count, '', '' FROM key_calls_before;
DROP TABLE key_calls_before;
