-- Complete subtrees of the Merkle tree over the log: `level` 1 covers 256 records each, 2 covers 65,536, and so on.

CREATE TABLE receipts_tree (
    level INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;
