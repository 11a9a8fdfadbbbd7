"""The options that select records: the query parameters of the API under the same names."""

import argparse
from collections.abc import Collection
from contextlib import closing
from typing import get_origin

from gateway.cli.console import argument
from gateway.cli.engines import all_engines
from gateway.config.settings import Settings
from gateway.policy.registry import PolicyRegistry
from gateway.receipts.filters import Filter
from gateway.store import ReadOnlyStore

_DEST = "filter_"


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Adds an option for each member of `Filter`."""
    group = parser.add_argument_group("filters", "repeat an option for any of several values; all options must fit")
    for name, member in Filter.model_fields.items():
        action = "append" if get_origin(member.annotation) is tuple else "store"
        help = (member.description or "").replace("`", "").replace("%", "%%")
        group.add_argument(f"--{name}", dest=f"{_DEST}{name}", action=action, metavar=name.upper(), help=help)


def read_filter(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> Filter:
    """Returns the filter of a command. Raises Misused."""
    with argument():
        found = Filter.of({name: getattr(options, f"{_DEST}{name}") for name in Filter.model_fields})
        if found.type:
            types = store.read(lambda stored: stored.usage.names("entities"))
            found.check_types(types, lambda: _known_types(settings))
    return found


def described(sought: Filter) -> str:
    """Returns the words for what a filter selects, after a noun; empty if it selects all."""
    return "".join(f", {name} {value}" for name, value in sought.given.items()).replace(",", " with", 1)


def shorten(text: str, width: int) -> str:
    """Cuts a name that is longer in its middle, since names often differ at either end."""
    half = (width - 1) // 2
    return text if len(text) <= width else f"{text[: width - 1 - half]}…{text[len(text) - half :]}"


def _known_types(settings: Settings) -> Collection[str]:
    own = {name for policy in PolicyRegistry(settings.policies_dir).list() for name in policy.own_types}
    with closing(all_engines(settings)) as engines:
        return own.union(engines.types)
