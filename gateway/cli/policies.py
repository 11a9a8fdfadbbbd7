"""`run_proxy.py policies list | check FILE | diff A B | try FILE --text … | install FILE | retire ID`

Each action prints and returns its exit status: 0 for success, 1 for failure, 2 for wrong usage.
A policy is given as an id (`gdpr`, or `acme@2` for one version), as the hash in a receipt, or as a file.
"""

import argparse
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.console import CommandLine, argument, print_json, read_stdin, utf8_text
from gateway.cli.engines import all_engines
from gateway.cli.explain import add_mode, show
from gateway.cli.policy_changes import add_changes
from gateway.cli.policy_lookup import load_policy, open_registry
from gateway.config.settings import Settings
from gateway.policy.registry import PolicyRegistry
from gateway.policy.review import differences, warnings

type PolicyAction = Callable[[PolicyRegistry, Settings, argparse.Namespace], int]


def add_commands(line: CommandLine) -> None:
    """Registers `policies`."""
    actions = line.add_group("policies", "list, check, compare, try, install and retire policies")

    def finish(parser: argparse.ArgumentParser, action: PolicyAction) -> None:
        def run(settings: Settings, options: argparse.Namespace) -> int:
            with open_registry(settings) as registry:
                return action(registry, settings, options)

        line.finish(parser, run)

    finish(actions.add_parser("list", help="list built-in and custom policies"), list_policies)

    check = actions.add_parser("check", help="validate a policy file and warn about likely mistakes")
    check.add_argument("policy", metavar="FILE")
    finish(check, check_policy)

    diff = actions.add_parser("diff", help="compare two policies, including everything they extend")
    diff.add_argument("before", metavar="A", help="an id, id@version, hash or file")
    diff.add_argument("after", metavar="B")
    finish(diff, diff_policies)

    trial = actions.add_parser("try", help="apply a policy to a text without sending or storing anything")
    trial.add_argument("policy", metavar="FILE", help="a file, or an id, id@version or hash")
    trial.add_argument("--text", type=utf8_text, required=True, help="the text; `-` reads it from standard input")
    add_mode(trial)
    finish(trial, try_policy)
    add_changes(line, actions)


def list_policies(registry: PolicyRegistry, _: Settings, options: argparse.Namespace) -> int:
    """Lists the newest version of every policy."""
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
    """Validates a policy file. Warnings do not make it fail."""
    policy = load_policy(options.policy, registry)
    engines = all_engines(settings)
    with closing(engines):
        others = settings.detection_service is not None
        notices = warnings(policy, engines.types, others=others)
        if (reference := policy.document.get("extends")) is not None:
            # The author can do nothing about what is odd in another policy.
            extended = registry.by_hash(reference["hash"])
            inherited = warnings(extended, engines.types, others=others)
            notices = tuple(one for one in notices if one not in inherited)
    if options.json:
        print_json({"ok": True, "policy": policy.document, "warnings": [asdict(one) for one in notices]})
        return 0
    console = Console()
    console.print(f"{policy.id}: accepted.", f"Hash {policy.hash}", sep="\n", highlight=False)
    for notice in notices:
        console.print(f"- {notice.message}", highlight=False, markup=False)
    return 0


def diff_policies(registry: PolicyRegistry, _: Settings, options: argparse.Namespace) -> int:
    """Prints the differences. Returns 0 if there are none, 1 if there are any."""
    before, after = load_policy(options.before, registry), load_policy(options.after, registry)
    found = differences(before, after)
    if options.json:
        print_json({"equal": not found, "differences": [asdict(one) for one in found]})
    elif found:
        table = Table(*(Column(name, overflow="fold") for name in ("Field", before.id, after.id)))
        for one in found:
            table.add_row(one.path, Text(_format_value(one.before)), Text(_format_value(one.after)))
        Console().print(table)
    else:
        Console().print("The two policies are the same.")
    return 1 if found else 0


def try_policy(registry: PolicyRegistry, settings: Settings, options: argparse.Namespace) -> int:
    """Prints what the policy finds in the text and why, and what would leave."""
    policy = load_policy(options.policy, registry)
    with argument():
        text = read_stdin("text") if options.text == "-" else options.text
    return show(policy, text, settings, options)


def _format_value(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
