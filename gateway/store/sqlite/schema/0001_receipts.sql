-- `body` is the canonical form that `hash` is taken over; `owner` is the id of the key that sent the request.

CREATE TABLE receipts (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('receipt', 'outcome')),
    request_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX receipts_by_request ON receipts (request_id, kind);
CREATE INDEX receipts_by_owner ON receipts (owner, sequence) WHERE kind = 'receipt';

CREATE TABLE receipts_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    size INTEGER NOT NULL,
    head TEXT NOT NULL,
    checkpoint TEXT NOT NULL
) STRICT;

CREATE TABLE usage (
    meter TEXT NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (meter, name)
) STRICT, WITHOUT ROWID;
