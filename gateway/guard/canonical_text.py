"""A text reduced to its letters and digits, so that one value in two spellings is the same."""

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
