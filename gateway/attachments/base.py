"""Defines the kinds of files: their names and limits, the result of reading one, and the reasons to refuse one."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MOST_BYTES = 32 * 1024 * 1024
"""The largest file, as it is sent."""
MOST_EXPANDED = 128 * 1024 * 1024
"""The most bytes that the parts of one file may have together, once they are decompressed."""
MOST_PARTS = 4096
MOST_PAGES = 2000
MOST_CHARACTERS = 8_000_000
"""The longest text of one file."""


class Reason(StrEnum):
    """Why a file is not converted. The values complete the sentence "The attached file …"."""

    ENCRYPTED = "is encrypted or protected by a password"
    MALFORMED = "is damaged, or is not what its type says"
    UNKNOWN_KIND = "is of a kind that cannot be converted to text"
    UNKNOWN_PART = "has a part that cannot be converted to text"
    IMAGE = "has an image, whose text cannot be read"
    UNREADABLE = "has text in a font that does not say which characters it shows"
    ACTIVE = "has macros, scripts or other active content"
    EMBEDDED = "has another file in it that cannot be converted to text"
    ENCODING = "has text in an unknown encoding; send UTF-8"
    TOO_LARGE = "is too large to be converted to text"
    TOO_SLOW = "takes too long or too much memory to be converted to text"
    NOT_ISOLATED = "cannot be converted safely on this system"


class Refused(Exception):
    """A file cannot be converted completely."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name.lower())
        self.reason = reason


class Section(NamedTuple):
    """A part of a file that a reader would name: a page, a sheet. A file without such parts is one without a name."""

    name: str
    text: str


class File(NamedTuple):
    """A file as it was sent. `media_type` and `name` are what its sender says, or empty."""

    data: bytes
    media_type: str = ""
    name: str = ""
    depth: int = 0
    """How many files this one is in."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of a file. `pages` counts its pages, sheets or slides; a file without any has one."""

    kind: str
    title: str
    pages: int
    text: str


class Kind(ABC):
    """A kind of file: how it is declared, and how its text is read."""

    id: str
    title: str
    media_types: frozenset[str]
    endings: frozenset[str]
    codecs: Sequence[str] = ()
    """Names of encodings that it may need, which cannot be loaded any more once the process is isolated."""

    def prepare(self) -> None:
        """Loads what cannot be loaded any more once the process is isolated: nothing, by default."""
        return

    @abstractmethod
    def read(self, file: File) -> list[Section]:
        """Returns all text of a file. Raises Refused, or any other exception for a damaged file."""
