"""`run_proxy.py doctor`: checks what the gateway needs, and says what it does not search. Changes nothing."""

import argparse
from dataclasses import asdict

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.client_variables import add_ports
from gateway.cli.console import CommandLine, print_json
from gateway.cli.health_checks import Checked, run_checks
from gateway.cli.not_scanned import Unscanned, unscanned
from gateway.config.settings import Settings


def add_commands(line: CommandLine) -> None:
    """Registers `doctor`."""
    parser = line.commands.add_parser("doctor", help="check what the gateway needs, and say what it does not search")
    add_ports(parser, ("gateway", "proxy", "web"))
    line.finish(parser, _run)


def _run(settings: Settings, options: argparse.Namespace) -> int:
    checks, rest = list(run_checks(settings)), list(unscanned(settings))
    status = int(not all(check.ok for check in checks))
    if options.json:
        rows = [{"name": c.name, "ok": c.ok, "detail": c.detail, "remedy": c.remedy or None} for c in checks]
        print_json({"ok": not status, "checks": rows, "not_scanned": [asdict(each) for each in rest]})
        return status
    console = Console()
    console.print(_checks(checks))
    console.print(_not_scanned(rest))
    problems = sum(not check.ok for check in checks)
    counted = "1 problem" if problems == 1 else f"{problems or 'No'} problems"
    console.print(counted, highlight=False)
    return status


def _checks(checks: list[Checked]) -> Table:
    table = Table(Column("Check", overflow="fold"), Column("Result", no_wrap=True), Column("Found", overflow="fold"))
    for check in checks:
        found = check.detail if check.ok else f"{check.detail}\nTo do: {check.remedy}"
        table.add_row(Text(check.name), "ok" if check.ok else "PROBLEM", Text(found))
    return table


def _not_scanned(rest: list[Unscanned]) -> Table:
    table = Table(Column("Not scanned", overflow="fold"), Column("What happens to it", overflow="fold"))
    for each in rest:
        table.add_row(Text(each.what), Text(each.happens))
    return table
