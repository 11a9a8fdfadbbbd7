"""`run_proxy.py policies install FILE | retire ID`: changes the policies in the store."""

import argparse
import asyncio
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from gateway.auth.api_keys import KeyRing, users_of
from gateway.cli.console import CommandLine, Subparsers, argument, report
from gateway.cli.store_commands import open_kept_store, open_new_store
from gateway.config.settings import Settings
from gateway.policy.files import read_policy_file
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.policy.storage import StoredPolicies


def add_changes(line: CommandLine, actions: Subparsers) -> None:
    """Registers `install` and `retire` among the actions of `policies`."""
    install = actions.add_parser("install", help="make a policy file, or its next version, usable by name")
    install.add_argument("file", metavar="FILE", type=Path, help="TOML or JSON")
    line.finish(install, install_policy)

    retire = actions.add_parser("retire", help="refuse a custom policy from now on; receipts still lead to it")
    retire.add_argument("policy_id", metavar="ID")
    line.finish(retire, retire_policy)


def install_policy(settings: Settings, options: argparse.Namespace) -> int:
    """Installs a policy file. Prints the version and hash that it got; a running gateway has it within a second."""
    document = read_policy_file(options.file)
    with closing(open_new_store(settings)) as store:
        registry = PolicyRegistry(settings.policies_dir, StoredPolicies(store))
        before = {policy.hash for policy in registry.list()}
        made = asyncio.run(registry.create(document))
    is_new = made.hash not in before
    done = "installed" if is_new else "installed already"
    return report(
        options, {**_ref(made), "installed": is_new}, f"{made.id}@{made.version} is {done}.\nHash {made.hash}"
    )


def retire_policy(settings: Settings, options: argparse.Namespace) -> int:
    """Retires a custom policy. A running gateway refuses it within a second."""

    async def retired(registry: PolicyRegistry, keys: KeyRing) -> Policy:
        needed_by = await users_of(options.policy_id, keys, settings.default_policy)
        return await registry.retire(options.policy_id, needed_by=needed_by)

    with closing(open_kept_store(settings)) as store, argument():
        registry = PolicyRegistry(settings.policies_dir, StoredPolicies(store))
        policy = asyncio.run(retired(registry, KeyRing(store)))
    text = f"{policy.id}@{policy.version} is retired, with all earlier versions. Receipts still lead to them."
    return report(options, {**_ref(policy), "retired": True}, text)


def _ref(policy: Policy) -> dict[str, object]:
    return asdict(policy.ref)
