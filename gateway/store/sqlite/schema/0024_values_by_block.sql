-- Digests are random, so in one tree over all of them each would change a page of its own. Here, those of one block of
-- 1024 records stand together. Block -1 has the mark of the key.

CREATE TABLE receipts_values_by_block (
    block INTEGER NOT NULL,
    digest BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (block, digest, sequence)
) STRICT, WITHOUT ROWID;

INSERT INTO receipts_values_by_block
SELECT CASE sequence WHEN 0 THEN -1 ELSE sequence >> 10 END, digest, sequence FROM receipts_values ORDER BY 1, 2, 3;
DROP TABLE receipts_values;
ALTER TABLE receipts_values_by_block RENAME TO receipts_values;
