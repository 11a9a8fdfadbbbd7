"""Reads recognizers' examples in tables, and computes values in the form of live secrets, so that no file has one.

Under a type, a least score (default: 0.5) or both are texts in which the value between `⟦` and `⟧` must be found; under
`none`, texts in which nothing must be. `{base62:32}` stands for so many characters of that alphabet.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import shake_256

from gateway.detection.data_files import read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
BASE62 = LETTERS + DIGITS
URL_SAFE = BASE62 + "_-"
BASE64 = BASE62 + "+/"
HEX = DIGITS + "abcdef"
UPPER = LETTERS[:26] + DIGITS
LOWER = LETTERS[26:] + DIGITS
BASE32 = LETTERS[:26] + "234567"
_ALPHABETS = {
    **{"letters": LETTERS, "digits": DIGITS, "upper": UPPER, "lower": LOWER, "hex": HEX, "upper_hex": HEX.upper()},
    **{"base32": BASE32, "base62": BASE62, "base64": BASE64, "url_safe": URL_SAFE},
}
"""By the names that tables use."""
_COMPUTED = re.compile(r"\{(\w+):(\d+)\}")


def sample(length: int, alphabet: str = BASE62) -> str:
    """Returns a deterministic string of `length` characters that starts and ends with a letter or digit."""
    body = "".join(alphabet[byte % len(alphabet)] for byte in shake_256(alphabet.encode()).digest(length))
    if alphabet[-1].isalnum():
        return body
    return "a" + body[1:-1] + "7" if length > 1 else "a"


def filled(text: str) -> str:
    """Replaces each `{base62:32}` by a sample of that alphabet and length."""
    return _COMPUTED.sub(lambda found: sample(int(found[2]), _ALPHABETS[found[1]]), text)


def examples(texts: Mapping[str, Sequence[str]]) -> tuple[tuple[Example, ...], tuple[str, ...]]:
    """Returns the examples and the counter-examples of such a table."""
    found: list[Example] = []
    for key in texts.keys() - {"none"}:
        type_name, score = re.fullmatch(r"([A-Z_]*) ?([\d.]*)", key).groups()  # type: ignore[union-attr]
        for text in texts[key]:
            before, value, after = re.split("[⟦⟧]", filled(text))
            found.append(Example(before + value + after, value, type_name, float(score or 0.5)))
    return tuple(found), tuple(map(filled, texts["none"]))


def with_examples(
    file: str,
    id: str,
    types: Iterable[EntityType],
    prefilters: Iterable[str],
    function: Callable[[NormalizedText, Sequence[int]], Iterable[Match]],
    *,
    by_label: bool = False,
) -> FunctionRecognizer:
    """Returns a recognizer with the examples of the same id in a module's table."""
    own = examples(read_toml(file)["examples"][id])
    return FunctionRecognizer(id, tuple(types), tuple(prefilters), function, *own, by_label=by_label)
