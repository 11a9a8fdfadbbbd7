"""The letters of all scripts as a few ranges for RE2 character classes.

RE2 compiles `\\p{L}` to 1,200 instructions, and an expression with several such classes to tens of thousands, once for
each direction. These ranges take twenty. They cover whole Unicode blocks, so they include combining marks, digits and
the occasional sign; punctuation shared between scripts is excluded.
"""

LETTERS = (
    r"A-Za-z\x{aa}\x{b5}\x{ba}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{589}\x{591}-\x{5bd}\x{5bf}\x{5c1}-\x{5f2}"
    r"\x{610}-\x{61a}\x{620}-\x{669}\x{66e}-\x{6d3}\x{6d5}-\x{963}\x{966}-\x{1fff}\x{2071}\x{207f}\x{2090}-\x{209c}\x{2c00}-\x{2dff}"
    r"\x{3005}-\x{3007}\x{3021}-\x{302f}\x{3031}-\x{309f}\x{30a1}-\x{30fa}\x{30fc}-\x{d7ff}\x{f900}-\x{fdff}\x{fe70}-\x{fefe}"
    r"\x{ff10}-\x{ff19}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{ff66}-\x{ffdc}\x{10000}-\x{1cfff}\x{1d400}-\x{1e95d}\x{1ee00}-\x{1eeff}\x{20000}-\x{323af}"
)
"""Goes inside a character class: `[{LETTERS}\\d]`."""
