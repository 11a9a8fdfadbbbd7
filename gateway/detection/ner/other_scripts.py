"""Scripts that do not separate words."""

import re

_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def is_spaced(char: str) -> bool:
    """Whether the script of a letter separates words."""
    return _UNSPACED.match(char) is None
