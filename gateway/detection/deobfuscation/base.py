"""What a dress is: one file in this folder that knows one way to write a value so that a search for it fails."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from gateway.detection.deobfuscation.rewrite import Edit

type Taken = Sequence[tuple[int, int, float, str]]
"""What was found in the text as it stands: start, end (bytes), score, type; sorted."""


class Kind(Enum):
    """What is taken off together. Each kind makes a view of its own, as one may spoil what another would find.

    `DECODE`: characters written in another way. `UNPACK`: whole texts in a code of their own. `JOIN`: parts that belong
    together. `UNHYPHEN`: the same, without the hyphens at the ends of lines.
    `SPLIT`: what stands in one word with others.
    """

    DECODE = "decode"
    UNPACK = "unpack"
    JOIN = "join"
    UNHYPHEN = "unhyphen"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class Deobfuscation:
    """`gate` (RE2) occurs in every text that wears the dress, and in few others; `edits` then takes it off. So does
    `needs`, which is quicker to look for.

    `edits` must be linear in the length of the text, whatever the text.
    """

    name: str
    kind: Kind
    gate: str
    edits: Callable[[bytes, Taken], Iterable[Edit]]
    needs: bytes = b""
