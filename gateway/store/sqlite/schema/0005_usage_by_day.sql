-- `day` is in UTC, as in the receipts; empty for what was counted before this step.

ALTER TABLE usage RENAME TO usage_before;

CREATE TABLE usage (
    day TEXT NOT NULL,
    meter TEXT NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (day, meter, name)
) STRICT, WITHOUT ROWID;

INSERT INTO usage SELECT '', meter, name, count FROM usage_before;
DROP TABLE usage_before;
