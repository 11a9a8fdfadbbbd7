"""Looks up policies by the names that commands accept: an id, `id@version`, the hash in a receipt, or a file."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from gateway.cli.console import argument
from gateway.config.settings import Settings
from gateway.policy.files import read_policy_file
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.policy.storage import StoredPolicies
from gateway.store import open_existing_store, store_exists

# No id has any of these.
_PATH = re.compile(r"[./\\]")


@contextmanager
def open_registry(settings: Settings) -> Iterator[PolicyRegistry]:
    """Built-in policies, and the custom ones if there is a database already; none is made for a look."""
    if not store_exists(settings.data_dir, settings.postgresql):
        yield PolicyRegistry(settings.policies_dir)
        return
    with closing(open_existing_store(settings.data_dir, settings.postgresql)) as store:
        yield PolicyRegistry(settings.policies_dir, StoredPolicies(store))


def load_policy(name: str, registry: PolicyRegistry) -> Policy:
    """Loads a policy by file, id, `id@version` or hash. Raises Misused, GatewayError for what is in a file, OSError."""
    if _PATH.search(name):
        path = Path(name)
        # Says first that there is no such file.
        path.stat()
        return registry.preview(read_policy_file(path))
    with argument():
        if re.fullmatch(r"[0-9a-f]{64}", name):
            return registry.by_hash(name)
        if match := re.fullmatch(r"(.*)@([0-9]{1,9})", name):
            return registry.get(match[1], int(match[2]))
        return registry.get(name)
