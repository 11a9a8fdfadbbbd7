"""The lock that every transaction which writes holds, in any process on any machine, so that none overlaps another."""

WRITING = 5_064_721_993_246_118_217
"""The number of the lock, chosen at random. An instance that ends, or loses its connection, leaves it."""

BEGIN_ALONE = f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_advisory_xact_lock({WRITING})".encode()
"""Begins such a transaction. Each statement after it sees what was committed before."""
BEGIN_SNAPSHOT = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
