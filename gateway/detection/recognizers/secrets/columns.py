"""Finds secrets next to their label in columns without a header. Rules: `columns.toml`."""

from collections.abc import Iterator

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import checked, table
from gateway.detection.recognizers.secrets._names import Kind, kind_of
from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS, WORDS

_EXPRESSIONS = Expressions({**read_toml(__file__)["parts"], **EXPRESSIONS})
_PLACES, _PASSWORD_WORD, _ACCOUNT = _EXPRESSIONS.re2("places", "password_word", "account")
_PIN, _CODE, _NUMBERED = _EXPRESSIONS.of_text("pin", "code", "numbered")
_NEAR = 160


def _labelled(normalized: NormalizedText) -> Iterator[Match]:
    data = normalized.data
    for match in _PLACES.finditer(data):
        label, (start, end) = match[1].decode("utf-8", "replace"), match.span(2)
        account = _ACCOUNT.search(data, max(0, start - _NEAR), min(len(data), start + _NEAR)) is not None

        def check(value: str, quoted: bool, label: str = label, account: bool = account) -> EntityType | None:
            return None if checks.NO_VALUE.fullmatch(value) else _type(label, value, account=account)

        yield from checked(normalized, start, end, check, 0.75)


def _type(label: str, value: str, *, account: bool) -> EntityType | None:
    kind = kind_of(label)
    if _PASSWORD_WORD.search(label.encode()):
        kind = Kind.PASSWORD
    if _CODE.fullmatch(value):
        return checks.code(value, True) if _PIN.search(label) or (kind is Kind.PASSWORD and account) else None
    if kind is Kind.PASSWORD and (value.isalpha() or _NUMBERED.fullmatch(value) or "/" in value):
        plain = account and value not in WORDS["no_password"] and values.is_chosen(value, quoted=value.isalpha())
        return checks.PASSWORD if plain else None
    return checks.after_name(kind, value, False)


RECOGNIZERS = (table("columns", {"labelled": _labelled}),)
