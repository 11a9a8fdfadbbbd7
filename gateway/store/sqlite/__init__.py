"""The embedded backend: one SQLite file, one writer thread with group commit, a few readers on snapshots.

store                       transactions, snapshots and the life cycle of a database
writer, readers             the threads and their connections; a read-only store
connection                  opens connections
database_files              notices files that were deleted or replaced
migrations                  runs the scripts in schema/, which make the tables
repositories                the five repositories below, over one connection
keys, sessions, policies, receipts, usage
"""
# ruff: noqa: E402 - what sqlite-utils would load with it has to be hidden before any module here imports it.

import sys
from importlib import import_module

# Only to store their own types, sqlite-utils loads numpy and pandas where they are installed. That would be a tenth of
# the time that a command takes, and no process that forks may load numpy, which starts threads.
_unused: dict[str, None] = dict.fromkeys({"numpy", "pandas"} - sys.modules.keys())
sys.modules.update(_unused)  # type: ignore[arg-type]
import_module("sqlite_utils")
for _name in _unused:
    del sys.modules[_name]

from gateway.store.sqlite.connection import FILE
from gateway.store.sqlite.readers import ReadOnlyStore
from gateway.store.sqlite.repositories import Repositories
from gateway.store.sqlite.store import Store

__all__ = ["FILE", "ReadOnlyStore", "Repositories", "Store"]
