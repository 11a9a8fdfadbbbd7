"""Policies made for a test, in as few words as possible."""

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.policy.storage import StoredPolicies

ROOT = Path(__file__).resolve().parents[3]
BUILTINS = ROOT / "policies"
VECTORS = ROOT / "tests" / "vectors" / "policies"


_BUILTIN = PolicyRegistry(BUILTINS)


def registry(customs: StoredPolicies | None = None) -> PolicyRegistry:
    """The built-in policies, and what `customs` has."""
    return PolicyRegistry(BUILTINS, customs)


def policy(**fields: Any) -> Policy:
    """A policy of these fields, kept nowhere."""
    return _BUILTIN.preview({"id": "acme", "title": "Acme", **fields})


def document(**fields: Any) -> Mapping[str, Any]:
    return {"id": "acme", "title": "Acme", **fields}


class MemoryPolicies(StoredPolicies):
    """Keeps documents for the lifetime of the process."""

    def __init__(self) -> None:
        self._documents: list[bytes] = []
        self._taken: set[object] = set()
        self._retired: dict[str, int] = {}
        self._lock = threading.Lock()

    def load_all(self, after: int = 0) -> Iterable[tuple[int, Mapping[str, Any]]]:
        with self._lock:
            rows = self._documents[after:]
        return [(after + number, orjson.loads(row)) for number, row in enumerate(rows, 1)]

    def save(self, document: Mapping[str, Any]) -> bool:
        keys = {document["hash"]} if document["builtin"] else {document["hash"], (document["id"], document["version"])}
        with self._lock:
            if keys & self._taken:
                return False
            self._taken |= keys
            self._documents.append(orjson.dumps(dict(document)))
            return True

    def retire(self, id: str, version: int) -> None:
        self._retired[id] = max(version, self._retired.get(id, 0))

    def retired(self) -> Mapping[str, int]:
        return dict(self._retired)

    def revision(self) -> object:
        return len(self._documents), dict(self._retired)
