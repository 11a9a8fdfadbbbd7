"""Phone numbers: international ones by numbering plan (phonenumbers), national ones by layout and context."""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.entropy import inside_blob, periodic_skip
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match, near_context
from gateway.detection.recognizers._checks import is_date, luhn
from gateway.detection.recognizers._phone_plans import is_national, is_possible, is_valid
from gateway.detection.recognizers._samples import with_examples
from gateway.detection.recognizers.payment_card import grouped_card

PHONE_NUMBER = EntityType("PHONE_NUMBER", "contact", "A phone or fax number.")

_WORDS = {name: words.replace(" ", r"[\s_-]?") for name, words in Expressions(read_toml(__file__)["parts"]).items()}

_EXPRESSIONS = Expressions({**read_toml(__file__)["expressions"], **_WORDS, "letters": LETTERS})
_CANDIDATE, _GROUPED, *_SHORT_FORMS = _EXPRESSIONS.re2("candidate", "grouped", "short", "short_line")
_CONTEXT, _ANNOUNCES, _REACHED_AT, _STANDS_AT = _EXPRESSIONS.re2("said", "announces", "reached_at", "stands_at")
_DIALLED, _SAID_AFTER, _OTHER_NUMBER = _EXPRESSIONS.re2("dialled", "said_after", "other")
# Candidates are short, so the standard library's expressions are faster; none of them backtracks far.
_NANP, _THREE_THREE_FOUR, _ALONE = _EXPRESSIONS.of_text("nanp", "three_three_four", "alone")
_DECIMAL, _YEARS, _THOUSANDS, _SIZE = _EXPRESSIONS.of_text("decimal", "years", "thousands", "size")
_CODE_POINTS, _FOURS, _UNIX_TIME = _EXPRESSIONS.of_text("code_points", "fours", "unix_time")
_ROW_BEFORE, _ROW_AFTER, _LIST = _EXPRESSIONS.of_bytes("row_before", "row_after", "list")
_CASE_ENDING, _FILE_KIND, _ZERO_BEFORE = _EXPRESSIONS.of_bytes("case_ending", "file_kind", "zero_before")
_TIME_FIELD, _CODE_POINT = _EXPRESSIONS.of_bytes("time_field", "code_point")
# Countries with a trunk zero before the area code, by calling code: of Europe, then of Asia, Africa and Oceania.
_TRUNK_ZERO = """
44 49 33 39 31 32 43 41 353 46 358 40 90 359 380 381 385 386 421
81 61 972 27 234 254 20 64 60 62 63 66 84 82 886 86 91 92 94 98 212 213 880 962 964 966 971
"""
_TRUNK_ZERO_CODES = tuple(map(int, _TRUNK_ZERO.split()))
_WHOLE = 9
"""Length, in characters, of a complete number."""
_ANNOUNCED_WITHIN = 64
"""Bytes of the words that directly announce a number."""
_MOST_GROUPS = 7  # the maximum of any numbering plan
_BRACKETS = bytes.maketrans(b"()", b"  ")
_DIGITS = re.compile(r"[0-9]+")
_NO_DIGITS = re.compile(r"[^0-9]+")
_LIST_GAP = 49
_NEXT_TO_NAME = 0.15
"""Not enough alone; see `engines.py`."""
_ANNOUNCED = 0.7
"""From this score, a number counts as announced, and so do the numbers after it in a list."""

_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_DIGIT = frozenset(b"0123456789")
_FIGURES = frozenset("0123456789")
_MONEY = tuple(sign.encode() for sign in "€£¥")
_UNIT = re.compile(rb"[ ]?(?:bytes?|octets?|bits?|[KMGT]i?B)\b", re.IGNORECASE)


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for hit in {1, 2}.intersection(hits):
        for short in _SHORT_FORMS[hit - 1].finditer(data):
            if len(_digits(short[1].decode())) < 7 and _ends_cleanly(data, short.end(1)):
                yield Match(short.start(1), short.end(1), 0.6, PHONE_NUMBER.name)
    if 0 not in hits:
        return
    candidate = _CANDIDATE if _ANNOUNCES.search(data) else _GROUPED
    at = last = length = 0
    refused = -1
    while match := candidate.search(data, at):
        start, end = match.span()
        if data[start] == ord("(") and b")" not in match[0]:
            start += 1  # it starts a remark, not an area code
        if card := grouped_card(data, start):
            at = card
            continue
        listed = length if length and start - last <= _LIST_GAP and _LIST.fullmatch(data, last, start) else 0
        found = _evaluate(normalized, start, end, listed) if _is_isolated(data, start, end) else None
        if found is None:
            at = _after_first_group(data, start, end)
            if end - start > 2 * _MOST_GROUPS:  # in a row of small numbers, only the end can be a phone number
                at += periodic_skip(data, refused, start, end)
                refused = start
        else:
            number_end, score = found
            at = last = number_end
            length = len(_digits(normalized.text(start, number_end))) if score >= _ANNOUNCED else 0
            yield Match(start, number_end, score, PHONE_NUMBER.name)


def _without_extension(value: str) -> str:
    alone = _ALONE.match(value)
    return value if alone is None else alone[0]


def _digits(value: str) -> str:
    """Returns the digits of a number without its extension."""
    return _NO_DIGITS.sub("", _without_extension(value))


def _after_first_group(data: bytes, start: int, end: int) -> int:
    """Returns where to resume the search: the next group of digits may start a number.

    In a long row of groups, only the last can be a number, which keeps the search linear.
    """
    text = data[start:end].translate(_BRACKETS)
    groups = text.rsplit(None, _MOST_GROUPS)
    if len(groups) < 2:
        return end
    at = start + text.index(groups[0]) + len(groups[0])
    while data[at] in b" ()":
        at += 1
    return at - 1 if data[at - 1] == ord("(") else at


def _is_isolated(data: bytes, start: int, end: int) -> bool:
    """Returns whether a candidate is not part of a longer number, word, path, price or percentage."""
    if start:
        before = data[start - 1]
        second = data[start - 2] if start > 1 else 32
        if before == ord(" ") and second < 0x80:
            return not inside_blob(data, start, end)
        if before in _WORD or before in b"$#%" or (before in b".+" and second in _DIGIT):
            return False
        # A plus sign starts a number anywhere.
        if data[start] != ord("+") and (
            (before in b",-/:" and second in _DIGIT) or (before in b"-/" and second in _WORD)
        ):
            return False
        if data[max(0, start - 3) : start].rstrip().endswith(_MONEY):
            return False
    return not inside_blob(data, start, end)


def _ends_cleanly(data: bytes, end: int) -> bool:
    if end < len(data):
        after = data[end]
        second = data[end + 1] if end + 1 < len(data) else 32
        if after in _WORD or after in b"%" or (after == ord(",") and second in _DIGIT):
            return False
        return after not in b".-/:" or second not in _WORD or _CASE_ENDING.match(data[end : end + 8]) is not None
    return True


def _evaluate(normalized: NormalizedText, start: int, end: int, listed: int) -> tuple[int, float] | None:
    """Returns the end and score of a number, if any. `listed`: digits of the previous number in its list, else 0."""
    value = normalized.text(start, end)
    sentence = value.find(". ")
    if sentence >= _WHOLE:  # the rest starts a new sentence or is the next number in a list
        end, value = start + sentence, value[:sentence]
    if _is_of_programs(normalized.data, start, end, value):
        return None
    if value[0] == "+" or value.startswith("00"):
        found = _international(normalized, start, end)
        if found or value[0] == "+":
            return found
    score = _national(normalized, start, end, value, listed) if _ends_cleanly(normalized.data, end) else None
    return None if score is None else (end, score)


def _international(normalized: NormalizedText, start: int, end: int) -> tuple[int, float] | None:
    """Drops groups from the end until the candidate is a valid number, because the rest may be another number."""
    possible: int | None = None
    data = normalized.data
    while end > start:
        value = normalized.text(start, end)
        digits = _digits(value).removeprefix("00" if value[0] == "0" else "")
        if len(digits) < 7:
            break
        if (_ends_cleanly(data, end) or _FILE_KIND.match(data, end)) and value[-2] != ".":
            if is_valid(digits):
                return end, 1.0
            if possible is None and value[1] != " " and is_possible(digits) and not _DECIMAL.search(value):
                possible = end
        end -= 1
        while end > start and data[end] not in b" /":
            end -= 1
        while end > start and data[end - 1] not in _DIGIT:
            end -= 1
    if possible is None:
        return None
    # Requires a plus sign or a space: ten digits that start with two zeros may be anything.
    dialled = data[start] == ord("+") or not data[start:possible].isdigit()
    return possible, 0.6 if dialled else 0.4


def _national(normalized: NormalizedText, start: int, end: int, value: str, listed: int) -> float | None:
    value = _without_extension(value)
    parts = _DIGITS.findall(value)
    digits = "".join(parts)
    if not 7 <= len(digits) <= 17:
        return None
    lengths = [len(part) for part in parts]
    signs = set(value) - _FIGURES
    if _is_other(value, digits, parts, lengths, signs):
        return None
    data = normalized.data
    before = data[max(0, start - 40) : start]
    # Four pairs of digits, as in Denmark and Norway, look like dates.
    if _starts_with_date(parts, lengths, signs) and not (lengths == [2, 2, 2, 2] and _DIALLED.search(before)):
        return None
    other = not before.endswith(b" at ") and _OTHER_NUMBER.search(before) is not None
    grouped = not value.isdigit()
    # Unseparated digits may be anything, so the context word must be close and before them.
    near = not other and (
        near_context(_CONTEXT, data, start, end)
        if grouped
        else _CONTEXT.search(data, max(0, start - 36), start) is not None
        or listed == len(digits)
        or (_NANP.search(value) is not None and _SAID_AFTER.match(data, end) is not None)
    )
    near = near or (not other and _is_reached(data, start, value, digits))
    if _NANP.search(value) and (near or (grouped and not _in_row(data, start, end, value))):
        return 0.95 if near else 0.4 if other else 0.75 if grouped else 0.5
    if near and is_national(digits, _TRUNK_ZERO_CODES):
        return 0.9
    # National numbers without a trunk zero have at most twelve digits.
    if near and (len(digits) <= 12 or is_valid(digits)):
        return 0.7
    if other or _in_row(data, start, end, value):
        return None
    if _is_thousands(value, digits):
        return _NEXT_TO_NAME if len(digits) == 9 else None
    if not grouped:
        return _NEXT_TO_NAME if _NANP.search(value) or is_national(digits, _TRUNK_ZERO_CODES) else None
    if value[0] == "0" or value.startswith("(0"):
        return 0.65 if is_national(digits, _TRUNK_ZERO_CODES) else 0.35
    if value[0] == "(" or _THREE_THREE_FOUR.search(value):
        return 0.5
    return 0.3 if 7 <= len(digits) <= 11 else None


def _is_reached(data: bytes, start: int, value: str, digits: str) -> bool:
    """Returns whether the words directly before a number say that a person can be reached there."""
    before = data[max(0, start - _ANNOUNCED_WITHIN) : start]
    amount = _is_thousands(value, digits)
    if _REACHED_AT.search(before):
        return not amount or len(digits) >= _WHOLE
    grouped = not amount and not value.isdigit() and value.replace(" ", "").isdigit()
    return (grouped or is_national(digits, _TRUNK_ZERO_CODES)) and bool(_STANDS_AT.search(before))


def _is_other(value: str, digits: str, parts: list[str], lengths: list[int], signs: set[str]) -> bool:
    """Returns whether a value is a time, bits, a range of years, an IP address, an ISBN, a card or an SSN."""
    return (
        len(parts) > _MOST_GROUPS
        or (lengths == [3, 2, 4] and len(signs) == 1)
        or ("." in signs and len(parts) in {4, 5} and max(lengths) <= 3 and value.count(".") == 3)
        or "   " in value  # table columns
        or (parts[0] == "0" and value[1:2] in {".", "-"})  # a fraction or range
        or not digits.strip("01")
        or digits.count(digits[0]) == len(digits)
        or (value == digits and _is_day(value))
        or (lengths == [4, 4] and _YEARS.search(value) is not None)
        or (signs == {"."} and _DECIMAL.search(value) is not None)
        or (lengths[0] == 4 and max(lengths[1:], default=9) <= 2 and "1500" <= parts[0] < "2100")
        or (len(digits) == 13 and digits[:3] in {"978", "979"})
        or (14 <= len(digits) <= 19 and luhn(digits))
    )


def _is_of_programs(data: bytes, start: int, end: int, value: str) -> bool:
    """Returns whether digits are coordinates from an origin (`0 0 512 512`), code points, a size, or a Unix time."""
    if value.startswith("0 "):
        return value[2:4] == "0 " or _ZERO_BEFORE.search(data[max(0, start - 3) : start]) is not None
    return (
        _CODE_POINTS.match(value) is not None
        or (_FOURS.match(value) is not None and _CODE_POINT.search(data[max(0, start - 40) : start]) is not None)
        or (_SIZE.match(value) is not None and _UNIT.match(data, end) is not None)
        or (_UNIX_TIME.match(value) is not None and _TIME_FIELD.search(data[max(0, start - 48) : start]) is not None)
    )


def _is_thousands(value: str, digits: str) -> bool:
    """Returns whether a value is an amount with a thousands separator."""
    return digits[0] != "0" and _THOUSANDS.search(value) is not None


def _starts_with_date(parts: list[str], lengths: list[int], signs: set[str]) -> bool:
    if len(parts) < 3:
        return False
    if lengths[0] == 4:
        return _any_date(parts[0], parts[1], parts[2])
    day_first = lengths[2] in {2, 4} and max(lengths[:2]) <= 2 and len(parts) <= 4
    return day_first and (len(parts) == 4 or signs != {" "}) and _any_date(parts[2], parts[1], parts[0])


def _in_row(data: bytes, start: int, end: int, value: str) -> bool:
    """Returns whether spaces separate its groups from each other and from two further numbers."""
    if not value.replace(" ", "").isdigit():
        return False
    if len(value) > 2 * len(_digits(value)) - 2:
        return True  # single digits
    around = _ROW_BEFORE.search(data, max(0, start - 16), start), _ROW_AFTER.match(data, end, end + 16)
    return sum(found[0].count(b" ") for found in around if found is not None) > 1


def _is_day(value: str) -> bool:
    """Returns whether digits are a date without separators."""
    return len(value) == 8 and value[:2] in {"19", "20"} and _any_date(value[:4], value[4:6], value[6:])


def _any_date(year: str, one: str, other: str) -> bool:
    full = int(year) if len(year) == 4 else 2000 + int(year)
    if not 1900 <= full <= 2100:
        return False
    return any(is_date(full, month, day) for month, day in ((int(one), int(other)), (int(other), int(one))))


_PREFILTERS = (_EXPRESSIONS[name] for name in ("prefilter", "short", "short_line"))
RECOGNIZERS = (with_examples(__file__, "phone", (PHONE_NUMBER,), _PREFILTERS, _find),)
