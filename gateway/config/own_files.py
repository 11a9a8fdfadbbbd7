"""Names the files that decide what the gateway does: its code, its interpreter, and what the settings name."""

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from gateway.config.locations import CODE
from gateway.config.secret_references import referenced_file
from gateway.config.settings import Settings
from gateway.config.settings_file import PREFIX, read_settings_file

_PACKAGES = ("site-packages", "dist-packages")


def own_files(settings: Settings, config: Path | None) -> tuple[Path, ...]:
    """Returns those that exist. `config` is the settings file; without it, SVC_CONFIG names one.

    Raises SettingsError if that file can no longer be read.
    """
    interpreter = (Path(sysconfig.get_path("stdlib")).parent, Path(sys.executable).resolve().parent)
    environment = (Path(sys.prefix),) if sys.prefix != sys.base_prefix else ()
    packages = (path for path in map(Path, sys.path) if path.name in _PACKAGES)
    named = config or os.environ.get(f"{PREFIX}CONFIG")
    # The settings have secrets in place of references to them.
    variables = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    written = read_settings_file(Path(named)) if named else {}
    files = (*((Path(named),) if named else ()), *_paths((settings, variables, written)))
    found = (CODE, *interpreter, *environment, *packages, *files)
    return tuple(dict.fromkeys(path.resolve() for path in found if os.access(path, os.F_OK)))


def _paths(value: object) -> Iterator[Path]:
    """Yields the paths in a value, and those of the files that references to secrets name."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, str):
        if (file := referenced_file(value)) is not None:
            yield file
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _paths(getattr(value, name))
    elif isinstance(value, Mapping | Sequence):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _paths(each)
