"""Policy documents."""

from gateway.store.postgres.statements import Statements
from gateway.store.rows import PolicyRow

_COLUMNS = ", ".join(PolicyRow._fields)
_INSERT = (
    f"INSERT INTO policies ({_COLUMNS}) VALUES ({', '.join(['%s'] * len(PolicyRow._fields))}) ON CONFLICT DO NOTHING"
)


class Policies:
    """See `interfaces`."""

    def __init__(self, statements: Statements) -> None:
        self._db = statements

    def add(self, policy: PolicyRow) -> bool:
        return self._db.run(_INSERT, policy).rowcount == 1

    def after(self, position: int) -> list[tuple[int, str]]:
        query = "SELECT position, document FROM policies WHERE position > %s ORDER BY position"
        return [(position, document) for position, document in self._db.run(query, [position])]

    def retire(self, id: str, version: int) -> None:
        self._db.run("INSERT INTO policies_retired (id, version) VALUES (%s, %s) ON CONFLICT DO NOTHING", [id, version])

    def retired(self) -> dict[str, int]:
        query = "SELECT id, max(version) FROM policies_retired GROUP BY id"
        return dict(self._db.run(query).fetchall())

    def revision(self) -> tuple[int, int]:
        query = "SELECT (SELECT coalesce(max(position), 0) FROM policies), (SELECT count(*) FROM policies_retired)"
        position, retired = self._db.run(query).fetchall()[0]
        return position, retired

    def by_hash(self, hash: str) -> str | None:
        found = self._db.value("SELECT document FROM policies WHERE hash = %s", [hash])
        return None if found is None else str(found)
