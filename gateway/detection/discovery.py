"""Discovers recognizers: the `RECOGNIZERS` of every module in `recognizers/` and its packages, and tables of patterns.

A TOML file without a module of the same name is such a table if it has `[[recognizers]]`. What starts with an
underscore is skipped.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import phonenumbers
import stdnum

from gateway.detection.data_files import read_toml
from gateway.detection.plugins import plugin_modules
from gateway.detection.recognizer import GROUPS, DefinitionError, EntityType, Recognizer
from gateway.detection.recognizers._pattern_table import pattern_table

_BUILTIN = Path(__file__).with_name("recognizers")


def discover(folders: Sequence[Path] = ()) -> tuple[Recognizer, ...]:
    """Returns the built-in recognizers, then those in `folders`, by file name. Raises DefinitionError."""
    modules = plugin_modules("gateway.detection.recognizers", folders)
    tables = (file for folder in (_BUILTIN, *folders) for file in sorted(folder.glob("[!_]*.toml")))
    return (
        *(one for module in modules for one in _recognizers(module)),
        *(one for file in tables for one in _in(file)),
    )


def _in(file: Path) -> Iterable[Recognizer]:
    try:
        alone = not file.with_suffix(".py").exists() and "recognizers" in read_toml(str(file))
        return pattern_table(str(file)) if alone else ()
    except (ValueError, LookupError) as error:
        raise DefinitionError(f"{file.name} is no table of recognizers: {error}. Correct it, or move it.") from error


def _recognizers(module: ModuleType) -> Iterable[Recognizer]:
    found = getattr(module, "RECOGNIZERS", None)
    if not isinstance(found, Sequence) or not found:
        raise DefinitionError(f"{module.__name__} has no RECOGNIZERS. Assign a non-empty tuple of recognizers to it.")
    return found


def types_of(recognizers: Iterable[Recognizer]) -> Mapping[str, EntityType]:
    """Returns every entity type by name.

    Raises DefinitionError for a duplicate id, conflicting definitions of a type, or an unknown group.
    """
    ids: set[str] = set()
    types: dict[str, EntityType] = {}
    for recognizer in recognizers:
        if recognizer.id in ids:
            raise DefinitionError(f"Two recognizers have the id {recognizer.id!r}. Give each its own.")
        ids.add(recognizer.id)
        if len({one.name for one in recognizer.types}) != len(recognizer.types):
            raise DefinitionError(f"{recognizer.id!r} declares a type twice.")
        if not recognizer.prefilters:
            raise DefinitionError(f"{recognizer.id!r} has no prefilters, so it would never run. Add at least one.")
        for one in recognizer.types:
            if one.group not in GROUPS:
                raise DefinitionError(
                    f"{one.name} of {recognizer.id!r} has the unknown group {one.group!r}; use one of GROUPS."
                )
            if types.setdefault(one.name, one) != one:
                raise DefinitionError(
                    f"{recognizer.id!r} and another recognizer define {one.name} differently; share one EntityType."
                )
    return dict(sorted(types.items()))


def definitions_digest(recognizers: Iterable[Recognizer]) -> str:
    """Returns the SHA-256, in hex, of everything that affects findings: definitions, this package and its number
    libraries.
    """
    digest = hashlib.sha256()
    for recognizer in sorted(recognizers, key=lambda one: one.id):
        digest.update(recognizer.definition.encode())
    for file in sorted(Path(__file__).parent.rglob("*")):
        if file.suffix in {".py", ".toml", ".json"}:
            digest.update(file.name.encode() + file.read_bytes())
    digest.update(f"{phonenumbers.__version__} {stdnum.__version__}".encode())
    return digest.hexdigest()
