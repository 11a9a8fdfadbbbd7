"""The backend for several machines: a PostgreSQL server, over psycopg 3. docs/decisions/postgresql.md says why so.

store                       transactions, snapshots and the life cycle of a database
writer, readers, lock       one connection that writes, alone among all processes; a pool that reads snapshots
connection                  opens connections, and refuses servers without the settings that the guarantees rest on
migrations                  runs the scripts in schema/, which make the tables
repositories                the repositories, over one connection; statements runs what they ask for
"""

from gateway.store.postgres.readers import ReadOnlyStore
from gateway.store.postgres.store import Store, database_exists

__all__ = ["ReadOnlyStore", "Store", "database_exists"]
