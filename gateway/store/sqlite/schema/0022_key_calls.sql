-- What keys were used for. `minute` is in UTC; `key_id` is empty for keys that are not valid.

CREATE TABLE key_calls (
    minute TEXT NOT NULL,
    key_id TEXT NOT NULL,
    call TEXT NOT NULL,
    outcome TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (minute, key_id, call, outcome)
) STRICT, WITHOUT ROWID;
