"""Names the files that decide what the gateway does: its code, its interpreter, and what the settings name."""

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from gateway.config.locations import CODE
from gateway.config.settings import Settings

_PACKAGES = ("site-packages", "dist-packages")


def own_files(settings: Settings, config: Path | None) -> tuple[Path, ...]:
    """Returns those that exist. `config` is the settings file; without it, SVC_CONFIG names one."""
    interpreter = (Path(sysconfig.get_path("stdlib")).parent, Path(sys.executable).resolve().parent)
    environment = (Path(sys.prefix),) if sys.prefix != sys.base_prefix else ()
    packages = (path for path in map(Path, sys.path) if path.name in _PACKAGES)
    named = config or os.environ.get("SVC_CONFIG")
    found = (CODE, *interpreter, *environment, *packages, *((Path(named),) if named else ()), *_paths(settings))
    return tuple(dict.fromkeys(path.resolve() for path in found if os.access(path, os.F_OK)))


def _paths(settings: Settings) -> Iterator[Path]:
    values = [getattr(settings, name) for name in type(settings).model_fields]
    for value in (*values, *settings.upstream_ca_files):
        if isinstance(value, Path):
            yield value
