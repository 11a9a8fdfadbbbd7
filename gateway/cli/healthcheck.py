"""`run_proxy.py healthcheck`: asks the running gateway for its health, for containers and supervisors without curl."""

import argparse

from gateway.cli.client_variables import add_ports
from gateway.cli.console import CommandLine, report
from gateway.cli.listeners import gateway_problem
from gateway.config.settings import Settings


def add_commands(line: CommandLine) -> None:
    """Registers `healthcheck`."""
    parser = line.commands.add_parser("healthcheck", help="ask the running gateway for its health (exit status 0 or 1)")
    add_ports(parser, ("gateway",))
    line.finish(parser, _run)


def _run(settings: Settings, options: argparse.Namespace) -> int:
    problem = gateway_problem(settings)
    report(options, {"ok": problem is None, "problem": problem}, problem or "healthy")
    return int(problem is not None)
