"""Writes `characters.json`, what the base's tokenizer makes of each character: ``python -m training.characters``.

The gateway reads text without the tokenizer's library. The file holds what the library's own tables of Unicode say, so
that no version of Python changes a token.
"""

import json
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

FILE = Path(__file__).parent.parent / "gateway" / "detection" / "ner" / "model" / "characters.json"
_CLEAN = BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
_NORMAL = BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
_SPLIT = BertPreTokenizer()
# Neither is removed. Their classes of combining, 216 and 224, tell those of all others.
_LOW, _HIGH = "\U0001d165", "\u302e"


def table() -> dict[str, object]:
    """The treatment of each character. A range is its first and its last character."""
    chars = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    normal = {char: _NORMAL.normalize_str(char) for char in chars}
    # Spaces are put around them.
    ideographs = {char for char in chars if normal[char].strip() != normal[char] != " "}
    folded = {char: to.strip() if char in ideographs else to for char, to in normal.items()}
    dropped = {char for char in chars if not _CLEAN.normalize_str(char)}
    kept = [char for char in chars if folded[char]]
    alone = {char for char in kept if char != " " and len(_SPLIT.pre_tokenize_str(f"a{char}a")) == 3}
    return {
        # Removed at once.
        "dropped": _ranges(sorted(dropped)),
        # Removed after combining characters were put in order.
        "marks": _ranges(char for char in chars if not folded[char] and char not in dropped),
        "spaces": "".join(char for char in chars if folded[char] == " "),
        # Each is a word.
        "alone": _ranges(sorted({folded[char] for char in ideographs} | alone)),
        # Hangul is decomposed by rule.
        "folded": {c: folded[c] for c in kept if folded[c] not in {c, " "} and not "\uac00" <= c <= "\ud7a3"},
        # Kept, and moved in front of others by their class of combining.
        "moving": "".join(char for char in kept if _moves(char)),
    }


def _moves(char: str) -> bool:
    parts = unicodedata.normalize("NFD", char)
    kept = [part for part in parts if unicodedata.combining(part) and _NORMAL.normalize_str(part)]
    return any(_NORMAL.normalize_str(pair) != pair for part in kept for pair in (_HIGH + part, part + _LOW))


def _ranges(chars: Iterable[str]) -> list[str]:
    found: list[str] = []
    for char in chars:
        if found and ord(char) == ord(found[-1][-1]) + 1:
            found[-1] = found[-1][0] + char
        else:
            found.append(char)
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(table(), indent=0) + "\n", encoding="ascii")
