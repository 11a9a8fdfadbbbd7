-- The tables of gateway/store/sqlite/schema/, which says what they are for. Times and ids are compared byte by byte, so
-- every text has the collation "C".

CREATE TABLE keys (
    position BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    key_id TEXT COLLATE "C" PRIMARY KEY,
    label TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    secret_hash BYTEA NOT NULL UNIQUE,
    created_at TEXT COLLATE "C" NOT NULL,
    revoked_at TEXT COLLATE "C",
    expires_at TEXT COLLATE "C",
    terms TEXT COLLATE "C" NOT NULL
);

CREATE TABLE keys_revision (revision BIGINT NOT NULL);
INSERT INTO keys_revision VALUES (0);

CREATE TABLE keys_previous (
    secret_hash BYTEA PRIMARY KEY,
    key_id TEXT COLLATE "C" NOT NULL REFERENCES keys (key_id),
    ends_at TEXT COLLATE "C" NOT NULL
);

CREATE TABLE key_usage (
    key_id TEXT COLLATE "C" NOT NULL,
    period TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL,
    characters BIGINT NOT NULL,
    PRIMARY KEY (key_id, period)
);

CREATE TABLE key_calls (
    minute TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    call TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    credential TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (minute, key_id, call, outcome, credential)
);

CREATE TABLE vault_sessions (
    session_id TEXT COLLATE "C" PRIMARY KEY,
    token_hash BYTEA NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    rows BIGINT NOT NULL DEFAULT 0,
    held BIGINT NOT NULL DEFAULT 0,
    max_values BIGINT NOT NULL,
    purged BOOLEAN NOT NULL DEFAULT false
);

CREATE INDEX vault_sessions_by_expiry ON vault_sessions (purged, expires_at);

CREATE TABLE vault_rows (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES vault_sessions (session_id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    sealed BYTEA NOT NULL,
    PRIMARY KEY (session_id, number)
);

CREATE TABLE vault_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    latest DOUBLE PRECISION NOT NULL
);

CREATE TABLE policies (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL UNIQUE,
    builtin BOOLEAN NOT NULL,
    document TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX policies_custom ON policies (id, version) WHERE NOT builtin;

CREATE TABLE policies_retired (
    id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    retired_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (id, version)
);

CREATE TABLE receipts (
    sequence BIGINT PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    signature TEXT COLLATE "C" NOT NULL
);

CREATE UNIQUE INDEX receipts_by_request ON receipts (request_id, kind);
CREATE INDEX receipts_by_owner ON receipts (owner, sequence) WHERE kind = 'receipt';
CREATE INDEX receipts_about_the_log ON receipts (kind, sequence) WHERE kind NOT IN ('receipt', 'outcome');

CREATE TABLE receipts_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    size BIGINT NOT NULL,
    head TEXT COLLATE "C" NOT NULL,
    checkpoint TEXT COLLATE "C" NOT NULL
);

CREATE TABLE receipts_tree (
    level BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    PRIMARY KEY (level, number)
);

CREATE TABLE receipts_values (
    block BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    sequence BIGINT NOT NULL,
    PRIMARY KEY (block, digest, sequence)
);

CREATE TABLE receipts_facts (
    sequence BIGINT PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C",
    operation TEXT COLLATE "C",
    policy TEXT COLLATE "C",
    wire TEXT COLLATE "C",
    model TEXT COLLATE "C",
    credential TEXT COLLATE "C",
    route TEXT COLLATE "C",
    risk_level TEXT COLLATE "C",
    types TEXT COLLATE "C",
    actions TEXT COLLATE "C",
    tokens_input BIGINT,
    outcome TEXT COLLATE "C",
    code TEXT COLLATE "C",
    tokens_sent BIGINT,
    reported_input BIGINT,
    reported_output BIGINT
);

CREATE INDEX receipts_facts_by_time ON receipts_facts (created_at);
CREATE INDEX receipts_facts_by_owner ON receipts_facts (owner, created_at);

CREATE TABLE usage (
    day TEXT COLLATE "C" NOT NULL,
    meter TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (day, meter, name)
);

CREATE TABLE corrections (
    correction_id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL
);

CREATE TABLE corrections_head (
    revision BIGINT NOT NULL,
    wrapped BYTEA,
    previous BYTEA,
    mac BYTEA
);
INSERT INTO corrections_head VALUES (0, NULL, NULL, NULL);

-- Sealed values of sessions that ended are vacuumed soon, however large the table is.
ALTER TABLE vault_rows SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
