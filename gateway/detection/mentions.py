"""Tells a mention of an account, as in `thanks @jdoe`, from the words of programs that begin with the same sign."""

import re

from gateway.detection.data_files import Expressions, read_toml, word_lists

REACH = 400
"""How many characters before and after an `@` tell what it is."""

_PARTS = Expressions(read_toml(__file__)["parts"])
_DECORATORS = word_lists(__file__)["decorators"]
_WORD = re.compile(r"@\w+(?![.-]?\w)")
# For each construct, the text on the line before the sign and the text from the sign on.
_SIGNS = tuple(
    (re.compile(_PARTS[f"{sign}_before"]), re.compile(_PARTS[f"{sign}_after"], re.MULTILINE))
    for sign in ("scope", "named_scope", "package", "call", "sql", "set", "perl", "perl_push", "perl_loop", "perl_list")
)
_ANNOTATED = re.compile(_PARTS["annotated"])
_DECLARATION = re.compile(_PARTS["declaration"], re.MULTILINE)
_COMMENTED = re.compile(_PARTS["commented"])
_DESCRIBED = re.compile(r"@\w+:\s")


def is_mention(before: str, after: str) -> bool:
    """Returns whether an `@` can begin a mention. `after` begins with it; of both, `REACH` characters are enough."""
    word = _WORD.match(after)
    if word is not None and word[0].lower() in _DECORATORS:
        return False
    line = before[before.rfind("\n") + 1 :]
    return not (
        any(follows.match(after) and precedes.search(line) for precedes, follows in _SIGNS)
        or (_DECLARATION.match(after) and _ANNOTATED.fullmatch(line))
        or (_DESCRIBED.match(after) and _is_in_comment(before, line))
    )


def _is_in_comment(before: str, line: str) -> bool:
    """Returns whether a line begins in a comment of C, where an `@` announces a parameter or member (gtk-doc)."""
    return _COMMENTED.fullmatch(line) is not None and before.rfind("/*") > before.rfind("*/")
