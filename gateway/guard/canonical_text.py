"""A text reduced to its letters and digits, so that one value in two spellings is the same."""

from itertools import pairwise

from gateway.detection.unicode_folding import fold_character


class _Table(dict[int, str | None]):
    """For `str.translate`, filled on demand. None, not '', for what goes: with it a text of ASCII is done at once."""

    def __missing__(self, code: int) -> str | None:
        folded = fold_character(chr(code)).casefold()
        kept = self[code] = folded if folded.isalnum() else None
        return kept


_TABLE = _Table()


def compact(text: str) -> str:
    """Case, width, white space and punctuation gone."""
    return text.translate(_TABLE)


class Compacted:
    """A compacted text with the way back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = [index for index, char in enumerate(text) for _ in _TABLE[ord(char)] or ""]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the text of the characters `start:end` of its compact form."""
        return self._at[start], self._at[end - 1] + 1

    def widest_gap(self, start: int, end: int) -> int:
        """The most characters dropped between two neighbours of that stretch."""
        places = self._at[start:end]
        return max((after - before for before, after in pairwise(places)), default=1) - 1
