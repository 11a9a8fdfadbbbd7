"""Finds passwords, PINs, codes and tokens in prose. Rules: `said.toml`."""

from collections.abc import Callable, Iterator
from itertools import pairwise

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import Match
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import checked, span_of, table, trimmed
from gateway.detection.recognizers.secrets._names import is_place
from gateway.detection.recognizers.secrets._vocabulary import ADJECTIVE, EXPRESSIONS, WORDS

_EXPRESSIONS = Expressions({**read_toml(__file__)["parts"], **EXPRESSIONS})
_WORD, _SECRET_WORD, _LINKED, _OPENS = _EXPRESSIONS.re2("word", "secret_word", "linked", "opens")
_ABOUT_IT, _PLAIN_WORD, _CHANGED_TO, _CHANGE = _EXPRESSIONS.re2("about_it", "plain_word", "changed_to", "change")
_REMARK, _SENTENCE_END, _SOME_SIGN, _IN_CODE = _EXPRESSIONS.re2("remark", "sentence_end", "some_sign", "in_code")
(_SETTING,) = _EXPRESSIONS.of_bytes("setting")
_POINTED, _INNER = _EXPRESSIONS.of_text("pointed", "inner")
_REACH = 110
"""Bytes after the word in which its value begins and ends."""
_LEAST = 5
"""Bytes of the shortest value and what links it to the word."""


def _passwords(normalized: NormalizedText) -> Iterator[Match]:
    for start, end, quoted, linked in _values(normalized.data, _WORD):
        value = normalized.text(start, end)
        sure = quoted and ((linked and values.is_chosen(value, quoted=True)) or values.is_phrase(value))
        odd = _is_odd(value, linked=linked) and not checks.NO_VALUE.fullmatch(value)
        if sure or odd or checks.strong(value, quoted):
            yield Match(start, end, 0.8, checks.PASSWORD.name)
    for match in _PLAIN_WORD.finditer(normalized.data):
        value = normalized.text(*match.span(1)).lower()
        if value not in WORDS["no_password"] and not ADJECTIVE.search(value) and not values.is_stand_in(value):
            yield Match(*match.span(1), 0.6, checks.PASSWORD.name)


def _secrets(normalized: NormalizedText) -> Iterator[Match]:
    for start, end, _, _ in _values(normalized.data, _SECRET_WORD, is_place):
        if _SETTING.match(normalized.data, start, end):
            continue
        yield from checked(normalized, start, end, checks.made, 0.8)


def _values(
    data: bytes, word: Expression, excluded: Callable[[bytes, int], bool] | None = None
) -> Iterator[tuple[int, int, bool, bool]]:
    """Yields the possible values of each `word` that is not excluded at its beginning, up to the end of its sentence:
    the span, whether it is quoted, and whether `is` or `:` links it.
    """
    words = [found.span() for found in word.finditer(data)]
    for (begins, first), (following, _) in pairwise([*words, (len(data), 0)]):
        if following - first < _LEAST or (excluded is not None and excluded(data, begins + 1)):
            continue
        last = min(following, first + _REACH)
        stop = _SENTENCE_END.search(data, first - 1, last)
        if stop is not None:
            last = min(last, stop.end())
        at = first
        remark = _REMARK.match(data, first, last)
        plain = first if remark is None else remark.end() - 1
        while (linked := _LINKED.search(data, at, last)) is not None:
            quoted = linked.start(2) >= 0
            start, end = span_of(linked, 2)
            if not quoted and data[start] in b"([{" and data[end - 1] in b")]}.,":
                start += 1
            if _IN_CODE.search(data, plain, linked.start()) or (data[end - 1 : end] == b"}" and data[start] in b"${"):
                break
            if end == last == following < len(data):
                # The next word begins inside of it: a name, not a value.
                break
            link = linked[1].strip()
            if not quoted and not _SOME_SIGN.search(data, start, end):
                # The value may be a link itself, with the blank before it: `ist jetzt …`.
                at = max(linked.start() + 1, linked.end(1) - 1)
                continue
            mere = link in {b"", b":"}
            # Only what `_OPENS` matches may come between the word and a mere colon or space.
            if not (not mere and _ABOUT_IT.match(data, first)) and (
                not mere
                or linked.start() - first <= len(link)
                or (link and _OPENS.search(data[first : linked.start()]))
            ):
                yield start, end if quoted else trimmed(data, start, end), quoted, bool(link)
            at = linked.end(1) if link else linked.start() + 1


def _is_odd(value: str, *, linked: bool) -> bool:
    """Digits or signs where prose has words: no part of a sentence, a time or a number of things."""
    # After `is`, it may have a point in it, as names in programs have.
    pointed = linked and _POINTED.fullmatch(value) is not None
    if not values.is_chosen(value, quoted=pointed):
        return False
    if value.isdigit():
        return linked and len(value) >= 5
    letters = sum(char.isalpha() for char in value)
    return 0 < letters < sum(char not in "-'/." for char in value.rstrip("!?")) and (linked or len(value) >= 6)


def _changed(normalized: NormalizedText) -> Iterator[Match]:
    for match in _CHANGED_TO.finditer(normalized.data):
        start, end = match.span(1)
        if not _CHANGE.search(normalized.data, max(0, match.start() - _REACH), min(len(normalized.data), end + _REACH)):
            continue
        for one in checked(normalized, start, end, checks.strong, 0.75):
            if _INNER.search(normalized.text(one.start, one.end)):
                yield one


RECOGNIZERS = (table("said", {"passwords": _passwords, "secrets": _secrets, "changed": _changed}),)
