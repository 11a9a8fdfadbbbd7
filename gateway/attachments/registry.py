"""Finds the kinds of files, chooses the one of a file, and writes down what was read."""

import pkgutil
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from gateway.attachments.base import MOST_BYTES, MOST_CHARACTERS, MOST_PAGES, Converted, File, Kind, Reason, Refused

EXTRA = "attachments"
_NEEDED = ("defusedxml", "pypdf", "pypdfium2")
_UNDECLARED = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_DEEPEST = 3
_KINDS = "gateway.attachments.kinds"


@cache
def installed() -> bool:
    """Whether the packages of the extra `attachments` are installed."""
    return all(find_spec(name) is not None for name in _NEEDED)


@cache
def kinds() -> tuple[Kind, ...]:
    """Returns all kinds: one of each module in their folder."""
    # That of `gateway.detection` would load all recognizers, into each process that reads a file.
    folder = import_module(_KINDS)
    names = sorted(each.name for each in pkgutil.iter_modules(folder.__path__))
    return tuple(import_module(f"{_KINDS}.{name}").KIND for name in names)


def kind_of(file: File) -> Kind:
    """Returns the kind that a file is declared to be, by its type or else by the ending of its name. Raises Refused."""
    declared = file.media_type.partition(";")[0].strip().lower()
    ending = file.name.rpartition(".")[2].lower() if "." in file.name else ""
    by_type = next((kind for kind in kinds() if declared in kind.media_types), None)
    by_name = next((kind for kind in kinds() if ending in kind.endings), None)
    if by_type is not None and (by_type.id != "text" or by_name is None):
        return by_type
    if by_name is not None and (by_type is not None or declared in _UNDECLARED):
        # Clients declare many files to be `text/plain`.
        return by_name
    raise Refused(Reason.UNKNOWN_KIND)


def convert(file: File) -> Converted:
    """Returns the text of a file with its parts named. Raises Refused.

    Called in a process of its own, where any exception means that the file is damaged.
    """
    if len(file.data) > MOST_BYTES:
        raise Refused(Reason.TOO_LARGE)
    if file.depth > _DEEPEST:
        raise Refused(Reason.EMBEDDED)
    kind = kind_of(file)
    try:
        sections = kind.read(file)
    except Refused:
        raise
    except MemoryError:
        raise Refused(Reason.TOO_SLOW) from None
    except Exception:  # noqa: BLE001 - the readers meet hostile files, and may fail in any way
        raise Refused(Reason.MALFORMED) from None
    if len(sections) > MOST_PAGES or sum(len(each.text) for each in sections) > MOST_CHARACTERS:
        raise Refused(Reason.TOO_LARGE)
    named = [f"--- {each.name} ---\n\n{each.text.strip()}".strip() if each.name else each.text for each in sections]
    return Converted(kind.id, kind.title, max(1, len(sections)), "\n\n".join(named))
