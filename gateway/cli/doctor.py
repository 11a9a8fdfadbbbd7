"""`run_proxy.py doctor`: checks what the gateway needs, and says what it does not search. Changes nothing."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.client_variables import add_ports
from gateway.cli.console import CommandLine, print_json
from gateway.cli.health_checks import Checked, run_checks
from gateway.config.host_patterns import HostMatcher
from gateway.config.settings import Settings
from gateway.config.unprotected_hosts import read_unprotected_hosts


@dataclass(frozen=True, slots=True)
class Unscanned:
    """Something that is not searched, and what happens to it."""

    what: str
    happens: str


def add_commands(line: CommandLine) -> None:
    """Registers `doctor`."""
    parser = line.commands.add_parser("doctor", help="check what the gateway needs, and say what it does not search")
    add_ports(parser, ("gateway", "proxy", "web", "operations"))
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


def unscanned(settings: Settings) -> Iterator[Unscanned]:
    """Yields everything that is not searched under these settings."""
    hosts = len({*settings.intercept_hosts, *settings.intercept_also})
    yield Unscanned(
        f"hosts other than the {hosts} patterns of intercept_hosts", "pass through the proxy as an untouched tunnel"
    )
    intercepted = HostMatcher(settings.intercept_regexes)
    for entry in read_unprotected_hosts():
        host = entry.patterns[0]
        if intercepted(host, 443):
            happens = "intercepted; calls that no wire knows are refused or protected as JSON"
        elif settings.unprotected_hosts == "refuse":
            happens = f"refused: {entry.instead}"
        else:
            happens = f'passes untouched, as unprotected_hosts is "tunnel": {entry.instead}'
        more = f" and {len(entry.patterns) - 1} more" if len(entry.patterns) > 1 else ""
        yield Unscanned(f"{host}{more} ({entry.clients})", happens)
    yield Unscanned("programs that do not use the proxy or a base URL", "not seen at all")
    served = "protected for OpenAI's Responses" if settings.websockets else "refused with 426"
    others = "; others are refused with 426" if settings.websockets else ""
    yield Unscanned("WebSockets", f"{served} on intercepted hosts{others}; elsewhere they pass in the tunnel")
    yield Unscanned("images, audio, other files", 'refused, unless a policy has attachments = "pass"')
    yield Unscanned("encrypted reasoning and signatures", "are sent byte for byte: only the provider can read them")
    if settings.detection == "patterns":
        yield Unscanned("names that only the sentence gives away", 'not detected: detection is "patterns"')
