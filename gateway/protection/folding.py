"""The form that all spellings of a value share."""

import re
from unicodedata import normalize

from gateway.detection.normalized_text import normalize_text

_SEPARATORS = re.compile(r"[\s./()-]")


def folded(value: str) -> str:
    """Removes what spellings of one value differ in: case, spaces, typographic forms, and separators in numbers."""
    if not value.isascii():
        value = normalize_text(normalize("NFC", value)).data.decode()
    plain = " ".join(value.casefold().split())
    return _SEPARATORS.sub("", plain) if any(map(str.isdigit, plain)) and "@" not in plain else plain
