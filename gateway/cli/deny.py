"""`run_proxy.py deny add | list | remove`: values that are always hidden, for one key or for everyone."""

from gateway.cli.console import CommandLine
from gateway.cli.correction_lists import add_list


def add_commands(line: CommandLine) -> None:
    """Registers `deny`."""
    add_list(line, "deny", "hide values that were not recognized")
