-- Keyed digests of the values that a receipt's request had protected. An empty digest says that there are receipts, up
-- to this sequence, that have more values; sequence 0 has the mark of the key that the digests are made with.

CREATE TABLE receipts_values (
    digest BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (digest, sequence)
) STRICT, WITHOUT ROWID;

CREATE INDEX receipts_values_by_sequence ON receipts_values (sequence);
