-- The latest time that was noted, in Unix seconds. A session that expired by then stays expired.

CREATE TABLE vault_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    latest REAL NOT NULL
) STRICT;
