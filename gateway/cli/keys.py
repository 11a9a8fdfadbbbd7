"""`run_proxy.py keys create | list | rotate | audit | digest | revoke`: manages the API keys in the store."""

import argparse
import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.auth.api_keys import KeyRecord, KeyRing
from gateway.auth.credential_digests import LONGEST_CREDENTIAL, CredentialDigests
from gateway.auth.key_audit import read_uses
from gateway.auth.key_permissions import grant_of, scope_words
from gateway.auth.quotas import quota_words
from gateway.cli.console import CommandLine, add_page, argument, flush_output, print_json, read_hidden, report
from gateway.cli.correction_lists import forget_corrections, rotate_with_corrections
from gateway.cli.filter_options import add_filters, described, read_filter
from gateway.cli.policy_lookup import open_registry
from gateway.cli.receipt_log import open_log
from gateway.cli.store_commands import finish_reader, open_kept_store, open_new_store
from gateway.config.installation_key import installation_key
from gateway.config.settings import Settings, SettingsError
from gateway.errors import Unprocessable
from gateway.models import Grant, Scope
from gateway.receipt_log.signing_key import rotate_signing_key
from gateway.store import ReadOnlyStore
from gateway.wires.base import Wires

type KeyAction = Callable[[KeyRing, argparse.Namespace, Settings], Awaitable[None]]

_INSTALLATION = "installation"
_OVERLAP = timedelta(days=1)


def add_commands(line: CommandLine) -> None:
    """Registers `keys`."""
    actions = line.add_group("keys", "create, list, rotate, audit and revoke API keys of the gateway")

    def finish(parser: argparse.ArgumentParser, action: KeyAction) -> None:
        line.finish(parser, lambda settings, options: asyncio.run(_with_keys(settings, action, options)))

    create = actions.add_parser("create", help="create a key and show it once")
    create.add_argument("label", help="name for the key, such as who or what uses it")
    scopes = ", ".join(scope.value for scope in Scope)
    create.add_argument("--scope", action="append", help=f"what it permits: {scopes} (default: client); repeatable")
    create.add_argument("--expires", type=_lifetime, metavar="TIME", help="lifetime, such as 12h, 90d or 4w")
    create.add_argument("--policy", action="append", help="a policy that it permits (default: all); repeatable")
    create.add_argument("--model", action="append", help="a model that it permits, such as gpt-*; repeatable")
    upstream = "an upstream whose AWS credentials sign its requests (default: none); repeatable"
    create.add_argument("--aws-upstream", action="append", metavar="NAME", help=upstream)
    quota = "such as requests=1000/day or characters=2000000/month; repeatable"
    create.add_argument("--quota", action="append", help=quota)
    finish(create, _create)

    finish(actions.add_parser("list", help="list all keys, without their secrets"), _list)

    rotate = actions.add_parser("rotate", help="give a key a new secret, or replace a key of the installation")
    which = rotate.add_mutually_exclusive_group(required=True)
    which.add_argument("key_id", metavar="KEY_ID|installation", nargs="?")
    which.add_argument("--signing", action="store_true", help="replace the key that signs receipts")
    overlap = "how long the previous secret of an API key still opens, such as 7d; 0h: a second at most (default: 24h)"
    rotate.add_argument("--overlap", type=_duration, metavar="TIME", help=overlap)
    rotate.add_argument("--expires", type=_lifetime, metavar="TIME", help="new lifetime of an API key, such as 90d")

    def rotate_one(settings: Settings, options: argparse.Namespace) -> int:
        # Without this, the replaced key would end at once, although an overlap was asked for.
        if (options.signing or options.key_id == _INSTALLATION) and {options.overlap, options.expires} != {None}:
            rotate.error("--overlap and --expires are for API keys")
        if options.key_id == _INSTALLATION:
            return _rotate_installation(settings, options)
        if options.signing:
            return _rotate_signing(settings, options)
        return asyncio.run(_with_keys(settings, _rotate, options))

    line.finish(rotate, rotate_one)

    audit = actions.add_parser("audit", help="show what keys and providers' credentials were used for, newest first")
    add_page(audit, 50)
    add_filters(audit)
    finish_reader(line, audit, _audit)

    digest = actions.add_parser("digest", help="show the digest of a provider's credential, read from standard input")
    finish_reader(line, digest, _digest)

    revoke = actions.add_parser("revoke", help="revoke a key for good; a running gateway notices within a second")
    revoke.add_argument("key_id")
    finish(revoke, _revoke)


async def _with_keys(settings: Settings, action: KeyAction, options: argparse.Namespace) -> int:
    # The first key may be made before the first start.
    with closing(open_new_store(settings) if action is _create else open_kept_store(settings)) as store:
        keys = KeyRing(store)
        await keys.load()
        await action(keys, options, settings)
    return 0


async def _create(keys: KeyRing, options: argparse.Namespace, settings: Settings) -> None:
    with argument():
        scope, grant = grant_of(
            *(getattr(options, name) or () for name in ("scope", "policy", "model", "quota", "aws_upstream"))
        )
        if grant.policies:
            with open_registry(settings) as registry:
                for policy in grant.policies:
                    registry.get(policy)
        _check_upstreams(grant, settings)
        secret, record = await keys.create(options.label, scope, grant, options.expires)
    try:
        shown = f"{record.key_id} ({scope_words(scope, grant)}), shown this once:\n{secret}"
        report(options, {**_key_json(record), "key": secret}, shown)
        flush_output()
    except OSError as error:
        await keys.revoke(record.key_id)
        error.add_note(f"{record.key_id} is revoked again, because its secret could not be shown")
        raise


def _check_upstreams(grant: Grant, settings: Settings) -> None:
    """Raises Unprocessable for a name of no upstream with AWS credentials: its key would sign nothing."""
    signing = [name for name, each in settings.upstreams.items() if each.signs]
    if not all(any(fnmatchcase(name, given) for name in signing) for given in grant.upstreams):
        known = f"choose from {', '.join(f'`{name}`' for name in signing)}" if signing else "the settings have none"
        message = f"--aws-upstream must name an upstream with AWS credentials (`aws_access_key_id`); {known}."
        raise Unprocessable(f"{message} Give the settings of `serve`, such as --config.", param="aws_upstream")


async def _list(keys: KeyRing, options: argparse.Namespace, settings: Settings) -> None:
    rows: list[dict[str, Any]] = [_key_json(record) for record in await keys.list()]
    if options.json:
        print_json(rows)
        return
    longest = max((len(row["key_id"]) for row in rows), default=0)
    names = ("Label", "Scope", "Created", "Ends", "Limits")
    columns = (Column(name, no_wrap=name in {"Created", "Ends"}, overflow="fold") for name in names)
    # Part of an id would revoke nothing.
    table = Table(Column("Key", min_width=longest, no_wrap=True), *columns, box=None, padding=(0, 1, 0, 0))
    for row in rows:
        ends = "revoked" if row["revoked_at"] else str(row["expires_at"] or "")[:10]
        limits = "\n".join((*row["policies"], *row["models"], *row["aws_upstreams"], *row["quotas"]))
        table.add_row(row["key_id"], Text(row["label"]), row["scope"], row["created_at"][:10], ends, limits)
    Console().print(table)


async def _rotate(keys: KeyRing, options: argparse.Namespace, settings: Settings) -> None:
    overlap = _OVERLAP if options.overlap is None else options.overlap
    secret, record = await keys.rotate(options.key_id, overlap, options.expires)
    shown = f"{record.key_id} has a new secret, shown this once:\n{secret}"
    report(options, {**_key_json(record), "key": secret}, shown)


def _rotate_installation(settings: Settings, options: argparse.Namespace) -> int:
    rotate_with_corrections(settings)
    text = "The installation key is replaced; a running gateway uses the new one after a restart."
    return report(options, {"key_id": _INSTALLATION, "rotated": True}, text)


def _rotate_signing(settings: Settings, options: argparse.Namespace) -> int:
    if settings.signing_key is not None:
        raise SettingsError("signing_key is set, so its key cannot be replaced here; remove the setting first")
    with open_log(settings) as (_, log, old):
        new = rotate_signing_key(settings.data_dir, log.rotate)
    keys = {
        name: {"key_id": key.key_id, "public_key": key.public_bytes.hex()} for name, key in (("old", old), ("new", new))
    }
    text = (
        f"{new.key_id} signs receipts now, in place of {old.key_id}.\nVerify with both public keys:\n"
        f"{old.public_bytes.hex()} (old)\n{new.public_bytes.hex()} (new)"
    )
    return report(options, keys, text)


def _audit(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    sought = read_filter(store, settings, options)
    uses, total = store.read(
        lambda stored: read_uses(stored, options.limit, options.offset, sought.sought(), _calls_of)
    )
    if options.json:
        print_json(uses)
        return 0
    if not total:
        Console().print(f"No uses of keys{described(sought)}.", highlight=False, markup=False)
        return 0
    # The id of a key or a credential stays in one line.
    widths = {"Time (UTC)": 16, "Key": 21, "Call": None, "Outcome": None, "Count": 5}
    columns = (Column(name, width=width, overflow="fold") for name, width in widths.items())
    table = Table(*columns, box=None, padding=(0, 1, 0, 0))
    for use in uses:
        time = use["time"][:16].replace("T", " ")
        table.add_row(time, Text("\n".join(_user(use))), use["call"], use["outcome"], str(use["count"]))
    Console().print(table)
    return 0


def _calls_of(operation: str) -> tuple[str, ...]:
    return Wires.discover().calls_of(operation)


def _user(use: dict[str, Any]) -> Iterator[str]:
    """Yields the lines that name a key, and the digest of the provider's credential."""
    key_id, credential = use["key_id"], use["credential"]
    if key_id is None or not key_id.startswith("proxy_"):
        yield key_id or "(invalid)"
    elif not credential:
        yield "(no credential)"
    yield from filter(None, (use["label"], credential))


def _digest(_: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    with argument():
        credential = read_hidden("credential", LONGEST_CREDENTIAL)
    digest = CredentialDigests(installation_key(settings, used=True)).digest(credential.encode())
    return report(options, {"credential": digest}, digest)


async def _revoke(keys: KeyRing, options: argparse.Namespace, settings: Settings) -> None:
    await keys.revoke(options.key_id)
    await forget_corrections(settings, options.key_id)
    report(options, {"key_id": options.key_id, "revoked": True}, f"{options.key_id} is revoked.")


def _key_json(record: KeyRecord) -> dict[str, Any]:
    """Converts a record to JSON types; times as RFC 3339 in UTC."""
    grant = record.grant
    return {
        "key_id": record.key_id,
        "label": record.label,
        "scope": scope_words(record.scope, grant),
        "created_at": _written(record.created_at),
        "revoked_at": _written(record.revoked_at),
        "expires_at": _written(record.expires_at),
        "previous_until": _written(record.previous_until),
        "policies": list(grant.policies),
        "models": list(grant.models),
        "aws_upstreams": list(grant.upstreams),
        "quotas": [quota_words(quota) for quota in grant.quotas],
    }


def _written(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time else None


def _duration(text: str) -> timedelta:
    match = re.fullmatch(r"([0-9]{1,5})([hdw])", text)
    if match is None:
        raise argparse.ArgumentTypeError("write a number of up to five digits and h, d or w, such as 90d")
    return int(match[1]) * {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}[match[2]]


def _lifetime(text: str) -> timedelta:
    if not (lifetime := _duration(text)):
        raise argparse.ArgumentTypeError("must be an hour or more")
    return lifetime
