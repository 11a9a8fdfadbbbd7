"""`run_proxy.py policies list | check FILE | diff A B | try FILE --text …`

Each action is a function of its options that prints and returns the exit status: 0 good, 1 not, 2 misused.
A policy is named by its id (`gdpr`, or `acme@2` for one version), by the hash in a receipt, or by a file.
"""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from secrets import token_bytes
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.console import AddFolders, Loader, Subparsers, print_json, say_error
from gateway.cli.engines import all_engines
from gateway.cli.policy_lookup import load_policy, open_registry
from gateway.config.settings import Settings
from gateway.detection.engines import Finder
from gateway.errors import Forbidden, GatewayError
from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.policy.review import differences, warnings
from gateway.protection.protector import Protector
from gateway.text.fields import TextField

type Action = Callable[[PolicyRegistry, Settings, argparse.Namespace], int]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a policy makes of a text. `blocked` says why nothing would leave."""

    protected_text: str | None
    transformations: tuple[dict[str, Any], ...]
    kept: tuple[dict[str, Any], ...]
    blocked: str | None


def add_commands(commands: Subparsers, add_folders: AddFolders, load: Loader) -> None:
    """Registers `policies`. `add_folders` adds the options that `load` reads the settings from."""
    policies = commands.add_parser("policies", help="list, check, compare and try policies")
    actions = policies.add_subparsers(title="actions", required=True, metavar="ACTION")

    def finish(parser: argparse.ArgumentParser, action: Action) -> None:
        add_folders(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(run=lambda options: _run(action, load(options), options))

    finish(actions.add_parser("list", help="all policies: built-in and custom ones"), list_policies)

    check = actions.add_parser("check", help="whether a file is a sound policy, and what is odd about it")
    check.add_argument("policy", metavar="FILE")
    finish(check, check_policy)

    diff = actions.add_parser("diff", help="what two policies, with all they extend, do not agree on")
    diff.add_argument("before", metavar="A", help="an id, id@version, hash or file")
    diff.add_argument("after", metavar="B")
    finish(diff, diff_policies)

    trial = actions.add_parser("try", help="what a policy would do with a text; nothing is sent or kept")
    trial.add_argument("policy", metavar="FILE", help="a file, or an id, id@version or hash")
    trial.add_argument("--text", required=True, help="the text; `-` reads it from standard input")
    trial.add_argument("--mode", choices=[mode.value for mode in PrivacyMode], default=PrivacyMode.STANDARD.value)
    finish(trial, try_policy)


def _run(action: Action, settings: Settings, options: argparse.Namespace) -> int:
    try:
        with open_registry(settings) as registry:
            return action(registry, settings, options)
    except GatewayError as error:
        say_error(error.message, error.code, error.param, as_json=options.json)
    except OSError as error:
        say_error(f"{error.filename}: {error.strerror}", "unreadable", None, as_json=options.json)
    return 1


def list_policies(registry: PolicyRegistry, _: Settings, options: argparse.Namespace) -> int:
    """Every policy in its newest version."""
    found = registry.list()
    if options.json:
        fields = ("id", "version", "title", "description", "builtin", "hash")
        print_json([{name: getattr(policy, name) for name in fields} for policy in found])
        return 0
    table = Table(Column("Policy", overflow="fold"), "Version", "Kind", Column("Title", overflow="fold"), "Hash")
    for policy in found:
        kind = "built-in" if policy.builtin else "custom"
        table.add_row(policy.id, str(policy.version), kind, Text(policy.title), policy.hash[:12])
    Console().print(table)
    return 0


def check_policy(registry: PolicyRegistry, settings: Settings, options: argparse.Namespace) -> int:
    """Whether the file is accepted. Warnings do not fail it."""
    policy = load_policy(options.policy, registry)
    engines = all_engines(settings)
    with closing(engines):
        notices = warnings(policy, engines.types, others=settings.detection_service is not None)
    if options.json:
        print_json({"ok": True, "policy": policy.document, "warnings": [asdict(one) for one in notices]})
        return 0
    console = Console()
    console.print(f"{policy.id}: accepted.", f"Hash {policy.hash}", sep="\n", highlight=False)
    for notice in notices:
        console.print(f"- {notice.message}", highlight=False, markup=False)
    return 0


def diff_policies(registry: PolicyRegistry, _: Settings, options: argparse.Namespace) -> int:
    """0 when the two say the same, 1 when they differ."""
    before, after = load_policy(options.before, registry), load_policy(options.after, registry)
    found = differences(before, after)
    if options.json:
        print_json({"equal": not found, "differences": [asdict(one) for one in found]})
    elif found:
        table = Table(*(Column(name, overflow="fold") for name in ("Field", before.id, after.id)))
        for one in found:
            table.add_row(one.path, Text(_shown(one.before)), Text(_shown(one.after)))
        Console().print(table)
    else:
        Console().print("The two policies are the same.")
    return 1 if found else 0


def try_policy(registry: PolicyRegistry, settings: Settings, options: argparse.Namespace) -> int:
    """What would be done with the text. Repeats none of its private values."""
    policy = load_policy(options.policy, registry)
    text = sys.stdin.read() if options.text == "-" else options.text
    engines = all_engines(settings)
    with closing(engines):
        done = attempt(policy, text, PrivacyMode(options.mode), engines)
    if options.json:
        print_json({"policy": asdict(policy.ref), **asdict(done)})
    else:
        _show_trial(done)
    return 0


def attempt(policy: Policy, text: str, mode: PrivacyMode, finder: Finder) -> Trial:
    """What the gateway would do with `text` under `policy`, with a key made up for the occasion."""
    protector = Protector(finder, hash_key=token_bytes(32))
    holder = {"text": text}
    try:
        slot = TextField(holder, "text", text)
        done = protector.protect([[slot]], policy, mode, Placeholders(token_bytes(32)))
    except Forbidden as refusal:
        return Trial(None, (), (), refusal.message)
    return Trial(
        holder["text"],
        tuple(asdict(one) for one in done.transformations),
        tuple(asdict(one) for one in done.kept),
        None,
    )


def _show_trial(done: Trial) -> None:
    console = Console()
    if done.protected_text is None:
        console.print(f"Nothing would leave. {done.blocked}", highlight=False, markup=False)
        return
    table = Table("Type", "At", "Score", "Action")
    rows = [(one, str(one["action"])) for one in done.transformations] + [(one, "keep") for one in done.kept]
    for one, action in sorted(rows, key=lambda row: (row[0]["start"], row[0]["end"])):
        table.add_row(one["type"], f"{one['start']}-{one['end']}", f"{one['score']:.2f}", action)
    console.print(table)
    console.print(done.protected_text, highlight=False, markup=False)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
