"""Keeps policy documents in the store.

Documents are only ever added. There may be several documents of one version of a built-in policy, since its file can
change with an update; of a custom policy there is one document for each version.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from gateway.errors import Unavailable
from gateway.store import Store
from gateway.store.rows import PolicyRow

_TIMEOUT_SECONDS = 30.0


class StoredPolicies:
    """Keeps documents in the store, which several processes may share. Both methods may block and are thread-safe.

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
        try:
            return self._store.submit(lambda repositories: repositories.policies.add(row)).result(_TIMEOUT_SECONDS)
        except TimeoutError:
            raise Unavailable("The store did not answer in time. Try again shortly.") from None
