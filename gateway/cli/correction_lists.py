"""The commands `allow` and `deny`. Values come from standard input or a file: arguments show in process lists."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.auth.api_keys import KeyRing
from gateway.cli.console import CommandLine, argument, print_json, read_text, report
from gateway.cli.store_commands import open_kept_store
from gateway.config.installation_key import FILE as INSTALLATION_KEY
from gateway.config.installation_key import installation_key, rotate_installation_key
from gateway.config.settings import Settings
from gateway.corrections.given import NONE, check_type, check_visible
from gateway.corrections.lists import Corrections
from gateway.corrections.stored import EVERYONE, MOST_ENTRIES, POLL_SECONDS, Kind, StoredCorrections
from gateway.errors import BadRequest, NotFound, Unavailable, Unprocessable
from gateway.policy.known_types import unusable
from gateway.policy.registry import PolicyRegistry
from gateway.policy.storage import StoredPolicies
from gateway.store import Store, store_exists

type ListAction = Callable[[Settings, Store, StoredCorrections, argparse.Namespace], Awaitable[int]]

_LARGEST_FILE = 1 << 20
# The key in the environment is in no store.
_FROM_ENVIRONMENT = "key_environment"


def add_list(line: CommandLine, kind: Kind, help: str) -> None:
    """Registers the actions of one kind of list."""
    actions = line.add_group(kind, help)

    def finish(parser: argparse.ArgumentParser, action: ListAction, *, waits: bool = True) -> None:
        parser.set_defaults(kind=kind)
        line.finish(parser, lambda settings, options: asyncio.run(_with_lists(settings, options, action, waits)))

    add = actions.add_parser("add", help="add values, one on each line; they hold from the next request on")
    _add_values(add)
    add_owner(add)
    if kind == "deny":
        add.add_argument("--type", required=True, help="as which type they are hidden: PERSON, PROJECT, …")
    else:
        add.add_argument("--type", help="allow them as this type only (default: as any that the policy lets be)")
    finish(add, _add)

    show = actions.add_parser("list", help="list the entries, without their values")
    finish(show, _list, waits=False)

    remove = actions.add_parser("remove", help="remove values, given again or by the ids of their entries")
    _add_values(remove, nargs="?")
    remove.add_argument("--id", action="append", default=[], metavar="ID", help="id of an entry (repeatable)")
    remove.add_argument("--type", help="only entries of this type")
    add_owner(remove)
    finish(remove, _remove)

    if kind == "allow":
        reset = actions.add_parser("reset", help="delete all allow and deny lists, also those that do not verify")
        finish(reset, _reset)


def _add_values(parser: argparse.ArgumentParser, **options: Any) -> None:
    parser.add_argument("file", metavar="FILE|-", help="file with a value on each line; - is standard input", **options)


def add_owner(parser: argparse.ArgumentParser) -> None:
    """Adds the option that says whose lists are meant."""
    parser.add_argument("--for", dest="owner", default=EVERYONE, metavar="KEY_ID", help="one key (default: everyone)")


async def _with_lists(settings: Settings, options: argparse.Namespace, action: ListAction, waits: bool) -> int:
    with _opened(settings) as (store, lists):
        status = await action(settings, store, lists, options)
    if waits:
        # From here on, a running gateway has noticed the change.
        await asyncio.sleep(POLL_SECONDS)
    return status


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[Store, StoredCorrections]]:
    with closing(open_kept_store(settings)) as store:
        yield store, StoredCorrections(store, installation_key(settings))


async def _add(settings: Settings, store: Store, lists: StoredCorrections, options: argparse.Namespace) -> int:
    with argument():
        type = check_type(options.type, "--type") if options.type else ""
        if type and options.kind == "allow":
            _check_allowed_type(settings, store, type)
        values = _values(options.file)
        await _check_owner(store, options.owner)
    added = await lists.add(options.owner, options.kind, values, type)
    whose = options.owner or "everyone"
    limit = ", as far as the policy has it in `may_allow`" if options.kind == "allow" else ""
    text = f"{added} added to the {options.kind} list of {whose}; this holds from the next request on{limit}."
    return report(options, {"added": added, "for": options.owner or None}, text)


async def _list(_: Settings, __: Store, lists: StoredCorrections, options: argparse.Namespace) -> int:
    entries = await lists.entries(options.kind)
    rows = [
        {
            "id": each.correction_id,
            "for": each.owner or None,
            "type": each.type or None,
            "created_at": each.created_at,
        }
        for each in entries
    ]
    if options.json:
        print_json({"object": "list", "data": rows, "total": len(rows)})
        return 0
    table = Table(*(Column(name, no_wrap=True) for name in ("Id", "For", "Type", "Added (UTC)")), box=None)
    for row in rows:
        cells = (row["id"], row["for"] or "everyone", row["type"] or "any", row["created_at"])
        table.add_row(*(Text(str(cell)) for cell in cells))
    console = Console()
    if rows:
        console.print(table)
    console.print(f"{len(rows)} in all", highlight=False)
    return 0


async def _remove(_: Settings, __: Store, lists: StoredCorrections, options: argparse.Namespace) -> int:
    with argument():
        type = check_type(options.type, "--type") if options.type else None
        if (options.file is None) == (not options.id):
            raise BadRequest("Give either FILE|- with the values, or --id.", param="file")
        values = [] if options.file is None else _values(options.file)
    if options.id:
        removed = await lists.remove_ids(options.id, options.kind)
    else:
        removed = await lists.remove(options.owner, options.kind, values, type)
    if not removed:
        raise NotFound(f"There is no such entry. `{options.kind} list` shows those there are.")
    return report(options, {"removed": removed}, f"{removed} removed; this holds from the next request on.")


async def _reset(_: Settings, __: Store, lists: StoredCorrections, options: argparse.Namespace) -> int:
    await lists.reset()
    return report(options, {"reset": True}, "All allow and deny lists are deleted.")


def _values(file: str) -> list[str]:
    """Returns the values in a file or on standard input, each checked. Raises BadRequest, Unprocessable, OSError."""
    text = read_text(file, "values", _LARGEST_FILE + 1)
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not 0 < len(lines) <= MOST_ENTRIES:
        raise BadRequest(f"Give from 1 to {MOST_ENTRIES} values, one on each line.", param="file")
    return [check_visible(line, f"line {number}") for number, line in lines]


def _check_allowed_type(settings: Settings, store: Store, type: str) -> None:
    """Raises Unprocessable for a type as which nothing is ever left in clear."""
    policies = PolicyRegistry(settings.policies_dir, StoredPolicies(store)).list()
    if (reason := unusable(type, policies)) is not None:
        raise Unprocessable(f"`--type` cannot be used: {reason}.", param="--type")


async def _check_owner(store: Store, owner: str) -> None:
    """Raises NotFound unless the lists are for everyone or for a key that is not revoked."""
    active = {key.key_id for key in await KeyRing(store).list() if key.active}
    if owner not in {EVERYONE, _FROM_ENVIRONMENT, *active}:
        raise NotFound("There is no such key, or it is revoked. `keys list` shows all.", param="for")


def stored_corrections(settings: Settings, owner: str) -> Corrections | None:
    """Returns what the lists of a key, or of everyone, correct in its requests; None for nothing. Changes nothing.

    Raises NotFound for an unknown key, and Unavailable for lists that do not verify.
    """
    has_key = settings.installation_key is not None or (settings.data_dir / INSTALLATION_KEY).exists()
    if not (has_key and store_exists(settings.data_dir, settings.postgresql)):
        return None
    with _opened(settings) as (store, lists):
        asyncio.run(_check_owner(store, owner))
        held = lists.of(owner)
    return Corrections(NONE, held) if held else None


async def forget_corrections(settings: Settings, key_id: str) -> None:
    """Deletes the lists of a key that is revoked, if it has any that verify. Without the key they have no effect."""
    with closing(open_kept_store(settings)) as store, suppress(Unavailable):
        if any(row.owner == key_id for row in await store.read(lambda stored: stored.corrections.all())):
            await StoredCorrections(store, installation_key(settings)).forget(key_id)


def rotate_with_corrections(settings: Settings) -> None:
    """Replaces the installation key. The lists stay: their own key is wrapped under the new one."""
    if not (store_exists(settings.data_dir, settings.postgresql) and (settings.data_dir / INSTALLATION_KEY).exists()):
        rotate_installation_key(settings)
        return
    with _opened(settings) as (_, lists):
        new: list[bytes] = []

        def prepare(key: bytes) -> None:
            new.append(key)
            asyncio.run(lists.rewrap(key, done=False))

        rotate_installation_key(settings, prepare)
        asyncio.run(lists.rewrap(new[0], done=True))
