"""The embedded backend: one SQLite file, one writer thread with group commit, a few readers on snapshots.

store, read_only            implement the interfaces
writer, readers             the threads and their connections
connection                  opens connections
database_files              notices deleted files, and restores a deleted write-ahead log
migrations                  runs the scripts in schema/, which make the tables
repositories                the five repositories below, over one connection
keys, sessions, policies, receipts, usage
"""

from gateway.store.sqlite.connection import FILE
from gateway.store.sqlite.read_only import SqliteReadOnlyStore
from gateway.store.sqlite.store import SqliteStore

__all__ = ["FILE", "SqliteReadOnlyStore", "SqliteStore"]
