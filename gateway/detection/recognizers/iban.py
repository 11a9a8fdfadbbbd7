"""International bank account numbers (ISO 13616): country, length, check digits; any grouping and case."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from stdnum import numdb

from gateway.detection.entropy import inside_blob
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match, compile_pattern
from gateway.detection.recognizers._samples import with_examples

IBAN_CODE = EntityType("IBAN_CODE", "financial", "An international bank account number.")

_SIGNS = " -./_,;:|*+"
_CHARACTER = rf"(?:[{re.escape(_SIGNS)}]?[A-Za-z0-9])"
_BEGINS = r"(?:\b[A-Za-z]{2}|[_\d][A-Z]{2})\d{2}"
_PREFILTER = rf"{_BEGINS}{_CHARACTER}{{11}}"
# ISO 13616 allows at most 34 characters; the check digits determine which of them belong to the number.
_CANDIDATE = compile_pattern(rf"{_BEGINS}{_CHARACTER}{{11,30}}")
# After its name, or that of an account, an IBAN with a typing error also counts.
_NAMED = re.compile(
    rb"(?i)\b(?:iban|bankverbindung|konto(?:nummer)?|account|compte|cuenta|conto|conta|rekening(?:nummer)?|rachun(?:ek|ku))\b"
    rb"[^\w]{0,4}(?:(?:is|ist|est|es|nr|no|number|nummer)\b[^\w]{0,4})?\Z"
)

_NEAR = 32
_DROP = str.maketrans("", "", _SIGNS)
_SIGN_BYTES = _SIGNS.encode()
_VALUES = {code: str(int(chr(code), 36)) for code in range(ord("A"), ord("Z") + 1)}
_KINDS = {"n": "[0-9]", "a": "[A-Z]", "c": "[A-Za-z0-9]"}


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    at = 0
    while match := _CANDIDATE.search(data, at):
        start, end = match.span()
        start += not data[start : start + 1].isalpha()
        number_end = _number_end(data, start, end)
        at = number_end or start + 4
        if number_end is None or inside_blob(data, start, number_end):
            continue
        number = data[start:number_end].decode().translate(_DROP).upper()
        # Validates like python-stdnum, but compiles the country's expression only once.
        form, digits = _country(number[:2])[1], (number[4:] + number[:4]).translate(_VALUES)
        if form.match(number, 4) is not None and int(digits) % 97 == 1:
            yield Match(start, number_end, 1.0, IBAN_CODE.name)
        elif _NAMED.search(data, max(0, start - _NEAR), start):
            yield Match(start, number_end, 0.75, IBAN_CODE.name)
        else:
            at = start + 4


def _number_end(data: bytes, start: int, end: int) -> int | None:
    """Returns the end of a number of the country's length that starts at `start`, else None.

    It must end at a word boundary, or before a capital letter that was joined to it when columns were copied.
    """
    left, _ = _country(data[start : start + 2].decode().upper())
    at = start
    while at < end and left:
        left -= data[at] not in _SIGN_BYTES
        at += 1
    if left or at - start < 15:
        return None
    after = data[at : at + 1]
    glued = after.isupper() and data[start : start + 2].isupper() and data[at - 1 : at].isdigit()
    return at if glued or not after.isalnum() else None


@cache
def _country(code: str) -> tuple[int, re.Pattern[str]]:
    """Returns the length of a country's numbers, and an expression for what follows the first four characters.

    Source: SWIFT, IBAN Registry, as in python-stdnum. The length is 4 for a country without such numbers.
    """
    parts = re.findall(r"(\d+)!([nac])", numdb.get("iban").info(code)[0][1].get("bban", ""))
    form = re.compile("".join(f"{_KINDS[kind]}{{{length}}}" for length, kind in parts) + r"\Z")
    return 4 + sum(int(length) for length, _ in parts), form


RECOGNIZERS = (with_examples(__file__, "iban", (IBAN_CODE,), (_PREFILTER,), _find),)
