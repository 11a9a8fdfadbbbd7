-- What receipts are found by and counted with: members of a receipt and of its outcome, in one row, so that a search
-- reads no bodies. `types` and `actions` are JSON objects of counts. Nothing in it is signed.

CREATE TABLE receipts_facts (
    sequence INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    created_at TEXT,
    operation TEXT,
    policy TEXT,
    wire TEXT,
    model TEXT,
    credential TEXT,
    route TEXT,
    risk_level TEXT,
    types TEXT,
    actions TEXT,
    tokens_input INTEGER,
    outcome TEXT,
    code TEXT,
    tokens_sent INTEGER,
    reported_input INTEGER,
    reported_output INTEGER
) STRICT;

INSERT INTO receipts_facts SELECT
    sequence,
    owner,
    body ->> '$.created_at',
    body ->> '$.operation',
    body ->> '$.policy.id',
    body ->> '$.wire',
    body ->> '$.model',
    body ->> '$.credential',
    body ->> '$.route',
    body ->> '$.risk_level',
    body -> '$.entity_counts',
    body -> '$.transformation_counts',
    CAST(body ->> '$.tokens.input' AS INTEGER),
    ended ->> '$.outcome',
    ended ->> '$.code',
    CAST(ended ->> '$.tokens_sent' AS INTEGER),
    CAST(ended ->> '$.tokens.input' AS INTEGER),
    CAST(ended ->> '$.tokens.output' AS INTEGER)
FROM (
    -- Someone may have changed a body from outside: one that is no JSON has no members.
    SELECT
        receipt.sequence,
        receipt.owner,
        CASE WHEN json_valid(receipt.body) THEN receipt.body END AS body,
        CASE WHEN json_valid(outcome.body) THEN outcome.body END AS ended
    FROM receipts AS receipt
    LEFT JOIN receipts AS outcome ON outcome.request_id = receipt.request_id AND outcome.kind = 'outcome'
    WHERE receipt.kind = 'receipt'
);

CREATE INDEX receipts_facts_by_time ON receipts_facts (created_at);
CREATE INDEX receipts_facts_by_owner ON receipts_facts (owner, created_at);
