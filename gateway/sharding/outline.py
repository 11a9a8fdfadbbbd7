"""Describes how to reassemble the text from compartments: order, headings and the white space between pieces."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

PIECE_BREAK = "\n\n"
"""Separates two pieces within a compartment. It is not part of the text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The next piece of the text: `protected_text[start:end]` of a compartment. `heading` indexes `headings`."""

    compartment: int
    start: int
    end: int
    heading: int | None


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, protected: `protected_text[start:end]` of its compartment is `text`. Levels are 1-6."""

    level: int
    compartment: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """`joins[i]` precedes piece i of `order`, and the last join follows the last piece. All are white space."""

    order: tuple[Piece, ...]
    headings: tuple[Heading, ...]
    joins: tuple[str, ...]
    instructions: str

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return asdict(self)


def rejoin(outline: Outline, protected_texts: Sequence[str]) -> str:
    """Joins the texts of all compartments to the whole protected text. Restored, it is the source byte for byte."""
    parts: list[str] = []
    for join, piece in zip(outline.joins, outline.order, strict=False):
        parts += (join, protected_texts[piece.compartment][piece.start : piece.end])
    parts.append(outline.joins[-1])
    return "".join(parts)


def instructions(count: int, pieces: int, headings: int) -> str:
    """Returns the instructions for the model that writes the synthesis. They contain none of the text."""
    under = (
        " `headings` names the sections; a piece belongs to the section of its `heading`, also where the heading stands"
        " in another compartment."
        if headings
        else ""
    )
    return (
        f"A text was divided into {count} compartments ({pieces} pieces). Do the task on each compartment by itself,"
        " without showing one compartment's text to whoever works on another. Then write one result from all partial"
        " results, in the order of `order`, which lists the pieces of the text from first to last with the compartment"
        f" each stands in.{under} A word in square brackets that is a type and a tag stands for a value: copy it"
        " exactly, with its brackets, and invent none. Two of them from different compartments may stand for the same"
        " value; do not guess which. To get the text itself back, put the pieces together in `order`, with `joins`"
        " before, between and after them."
    )
