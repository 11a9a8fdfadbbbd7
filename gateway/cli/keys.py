"""`run_proxy.py keys create | list | revoke`: manages the API keys in the store."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.auth.api_keys import KeyRecord, KeyRing
from gateway.cli.console import AddFolders, Loader, Subparsers, print_error, print_json
from gateway.config.settings import Settings
from gateway.errors import GatewayError
from gateway.models import Scope
from gateway.store import open_store


def add_commands(commands: Subparsers, add_folders: AddFolders, load: Loader) -> None:
    """Registers `keys`."""
    keys = commands.add_parser("keys", help="create, list and revoke API keys of the gateway")
    actions = keys.add_subparsers(title="actions", required=True, metavar="ACTION")

    create = actions.add_parser("create", help="create a key and show it once")
    create.add_argument("label", help="name for the key, such as who or what uses it")
    create.add_argument("--scope", choices=[scope.value for scope in Scope], default=Scope.CLIENT.value)
    _set_action(create, add_folders, load, _create)

    _set_action(actions.add_parser("list", help="list all keys, without their secrets"), add_folders, load, _list)

    revoke = actions.add_parser("revoke", help="revoke a key, immediately and permanently")
    revoke.add_argument("key_id")
    _set_action(revoke, add_folders, load, _revoke)


def _set_action(
    parser: argparse.ArgumentParser,
    add_folders: AddFolders,
    load: Loader,
    action: Callable[[KeyRing, argparse.Namespace], Awaitable[None]],
) -> None:
    add_folders(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")

    def run(options: argparse.Namespace) -> int:
        return asyncio.run(_with_keys(load(options), action, options))

    parser.set_defaults(run=run)


async def _with_keys(
    settings: Settings,
    action: Callable[[KeyRing, argparse.Namespace], Awaitable[None]],
    options: argparse.Namespace,
) -> int:
    store = open_store(settings.make_data_dir())
    try:
        keys = KeyRing(store)
        await keys.load()
        await action(keys, options)
    except GatewayError as error:
        print_error(error.message, error.code, error.param, as_json=options.json)
        return 1
    finally:
        store.close()
    return 0


async def _create(keys: KeyRing, options: argparse.Namespace) -> None:
    secret, record = await keys.create(options.label, Scope(options.scope))
    if options.json:
        print_json({**_key_json(record), "key": secret})
    else:
        print(f"{record.key_id} ({record.scope}), shown this once:\n{secret}")


async def _list(keys: KeyRing, options: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = [_key_json(record) for record in await keys.list()]
    if options.json:
        print_json(rows)
        return
    names = ("Key", "Label", "Scope", "Created", "Revoked")
    columns = (Column(name, no_wrap=name != "Label", overflow="fold") for name in names)
    table = Table(*columns, box=None, padding=(0, 1, 0, 0))
    for row in rows:
        dates = (str(row[name] or "")[:10] for name in ("created_at", "revoked_at"))
        table.add_row(row["key_id"], Text(row["label"]), row["scope"], *dates)
    Console().print(table)


async def _revoke(keys: KeyRing, options: argparse.Namespace) -> None:
    await keys.revoke(options.key_id)
    if options.json:
        print_json({"key_id": options.key_id, "revoked": True})
    else:
        print(f"{options.key_id} is revoked.")


def _key_json(record: KeyRecord) -> dict[str, Any]:
    """Converts a record to JSON types; times as RFC 3339 in UTC."""
    times = {"created_at": record.created_at, "revoked_at": record.revoked_at}
    written = {name: time and time.isoformat().replace("+00:00", "Z") for name, time in times.items()}
    return {**asdict(record), **written}
