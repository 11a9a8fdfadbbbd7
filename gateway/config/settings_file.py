"""Reads a settings file, and says what is wrong with settings without repeating a value."""

import os
import re
import tomllib
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gateway.config.foreign_variables import foreign_variables
from gateway.config.secret_references import is_reference

PREFIX = "SVC_"
# Settings files are copied, mailed and committed, so they must not contain these.
ENVIRONMENT_ONLY = frozenset(
    {"api_key", "database_password", "upstream_key", "upstream_proxy_credentials", "installation_key", "signing_key"}
)


# The values of the file that is being loaded, which pydantic asks the class of settings for.
file_values: ContextVar[Mapping[str, Any]] = ContextVar("file_values", default=MappingProxyType({}))


class SettingsError(Exception):
    """Raised for unusable settings. `problems` has one line each, `setting: problem`, without values."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def read_settings_file(path: Path) -> dict[str, Any]:
    """Returns the values in a file. Raises SettingsError, also for a secret, which belongs in the environment."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"the settings file {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        # tomllib's message may quote the file, so report only the position.
        place = re.search(r"\(at [^()]*\)", str(error))
        raise SettingsError(f"the settings file {path} is not valid TOML {place[0] if place else ''}".strip()) from None
    secrets = sorted(name for name in ENVIRONMENT_ONLY & values.keys() if not is_reference(values[name]))
    if secrets:
        here = "not in a file; only `file:PATH` or `env:NAME` may be there"
        raise SettingsError(*(f"{name}: set it as {PREFIX}{name.upper()}, {here}" for name in secrets))
    return values


def unknown_setting(name: str, known: list[str]) -> str:
    """Returns the problem of an unknown setting, with the closest known one."""
    close = get_close_matches(name.rsplit(".", maxsplit=1)[-1], known, n=1)
    return f"{name}: unknown setting" + (f"; did you mean {close[0]}?" if close else "")


def refuse_unknown_variables(known: Collection[str], tables: Collection[str], others: Collection[str | None]) -> None:
    """Raises SettingsError for variables that name none of the `known` settings, nor an entry of one of the `tables`.

    `others` are variables that settings name, such as the keys of upstreams. Foreign variables are left out.
    """
    problems = []
    for variable in sorted(os.environ.keys() - foreign_variables()):
        field, *path = variable.removeprefix(PREFIX).lower().split("__")
        fits = field in known and (not path or field in tables)
        if variable.startswith(PREFIX) and variable not in others and not fits:
            problems.append(unknown_setting(variable, [PREFIX + name.upper() for name in sorted(known)]))
    if problems:
        raise SettingsError(*problems)
