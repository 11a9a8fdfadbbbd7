-- Records about the log itself, a `rotation` of its key or a `pruning`, stand among the receipts and outcomes.

CREATE TABLE receipts_of_any_kind (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    request_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;

INSERT INTO receipts_of_any_kind SELECT sequence, kind, request_id, owner, body, hash, signature FROM receipts;
DROP TABLE receipts;
ALTER TABLE receipts_of_any_kind RENAME TO receipts;

CREATE UNIQUE INDEX receipts_by_request ON receipts (request_id, kind);
CREATE INDEX receipts_by_owner ON receipts (owner, sequence) WHERE kind = 'receipt';
CREATE INDEX receipts_about_the_log ON receipts (kind, sequence) WHERE kind NOT IN ('receipt', 'outcome');
