"""Keeps the built-in policies of a folder and the custom ones of a store.

Keeps every version forever, retired ones too, so that the hash in a receipt always resolves to its document. The
registry also stores each built-in policy it loads, so that its document survives an update of the file.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gateway.errors import Conflict, GatewayError, NotFound, Unavailable, Unprocessable
from gateway.policy.document import PolicyDocument, parse
from gateway.policy.files import read_policy_file
from gateway.policy.inheritance import load, resolve
from gateway.policy.model import Policy
from gateway.policy.storage import StoredPolicies

MAX_CUSTOM_POLICIES = 256
MAX_CUSTOM_VERSIONS = 4096
"""Limit for all custom policies together."""
MAX_DEPTH = 4
"""Maximum length of a chain of `extends`."""

_FRESH_SECONDS = 1.0
_MISS_SECONDS = 0.2
_ATTEMPTS = 20
"""An attempt fails if another process creates the same version at the same time."""

_INSTALLED = "policy %s@%d is installed by %s, hash %s"
_RETIRED = "policy %s is retired up to version %d by %s"
_ANOTHER = "another process"

_log = logging.getLogger(__name__)


class PolicyRegistry:
    """The built-in policies (`*.toml`) of `folder` and `more`, and those of `customs`. Thread-safe.

    Raises Unprocessable if a file is not a valid policy, two have the same id, or `extends` is circular.
    """

    def __init__(self, folder: Path, customs: StoredPolicies | None = None, *, more: Sequence[Path] = ()) -> None:
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
        self._retired: Mapping[str, int] = {}
        self._position = 0
        self._revision: object = None
        self._refreshed = self._missed = float("-inf")
        if customs is not None:
            self._load(customs)
            for policy in self._builtins.values():
                if policy.hash not in self._stored:
                    customs.save(policy.document)

    def get(self, id: str, version: int | None = None) -> Policy:
        """Returns the given version of a policy, retired or not, or the newest, which is not retired.

        Raises NotFound (`policy_not_found`, `policy_retired`).
        """
        if id not in self._builtins:
            self._refresh()
        policy = self._find(id, version)
        if (policy is None or (version is None and self._is_retired(policy))) and self._refresh_after_miss():
            policy = self._find(id, version)
        if policy is None:
            message = "There is no such policy. `policies list` or `GET /v1/policies` shows those there are."
            raise NotFound(message, code="policy_not_found", param="policy_id")
        if version is None and self._is_retired(policy):
            message = "This policy is retired. Name another one, or have an operator install it again."
            raise NotFound(message, code="policy_retired", param="policy_id")
        return policy

    def by_hash(self, hash: str, id: str | None = None) -> Policy:
        """Returns the policy with a hash, which must belong to `id` if given. Raises NotFound (`policy_not_found`)."""
        policy = self._by_hash.get(hash)
        if policy is None and self._refresh_after_miss():
            policy = self._by_hash.get(hash)
        if policy is None or id not in (None, policy.id):
            raise NotFound(
                "No version of a policy has this hash. Copy it from `policy.hash` of a receipt.",
                code="policy_not_found",
                param="hash",
            )
        return policy

    def list(self) -> tuple[Policy, ...]:
        """Returns the newest version of each policy that is not retired.

        Built-in ones come first, then custom ones, each sorted by id.
        """
        self._refresh()
        with self._lock:
            found = [policy for policy in self._latest.values() if not self._is_retired(policy)]
        return tuple(sorted(found, key=lambda policy: (not policy.builtin, policy.id)))

    async def create(self, document: Mapping[str, Any], *, by: str = "a command") -> Policy:
        """Creates a custom policy or its next version. Returns the newest version if its content is the same.

        `by` says in the log who did. Raises Unprocessable (with field and reason), TooLarge, or Conflict (a built-in
        id, or too many policies).
        """
        customs = self._stored_customs()
        # Checked first, because no change of the other fields can fix it.
        if any(document.get("id") == taken for taken in self._builtins):
            raise Conflict("This id belongs to a built-in policy; choose another one.", param="id")
        parsed = parse(document)
        if parsed.version is not None:
            raise Unprocessable(
                "Policy refused: version: the gateway numbers custom policies; remove it.", param="version"
            )
        async with self._creating:
            for _ in range(_ATTEMPTS):
                # Another process may have created the version that this one is about to create.
                await asyncio.to_thread(self._load, customs)
                policy, is_new = await asyncio.to_thread(self._next_version, parsed)
                if not is_new:
                    return policy
                if await asyncio.to_thread(customs.save, policy.document):
                    _log.info(_INSTALLED, policy.id, policy.version, by, policy.hash)
                    return self._add(policy)
        raise Conflict("Other requests are changing this policy at the same time. Try again.")

    async def retire(self, id: str, *, needed_by: Iterable[str] = (), by: str = "a command") -> Policy:
        """Retires a custom policy, and returns its newest version. Its documents stay; its id may be used again.

        `needed_by` names what needs it besides other policies, `by` says in the log who retired it. Raises NotFound
        (`policy_not_found`, `policy_retired`), or Conflict if it is built in or needed.
        """
        customs = self._stored_customs()
        async with self._creating:
            await asyncio.to_thread(self._load, customs)
            policy = self.get(id)
            if policy.builtin:
                message = "A built-in policy cannot be retired; permit keys only other ones (`keys create --policy`)."
                raise Conflict(message, param="policy_id")
            children = (one.id for one in self.list() if one.extends is not None and one.extends.id == id)
            users = [*(f"the policy `{child}`" for child in children), *needed_by]
            if users:
                raise Conflict(f"The policy is needed by {', '.join(users)}. Change these first.", param="policy_id")
            await asyncio.to_thread(customs.retire, id, policy.version)
            _log.info(_RETIRED, id, policy.version, by)
            self._retired = {**self._retired, id: policy.version}
        return policy

    def preview(self, document: Mapping[str, Any]) -> Policy:
        """Returns the policy for `document` without storing it. It is built-in if the document has a version.

        Raises Unprocessable or TooLarge.
        """
        parsed = parse(document)
        is_builtin = parsed.version is not None
        return resolve(parsed, version=parsed.version or 1, builtin=is_builtin, parent=self._parent(parsed))

    def _next_version(self, parsed: PolicyDocument) -> tuple[Policy, bool]:
        """Resolves `parsed` as the next version. Returns the newest version and False if the content is the same."""
        newest = self._find(parsed.id, None)
        version = newest.version + 1 if newest else 1
        policy = resolve(parsed, version=version, builtin=False, parent=self._parent(parsed))
        is_in_use = newest is not None and not self._is_retired(newest)
        if newest is not None and is_in_use and _content(newest) == _content(policy):
            return newest, False
        with self._lock:
            customs = [one for one in self._latest.values() if not one.builtin]
            versions = sum(len(self._versions[one.id]) for one in customs)
        if not is_in_use and sum(not self._is_retired(one) for one in customs) >= MAX_CUSTOM_POLICIES:
            raise Conflict(
                f"The limit of {MAX_CUSTOM_POLICIES} custom policies is reached; change or retire an existing one."
            )
        if versions >= MAX_CUSTOM_VERSIONS:
            raise Conflict(
                f"The limit of {MAX_CUSTOM_VERSIONS} versions of custom policies is reached; use an existing policy."
            )
        return policy, True

    def _parent(self, parsed: PolicyDocument) -> Policy | None:
        if parsed.extends is None:
            return None
        parent = self._find(parsed.extends, None)
        if parent is None:
            raise Unprocessable("Policy refused: extends: there is no such policy.", param="extends")
        if self._is_retired(parent):
            raise Unprocessable("Policy refused: extends: this policy is retired; extend another.", param="extends")
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

    def _stored_customs(self) -> StoredPolicies:
        if self._customs is None:
            raise Unavailable("This gateway has no store for custom policies.")
        return self._customs

    def _is_retired(self, policy: Policy) -> bool:
        return not policy.builtin and policy.version <= self._retired.get(policy.id, 0)

    def _find(self, id: str, version: int | None) -> Policy | None:
        with self._lock:
            return self._latest.get(id) if version is None else self._versions.get(id, {}).get(version)

    def _add(self, policy: Policy) -> Policy:
        """Adds a policy unless its hash exists, and returns the one with that hash, to share compiled patterns."""
        with self._lock:
            known = self._by_hash.setdefault(policy.hash, policy)
            # A built-in version number means the current file. Earlier documents with it are found by their hash.
            self._versions.setdefault(policy.id, {}).setdefault(policy.version, known)
            newest = self._latest.get(policy.id)
            if policy.id not in self._builtins and (newest is None or newest.version < known.version):
                self._latest[policy.id] = known
            return known

    def _load(self, customs: StoredPolicies) -> None:
        """Loads new documents from the store, and what is retired. Raises Unavailable if one does not match its hash.

        After the start, logs what other processes have changed.
        """
        with self._loading:
            is_start, self._revision = self._revision is None, customs.revision()
            for position, document in customs.load_all(self._position):
                if document.get("hash") not in self._by_hash:
                    added = self._add(load(document))
                    if not is_start and not added.builtin:
                        _log.info(_INSTALLED, added.id, added.version, _ANOTHER, added.hash)
                self._stored.add(str(document.get("hash")))
                self._position = position
            before, self._retired = self._retired, customs.retired()
            for id, version in self._retired.items() - before.items():
                if not is_start:
                    _log.info(_RETIRED, id, version, _ANOTHER)
            self._refreshed = time.monotonic()

    def _refresh_after_miss(self) -> bool:
        """Loads new documents unless a recent miss found none, which limits the load from guessed ids.

        Returns whether there were any.
        """
        if self._customs is None or time.monotonic() - self._missed < _MISS_SECONDS:
            return False
        before = self._position
        self._load(self._customs)
        if self._position == before:
            self._missed = time.monotonic()
        return self._position > before

    def _refresh(self) -> None:
        """Checks whether another process has changed the policies, unless that was done a moment ago."""
        if self._customs is None or time.monotonic() - self._refreshed < _FRESH_SECONDS:
            return
        try:
            if self._customs.revision() != self._revision:
                self._load(self._customs)
        except GatewayError as error:
            # The policies in memory remain valid, and a later call tries again.
            _log.warning("could not reload custom policies: %s", error.code)
        self._refreshed = time.monotonic()


def _content(policy: Policy) -> dict[str, Any]:
    return {key: value for key, value in policy.document.items() if key not in {"version", "hash"}}


def _read_folders(folders: Iterable[Path]) -> dict[str, Policy]:
    """Reads and resolves the built-in policies. Returns them by id."""
    documents: dict[str, PolicyDocument] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            document = _parse_file(path)
            if document.id in documents:
                raise Unprocessable(f"{path.name}: two built-in policies have the id `{document.id}`; rename one.")
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
        raise Unprocessable(f"`extends` is circular: {' -> '.join((*below, id))}.")
    document = documents.get(id)
    if document is None:
        raise Unprocessable(f"The policy `{below[-1]}` extends `{id}`, which is not a built-in policy.")
    if len(below) >= MAX_DEPTH:
        raise Unprocessable(f"`extends` is more than {MAX_DEPTH} policies deep: {' -> '.join(below)}.")
    parent = _resolve_builtin(document.extends, documents, done, (*below, id)) if document.extends else None
    done[id] = resolve(document, version=document.version or 1, builtin=True, parent=parent)
    return done[id]
