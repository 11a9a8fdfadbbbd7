"""Tells where visible characters begin (grapheme clusters)."""

import regex

# Boundaries of grapheme clusters (Unicode Standard Annex 29, extended).
# Rules GB3 and GB9 to GB13 forbid a boundary. The bounds keep the look-behind linear on any text.
_INSIDE = regex.compile(
    r"""
      (?<=\r)(?=\n)
    | (?<![\p{GCB=Control}\r\n])(?=[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}])
    | (?<=\p{GCB=Prepend})(?![\p{GCB=Control}\r\n])
    | (?<=\p{GCB=L})(?=[\p{GCB=L}\p{GCB=V}\p{GCB=LV}\p{GCB=LVT}])
    | (?<=[\p{GCB=LV}\p{GCB=V}])(?=[\p{GCB=V}\p{GCB=T}])
    | (?<=[\p{GCB=LVT}\p{GCB=T}])(?=\p{GCB=T})
    | (?<=\p{InCB=Linker}[\p{InCB=Extend}\p{InCB=Linker}]{0,32})(?=\p{InCB=Consonant})
    | (?<=\p{Extended_Pictographic}\p{GCB=Extend}{0,32}\u200d)(?=\p{Extended_Pictographic})
    | (?<=(?<!\p{RI})(?:\p{RI}\p{RI}){0,128}\p{RI})(?=\p{RI})
    """,
    regex.VERBOSE,
)


def is_boundary(text: str, at: int) -> bool:
    """Returns whether a grapheme cluster starts at `at`."""
    before, after = text[at - 1], text[at]
    if after < "\u0300" and before < "\u0300":
        return not (before == "\r" and after == "\n")
    return _INSIDE.match(text, at) is None
