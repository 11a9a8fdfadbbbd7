"""Generates example values in the form of live secrets. They are computed, so that no file contains one."""

import re
from hashlib import shake_256

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
