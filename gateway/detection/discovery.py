"""Finds recognizers by folder: every module in `recognizers/` and its packages whose name has no leading
underscore, and its `RECOGNIZERS`.
"""

import hashlib
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import phonenumbers
import stdnum

from gateway.detection import recognizers as builtin
from gateway.detection.recognizer import GROUPS, DefinitionError, EntityType, Recognizer


def discover(folders: Sequence[Path] = ()) -> tuple[Recognizer, ...]:
    """The built-in recognizers, then those of each extra folder, by file name. Raises DefinitionError."""
    modules = list(_modules(builtin))
    for folder in folders:
        modules += [
            _import_file(folder / f"{info.name}.py")
            for info in pkgutil.iter_modules([str(folder)])
            if info.name[0] != "_"
        ]
    return tuple(one for module in modules for one in _recognizers(module))


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules(package.__path__):
        if info.name[0] != "_":
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            yield from _modules(module) if info.ispkg else (module,)


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"gateway_recognizers_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise DefinitionError(f"{path} cannot be imported as a recognizer.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _recognizers(module: ModuleType) -> Iterable[Recognizer]:
    found = getattr(module, "RECOGNIZERS", None)
    if not isinstance(found, Sequence) or not found:
        raise DefinitionError(f"{module.__name__} declares no RECOGNIZERS (a sequence of recognizers).")
    return found


def types_of(recognizers: Iterable[Recognizer]) -> Mapping[str, EntityType]:
    """Every type by name. Raises DefinitionError for a duplicate id, a type defined in two ways, or an
    unknown group.
    """
    ids: set[str] = set()
    types: dict[str, EntityType] = {}
    for recognizer in recognizers:
        if recognizer.id in ids:
            raise DefinitionError(f"Two recognizers have the id {recognizer.id!r}.")
        ids.add(recognizer.id)
        if len({one.name for one in recognizer.types}) != len(recognizer.types):
            raise DefinitionError(f"{recognizer.id!r} declares a type twice.")
        if not recognizer.gates:
            raise DefinitionError(f"{recognizer.id!r} has no gates: it would never run.")
        for one in recognizer.types:
            if one.group not in GROUPS:
                raise DefinitionError(f"{one.name} of {recognizer.id!r} has an unknown group: {one.group!r}.")
            if types.setdefault(one.name, one) != one:
                raise DefinitionError(
                    f"{recognizer.id!r} defines the type {one.name} otherwise than another recognizer."
                )
    return dict(sorted(types.items()))


def definitions_digest(recognizers: Iterable[Recognizer]) -> str:
    """SHA-256, in hex, over everything that decides what is found: definitions, this package's code, number
    libraries.
    """
    digest = hashlib.sha256()
    for recognizer in sorted(recognizers, key=lambda one: one.id):
        digest.update(recognizer.definition.encode())
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(file.name.encode() + file.read_bytes())
    digest.update(f"{phonenumbers.__version__} {stdnum.__version__}".encode())
    return digest.hexdigest()
