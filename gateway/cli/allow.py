"""`run_proxy.py allow add | list | remove | reset`: values that stay in clear, for one key or for everyone."""

from gateway.cli.console import CommandLine
from gateway.cli.correction_lists import add_list


def add_commands(line: CommandLine) -> None:
    """Registers `allow`."""
    add_list(line, "allow", "leave values in clear that were hidden by mistake")
