"""`run_proxy.py usage`: prints the meters in the database of `data_dir`, also while a gateway is running."""

import argparse
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.console import CommandLine, print_json
from gateway.cli.filter_options import add_filters, described, read_filter
from gateway.cli.store_commands import finish_reader
from gateway.config.settings import Settings
from gateway.store import ReadOnlyStore
from gateway.usage import read_usage

_TITLES = {
    "operations": "Operations",
    "routes": "Routes",
    "risk_levels": "Risk",
    "entities": "Entities",
    "transformations": "Transformations",
    "outcomes": "Outcomes",
    "refusals": "Refusals",
    "other_calls": "Other calls to intercepted hosts",
}
_BAR = 24


def add_commands(line: CommandLine) -> None:
    """Registers `usage`."""
    usage = line.commands.add_parser("usage", help="show usage counters; they contain no text")
    add_filters(usage)
    finish_reader(line, usage, show_usage)


def show_usage(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Prints what `GET /v1/usage` returns, as JSON or as tables."""
    sought = read_filter(store, settings, options)
    meters = store.read(lambda stored: read_usage(stored, sought.sought()))
    if options.json:
        print_json(meters)
        return 0
    console = Console()
    tokens, count = meters["tokens"], meters["total_operations"]
    if not count and sought.given:
        console.print(f"No operations{described(sought)}.", highlight=False, markup=False)
        return 0
    console.print(f"{count:,} operations{described(sought)}", highlight=False, markup=False)
    console.print(
        f"{tokens['input']:,} tokens received, {tokens['external']:,} sent to upstreams (estimates)", highlight=False
    )
    reported = f"{tokens['reported_input']:,} in, {tokens['reported_output']:,} out"
    console.print(f"{reported}, as reported by upstreams", highlight=False)
    for name, title in _TITLES.items():
        if meters[name]:
            console.print(_bars(title, meters[name]))
    if meters["days"]:
        console.print(_days(meters["days"]))
    return 0


def _bars(title: str, counts: Mapping[str, int]) -> Table:
    table = _table(title, Column("", justify="right", no_wrap=True), Column("", width=_BAR))
    most = max(counts.values())
    for name, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        table.add_row(Text(name), f"{count:,}", ProgressBar(total=most, completed=count, width=_BAR))
    return table


def _days(days: list[dict[str, Any]]) -> Table:
    columns = ("Operations", "Tokens in", "Tokens out")
    table = _table("Day (UTC)", *(Column(name, justify="right", no_wrap=True) for name in columns))
    for day in reversed(days):
        tokens = day["tokens"]
        table.add_row(day["day"], *(f"{n:,}" for n in (day["total_operations"], tokens["input"], tokens["external"])))
    return table


def _table(title: str, *columns: Column) -> Table:
    return Table(Column(title, overflow="fold"), *columns, box=box.SIMPLE_HEAD, pad_edge=False)
