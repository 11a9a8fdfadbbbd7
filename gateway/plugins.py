"""Imports the modules that extend the gateway: each file in a folder adds something by being there."""

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType


def plugin_modules(package: str, folders: Iterable[Path] = ()) -> Iterator[ModuleType]:
    """Imports every module of a package, then every file in `folders`."""
    for info in pkgutil.iter_modules(import_module(package).__path__):
        yield import_module(f"{package}.{info.name}")
    for folder in folders:
        for info in pkgutil.iter_modules([str(folder)]):
            spec = info.module_finder.find_spec(info.name, None)
            if spec is not None and spec.loader is not None:
                module = module_from_spec(spec)
                spec.loader.exec_module(module)
                yield module
