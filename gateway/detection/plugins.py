"""Imports the modules that extend the gateway: each file in a folder adds something by being there."""

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType


def plugin_modules(package: str, folders: Iterable[Path] = ()) -> Iterator[ModuleType]:
    """Imports every module of a package and of the packages in it, then every file in `folders`.

    Skips modules and packages with a leading underscore.
    """
    for info in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        if not info.name.rpartition(".")[2].startswith("_"):
            yield from plugin_modules(info.name) if info.ispkg else (import_module(info.name),)
    for folder in folders:
        for info in pkgutil.iter_modules([str(folder)]):
            spec = info.module_finder.find_spec(info.name, None)
            if spec is not None and spec.loader is not None and not info.name.startswith("_"):
                module = module_from_spec(spec)
                spec.loader.exec_module(module)
                yield module
