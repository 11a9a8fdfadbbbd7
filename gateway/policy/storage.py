"""Keeps policy documents in the store, and which policies are retired.

Documents are only ever added. There may be several documents of one version of a built-in policy, since its file can
change with an update; of a custom policy there is one document for each version.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from gateway.errors import Unavailable
from gateway.store import Repositories, Store
from gateway.store.rows import PolicyRow

_TIMEOUT_SECONDS = 30.0


class StoredPolicies:
    """Keeps documents in the store, which several processes may share. All methods may block and are thread-safe.

    Documents are resolved and have `id`, `version`, `builtin` and `hash`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def load_all(self, after: int = 0) -> Iterable[tuple[int, Mapping[str, Any]]]:
        """Returns the documents saved after position `after` with their positions, oldest first."""
        rows = self._store.read_now(lambda repositories: repositories.policies.after(after))
        return [(position, orjson.loads(document)) for position, document in rows]

    def save(self, document: Mapping[str, Any]) -> bool:
        """Stores a document permanently and durably.

        Returns False if the hash exists already or, for a custom policy, its id and version.
        """
        members = (document["id"], document["version"], document["hash"], bool(document["builtin"]))
        row = PolicyRow(*members, orjson.dumps(dict(document)).decode())
        return self._write(lambda repositories: repositories.policies.add(row))

    def retire(self, id: str, version: int) -> None:
        """Marks the versions of a custom policy up to `version` as retired, permanently and durably."""
        self._write(lambda repositories: repositories.policies.retire(id, version))

    def retired(self) -> Mapping[str, int]:
        """Returns the last retired version of each policy that was ever retired."""
        return self._store.read_now(lambda repositories: repositories.policies.retired())

    def revision(self) -> object:
        """Returns what is equal as long as nothing has changed. Takes microseconds."""
        return self._store.read_now(lambda repositories: repositories.policies.revision())

    def _write[T](self, work: Callable[[Repositories], T]) -> T:
        try:
            return self._store.submit(work).result(_TIMEOUT_SECONDS)
        except TimeoutError:
            raise Unavailable("The store did not answer in time. Try again shortly.") from None
