"""Which policies there are: the built-in ones of a folder, and the custom ones of a store.

Every version ever made stays, so that the hash in a receipt can always be resolved to its document. That
includes the built-in ones: each is written to the store when it is first seen, and found there after an
update has changed the file.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from gateway.errors import Conflict, GatewayError, NotFound, Unavailable, Unprocessable
from gateway.policy.document import PolicyDocument, parse
from gateway.policy.files import read_policy_file
from gateway.policy.model import Policy
from gateway.policy.resolve import load, resolve

MAX_CUSTOM_POLICIES = 256
MAX_CUSTOM_VERSIONS = 4096
"""Of all custom policies together."""
MAX_DEPTH = 4
"""How many policies deep `extends` may reach."""

_FRESH_SECONDS = 2.0
_MISS_SECONDS = 0.2
_ATTEMPTS = 20
"""Each one lost is a version that another process has made meanwhile."""

_log = logging.getLogger(__name__)


class CustomPolicies(Protocol):
    """What the registry needs of a store. Both methods may block and are called from any thread.

    Documents are resolved ones, with `id`, `version`, `builtin` and `hash`.
    """

    def load_all(self, after: int = 0) -> Iterable[tuple[int, Mapping[str, Any]]]:
        """The documents saved since position `after`, each with its own position, oldest first."""
        ...

    def save(self, document: Mapping[str, Any]) -> bool:
        """Keeps a document for good; durable on return.

        False when nothing was kept: this hash is there already, or, of a custom policy, this id and version.
        """
        ...


class PolicyRegistry:
    """Built-in policies of `folder` (`*.toml`) and of `more`, and those of `customs`. Safe for threads.

    Raises Unprocessable when a file is no sound policy, two have one id, or `extends` runs in a circle.
    """

    def __init__(self, folder: Path, customs: CustomPolicies | None = None, *, more: Sequence[Path] = ()) -> None:
        self._customs = customs
        self._lock = threading.RLock()
        self._loading = threading.Lock()
        self._creating = asyncio.Lock()
        self._stored: set[str] = set()
        self._versions: dict[str, dict[int, Policy]] = {}
        self._latest: dict[str, Policy] = {}
        self._by_hash: dict[str, Policy] = {}
        self._builtins = _read_folders((folder, *more))
        for policy in self._builtins.values():
            self._versions[policy.id] = {policy.version: policy}
            self._latest[policy.id] = self._by_hash[policy.hash] = policy
        self._position = 0
        self._refreshed = self._missed = float("-inf")
        self._refreshing = False
        if customs is not None:
            self._load(customs)
            for policy in self._builtins.values():
                if policy.hash not in self._stored:
                    customs.save(policy.document)

    def get(self, id: str, version: int | None = None) -> Policy:
        """The newest version of a policy, or the one asked for. Raises NotFound (`policy_not_found`)."""
        policy = self._find(id, version)
        if policy is None and self._refresh_after_miss():
            policy = self._find(id, version)
        if policy is None:
            message = "There is no such policy. `GET /v1/policies` lists those there are."
            raise NotFound(message, code="policy_not_found", param="policy_id")
        if not policy.builtin:
            self._refresh_in_background()
        return policy

    def by_hash(self, hash: str, id: str | None = None) -> Policy:
        """The policy version a receipt names, where it is one of `id`. Raises NotFound (`policy_not_found`)."""
        policy = self._by_hash.get(hash)
        if policy is None and self._refresh_after_miss():
            policy = self._by_hash.get(hash)
        if policy is None or id not in (None, policy.id):
            raise NotFound("No version of a policy has this hash.", code="policy_not_found", param="hash")
        return policy

    def list(self) -> tuple[Policy, ...]:
        """The newest version of each policy: built-in ones first, then custom ones, each by id."""
        self._refresh_in_background()
        with self._lock:
            return tuple(sorted(self._latest.values(), key=lambda policy: (not policy.builtin, policy.id)))

    async def create(self, document: Mapping[str, Any]) -> Policy:
        """A new custom policy, or the next version of one; the newest version, when that says the same.

        Raises Unprocessable (the field and the reason), TooLarge, Conflict (a built-in id, or too many).
        """
        customs = self._customs
        if customs is None:
            raise Unavailable("This gateway keeps no custom policies.")
        # First, for it says most: nothing that the document says makes it right.
        if any(document.get("id") == taken for taken in self._builtins):
            raise Conflict("This is the id of a built-in policy, which cannot be taken.", param="id")
        parsed = parse(document)
        if parsed.version is not None:
            raise Unprocessable("Policy refused: version: the gateway numbers custom policies.", param="version")
        async with self._creating:
            for _ in range(_ATTEMPTS):
                # Also what another process has made meanwhile, such as the version we are about to take.
                await asyncio.to_thread(self._load, customs)
                policy, is_new = await asyncio.to_thread(self._next_version, parsed)
                if not is_new or await asyncio.to_thread(customs.save, policy.document):
                    return self._add(policy)
        raise Conflict("Others are changing this policy at the same time. Try again.")

    def preview(self, document: Mapping[str, Any]) -> Policy:
        """The policy that `document` would make, without keeping it: built-in if it has a version of its own.

        Raises Unprocessable and TooLarge.
        """
        parsed = parse(document)
        is_builtin = parsed.version is not None
        return resolve(parsed, version=parsed.version or 1, builtin=is_builtin, parent=self._parent(parsed))

    def _next_version(self, parsed: PolicyDocument) -> tuple[Policy, bool]:
        """What `parsed` makes, and whether that is new."""
        newest = self._find(parsed.id, None)
        version = newest.version + 1 if newest else 1
        policy = resolve(parsed, version=version, builtin=False, parent=self._parent(parsed))
        if newest is not None and _content(newest) == _content(policy):
            return newest, False
        with self._lock:
            customs = [len(one) for id, one in self._versions.items() if id not in self._builtins]
        if newest is None and len(customs) >= MAX_CUSTOM_POLICIES:
            raise Conflict(f"There are {MAX_CUSTOM_POLICIES} custom policies already.")
        if sum(customs) >= MAX_CUSTOM_VERSIONS:
            raise Conflict(f"There are {MAX_CUSTOM_VERSIONS} versions of custom policies already.")
        return policy, True

    def _parent(self, parsed: PolicyDocument) -> Policy | None:
        if parsed.extends is None:
            return None
        parent = self._find(parsed.extends, None)
        if parent is None:
            raise Unprocessable("Policy refused: extends: there is no such policy.", param="extends")
        if self._depth(parent) >= MAX_DEPTH:
            raise Unprocessable(f"Policy refused: extends: more than {MAX_DEPTH} policies deep.", param="extends")
        return parent

    def _depth(self, policy: Policy | None) -> int:
        depth = 0
        while policy is not None:
            depth += 1
            reference = policy.document.get("extends")
            policy = self._by_hash.get(reference["hash"]) if reference else None
        return depth

    def _find(self, id: str, version: int | None) -> Policy | None:
        with self._lock:
            return self._latest.get(id) if version is None else self._versions.get(id, {}).get(version)

    def _add(self, policy: Policy) -> Policy:
        """Keeps the first that comes under a hash, so that its compiled patterns are shared."""
        with self._lock:
            known = self._by_hash.setdefault(policy.hash, policy)
            # A built-in version number belongs to today's file; what had it before is known by its hash.
            self._versions.setdefault(policy.id, {}).setdefault(policy.version, known)
            newest = self._latest.get(policy.id)
            if policy.id not in self._builtins and (newest is None or newest.version < known.version):
                self._latest[policy.id] = known
            return known

    def _load(self, customs: CustomPolicies) -> None:
        """Takes in what is new in the store. Raises Unavailable for a document that belies its hash."""
        with self._loading:
            for position, document in customs.load_all(self._position):
                if document.get("hash") not in self._by_hash:
                    self._add(load(document))
                self._stored.add(str(document.get("hash")))
                self._position = position
            self._refreshed = time.monotonic()

    def _refresh_after_miss(self) -> bool:
        """Whether something new was found. Guessing at ids must not become a load on the store."""
        if self._customs is None or time.monotonic() - self._missed < _MISS_SECONDS:
            return False
        before = self._position
        self._load(self._customs)
        if self._position == before:
            self._missed = time.monotonic()
        return self._position > before

    def _refresh_in_background(self) -> None:
        """Another process may have made a new version: notice it soon, without a request waiting for it."""
        if self._customs is None or time.monotonic() - self._refreshed < _FRESH_SECONDS:
            return
        with self._lock:
            if self._refreshing:
                return
            self._refreshing = True
        threading.Thread(target=self._refresh, name="policies", daemon=True).start()

    def _refresh(self) -> None:
        try:
            if self._customs is not None:
                self._load(self._customs)
        except GatewayError as error:
            # What is in memory stays good; the next look tries again.
            _log.warning("custom policies could not be read again: %s", error.code)
        finally:
            self._refreshing = False


def _content(policy: Policy) -> dict[str, Any]:
    return {key: value for key, value in policy.document.items() if key not in {"version", "hash"}}


def _read_folders(folders: Iterable[Path]) -> dict[str, Policy]:
    """The built-in policies by id, each resolved over what it extends."""
    documents: dict[str, PolicyDocument] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            document = _parse_file(path)
            if document.id in documents:
                raise Unprocessable(f"{path.name}: two built-in policies have the id `{document.id}`.")
            documents[document.id] = document
    done: dict[str, Policy] = {}
    for id in documents:
        _resolve_builtin(id, documents, done, ())
    return done


def _parse_file(path: Path) -> PolicyDocument:
    try:
        return parse(read_policy_file(path))
    except Unprocessable as error:
        message = error.message if error.message.startswith(path.name) else f"{path.name}: {error.message}"
        raise Unprocessable(message, param=error.param) from None


def _resolve_builtin(
    id: str, documents: Mapping[str, PolicyDocument], done: dict[str, Policy], below: tuple[str, ...]
) -> Policy:
    if id in done:
        return done[id]
    if id in below:
        raise Unprocessable(f"`extends` runs in a circle: {' -> '.join((*below, id))}.")
    document = documents.get(id)
    if document is None:
        raise Unprocessable(f"The policy `{below[-1]}` extends `{id}`, which is no built-in policy.")
    if len(below) >= MAX_DEPTH:
        raise Unprocessable(f"`extends` is more than {MAX_DEPTH} policies deep: {' -> '.join(below)}.")
    parent = _resolve_builtin(document.extends, documents, done, (*below, id)) if document.extends else None
    done[id] = resolve(document, version=document.version or 1, builtin=True, parent=parent)
    return done[id]
