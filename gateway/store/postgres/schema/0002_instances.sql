-- The processes that write receipts. One that ended, or has not renewed its row for a minute, has no request under way.
-- `first` is the sequence of its first record. Rows are deleted once its exchanges have an outcome.

CREATE TABLE instances (
    instance TEXT COLLATE "C" PRIMARY KEY,
    first BIGINT NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL
);

ALTER TABLE receipts ADD COLUMN instance TEXT COLLATE "C";
