"""Finds secrets by the name they are assigned to. Rules and expressions: `assigned_values.toml`.

Assignments, `name = value`, have many forms in code, configuration and markup. One expression finds the name and what
joins it to the value; the value is then read up to the end of its quotes, its brackets or its line. Reading takes
linear time: no byte is read twice, and a value ends after 600 bytes.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import table
from gateway.detection.recognizers.secrets._names import Kind, is_place, kind_below, kind_of
from gateway.detection.recognizers.secrets._vocabulary import ADJECTIVE, EXPRESSIONS, WORDS

_LONGEST = 600
"""Bytes of the longest value."""

_OFTEN, _MOST_NAMES = 8, 2

_EXPRESSIONS = Expressions({**read_toml(__file__)["parts"], **EXPRESSIONS})
_ASSIGNMENT, _ACCOUNT_NEAR, _NAMED_FOR_IT = _EXPRESSIONS.re2("assignment", "account_near", "named_for_it")
_OTHER_SETTING, _NETWORK, _FAIL = _EXPRESSIONS.re2("other_setting", "network", "fail")
_SIMPLE, _QUOTED, _BARE, _BELOW, _LINES = _EXPRESSIONS.of_bytes("simple", "quoted", "bare", "below", "lines")
_NEXT_FIELD, _VALUE_NEXT, _GOES_ON, _LEAD = _EXPRESSIONS.of_bytes("next_field", "value_next", "goes_on", "lead")
_ESCAPED_LINE, _VARIABLE, _TEMPLATE = _EXPRESSIONS.of_bytes("escaped_line", "variable", "template")
_EXPRESSION, _NAME_LITERAL, _ELSE, _CLOSER = _EXPRESSIONS.of_bytes("expression", "name_literal", "else", "closer")
_ENVIRONMENT = re.compile(_EXPRESSIONS["environment"])
# Without its groups it runs in RE2's fast automaton; most of what it finds is as simple as this.
_PLACES = compile_pattern(_ASSIGNMENT.pattern, captures=False)

_OPENERS, _CLOSING, _QUOTES = b"([{", b")]}", b"\"'`"
_QUOTED_BY = frozenset((b'"', b"'", b"`"))
_LEAST_OF_NETWORK = 8
"""Characters of the shortest key of a wireless network (IEEE 802.11, annex J.4)."""
_NEAR = 120
_DEFINED, _LONGEST_CALL = re.compile(rb"\bdefine\s*\(\s*[\"']$"), 16
_LEAST_OF_WORD = 5
_TRAIL = re.compile(rb"\s*|[ \t]+(?:#|//|;).*", re.DOTALL)
_SEPARATORS = frozenset((b";", b"&", b" ", b'"', b"'"))
_SECTION = re.compile(rb"(?m)^\[[^\]\n]+\][ \t]*\r?$")
_SECTION_NEAR = 400
_OPENED, _CLOSED = frozenset((b",", b"{", b"(", b"[")), frozenset((b"}", b")", b"]"))
_OF_WORDS = ("psk", "passphrase")
"""Ends of the names of what is often made of words."""
_LONGEST_PHRASE = 80
_LENGTH_OF_GROUPS = 19


class _Assignment(NamedTuple):
    """A name, where it begins, what joins it to the value (`=`, `:`, `,`, `(` or nothing), and where the value is."""

    at: int
    name: str
    join: str
    start: int
    end: int
    quoted: bool


def _assignments(data: bytes) -> Iterator[_Assignment]:
    """Yields every assignment to what may be the name of a secret, from left to right, never overlapping."""
    at = 0
    while place := _PLACES.search(data, at):
        first, last = place.span()
        at = last - 1 - data.startswith(b"{{", last - 2)
        if (repeated := _last_of_repeated(data, first, at)) > first:
            at = repeated
            continue
        if (simple := _SIMPLE.fullmatch(data, first, at)) is not None:
            name, join = simple[1].decode(), simple[2].decode()
        elif (match := _ASSIGNMENT.match(data, first, last)) is not None:
            name = match[1].decode("utf-8", "replace")
            join = (match[2] or b"").decode().strip()
        else:
            return
        value = _value(data, at, join)
        if value is None:
            at += 1
            continue
        start, end, quoted = value
        if b"(" in data[at:start]:
            # `password = decode("...")`: what is handed to a call.
            join = "("
        yield _Assignment(first, name, join, start, end, quoted)
        # `key="Password" value="..."`, `getenv("PASSWORD", "...")`: the value is a name itself, or holds names, as
        # `'{"password": "..."}'` does.
        named = not quoted and _GOES_ON.match(data, end) is not None
        if (
            join != "("
            and not named
            and data[start] != 0x7B
            and (name.lower() != "key" or _VALUE_NEXT.match(data, end) is None)
        ):
            at = end


def _last_of_repeated(data: bytes, first: int, at: int) -> int:
    """Returns where the last of `token: token: token: …` begins, the only one that can have a value."""
    after = at + (data[at] in _QUOTES)
    said = data[first:after]
    if data.startswith(said * _OFTEN, after):
        while data.startswith(said, after):
            first, after = after, after + len(said)
    return first


def _value(data: bytes, at: int, join: str) -> tuple[int, int, bool] | None:
    last = min(len(data), at + _LONGEST + 8)
    if join.startswith((">", "</")):
        lines = _LINES.match(data, at, last)
        return None if lines is None else (*lines.span(lines.lastindex or 1), False)
    if join[-1:] in {":", "="} and (below := _BELOW.match(data, at, last)) is not None:
        return *below.span(1), False
    at = _default(data, at, last)
    opening = _QUOTED.match(data, at, last)
    if opening is not None:
        return _quoted(data, opening.end(), last)
    return None if join in {",", "(", "||", "??", ""} else _bare(data, at, last)


def _default(data: bytes, at: int, last: int) -> int:
    """Returns where the default begins that the expression at `at` has if its variables are not set, or `at`."""
    if (variable := _VARIABLE.match(data, at, last)) is not None:
        return variable.end()
    after = at if (template := _TEMPLATE.match(data, at, last)) is None else template.end()
    for _ in range(_MOST_NAMES + 1):
        expression = _EXPRESSION.match(data, after, last)
        if expression is None:
            break
        if _ELSE.search(data, at, expression.end()) is not None:
            return expression.end() if data[expression.end() : expression.end() + 1] in _QUOTED_BY else at
        literal = _NAME_LITERAL.match(data, expression.end(), last)
        if literal is None:
            break
        after = literal.end()
    return at


def _quoted(data: bytes, start: int, last: int) -> tuple[int, int, bool] | None:
    """Reads from `start`, after the opening quote, to the same closing one on the same line."""
    quote, escaped = data[start - 1 : start], data[start - 2 : start - 1] == b"\\"
    end = data.find(quote, start, last)
    # A quote after an odd number of backslashes belongs to the value, unless the opening one is escaped too.
    while end >= 0 and not escaped and _backslashes(data, start, end) % 2:
        end = data.find(quote, end + 1, last)
    if end < 0 or b"\n" in data[start:end]:
        return None
    return start, end - _backslashes(data, start, end) if escaped else end, True


def _backslashes(data: bytes, start: int, end: int) -> int:
    return end - start - len(data[start:end].rstrip(b"\\"))


def _bare(data: bytes, start: int, last: int) -> tuple[int, int, bool] | None:
    match = _BARE.match(data, start, last)
    if match is None or match[0][0] in _OPENERS:
        return None
    value = match[0]
    escaped = _ESCAPED_LINE.search(value)
    if escaped is not None:
        value = value[: escaped.start()]
    # Where underscores were read as blanks, the name of the next parameter continues after the value.
    field = _NEXT_FIELD.search(data, start, min(last, start + len(value) + 32))
    if field is not None and (data[field.start()] == 0x26 or field.end() <= start + len(value)):
        value = value[: field.start() - start]
    value = _unclosed(value).rstrip(b"'\"`,;>\\")
    return (start, start + len(value), False) if value else None


def _unclosed(value: bytes) -> bytes:
    """Returns the value up to a bracket that was opened before it, unless the value continues after the bracket."""
    if _CLOSER.search(value) is None:
        return value
    depth = 0
    for at, byte in enumerate(value):
        if byte in _OPENERS:
            depth += 1
        elif byte in _CLOSING:
            depth -= 1
            if depth < 0 and not value[at + 1 : at + 2].isalnum():
                return value[:at]
    return value


def _assigned(normalized: NormalizedText) -> Iterator[Match]:
    for one in _assignments(normalized.data):
        kind = _kind(normalized.data, one)
        if kind is not None and one.end - one.start >= 4:
            yield from _checked(normalized, one, kind)


def _kind(data: bytes, one: _Assignment) -> Kind | None:
    name = one.name.lower()
    if name == "token" and is_place(data, one.at):
        return None
    kind = kind_of(one.name)
    if kind is None and name == "key":
        kind = kind_below(data, one.at)
        if kind is None and one.end - one.start >= _LEAST_OF_NETWORK:
            kind = Kind.PASSWORD if _NETWORK.search(data, max(0, one.at - _NEAR), one.at) else None
    return kind


def _checked(normalized: NormalizedText, one: _Assignment, kind: Kind) -> Iterator[Match]:
    value = normalized.text(one.start, one.end)
    end, score, found = one.end, 0.9 if one.quoted else 0.75, None
    if kind is Kind.PASSWORD and (words := _words(normalized, one, value)):
        end, found = one.start + len(words.encode()), checks.PASSWORD
    elif not one.quoted and _is_expression(normalized.data, one, value):
        return
    elif one.join in {",", "(", "", "|"} and not _DEFINED.search(
        normalized.data[max(0, one.at - _LONGEST_CALL) : one.at]
    ):
        # A list, a call or a mere neighbour, where only values count that no program would use as a name.
        is_no_name = values.is_strong(value) or values.is_made(value) or values.is_of_letters(value)
        sure = is_no_name and not value.startswith("-") and "\\" not in value
        found = checks.by_kind(kind, value, one.quoted) if sure else None
    elif kind is Kind.PASSWORD and not one.quoted and _is_plain_password(normalized.data, one, value):
        score, found = 0.6, checks.PASSWORD
    elif kind is not Kind.PASSWORD or not _is_verdict(normalized.data, one, value):
        found = checks.by_kind(kind, value, one.quoted)
    if found is not None:
        yield Match(one.start, end, score, found.name)


def _words(normalized: NormalizedText, one: _Assignment, value: str) -> str:
    """Returns a password in groups of letters, or a passphrase that is expected or sets an environment variable."""
    of_words = one.name.lower().endswith(_OF_WORDS)
    if one.quoted:
        set_ = one.join == "=" and _ENVIRONMENT.fullmatch(one.name)
        return value if (of_words or set_) and values.is_phrase(value, least=3 if of_words else 2) else ""
    line = normalized.text(one.start, one.start + _LONGEST_PHRASE).partition("\n")[0].rstrip()
    if values.is_app_password(groups := line[:_LENGTH_OF_GROUPS]):
        return groups
    return line if of_words and one.join == "=" and values.is_phrase(line) else ""


def _is_verdict(data: bytes, one: _Assignment, value: str) -> bool:
    """Returns whether it is the result of a test: `pass: 12`, `--- PASS: TestLogin2`."""
    if one.name == "PASS" and value.isalnum() and not values.is_gibberish(value):
        return _ACCOUNT_NEAR.search(data, max(0, one.start - _NEAR), one.start) is None
    return value.isdigit() and one.name.strip("-_.$").lower() in {"pass", "pw"}


def _is_expression(data: bytes, one: _Assignment, value: str) -> bool:
    """Returns whether an unquoted value after `=>` or before a semicolon is code: it is, unless it can be no name."""
    if one.join.endswith(("=>", "->", "<-")):
        return not values.is_made(value) or not value.isascii() or any(char in "(){}[]" for char in value)
    return data[one.end : one.end + 1] == b";" and any(char in "(){}[]" for char in value)


def _is_plain_password(data: bytes, one: _Assignment, value: str) -> bool:
    """Returns whether a plain word is a password, for which it has to be set, and not described or computed."""
    # `passWord` is a name in a program.
    if not (value.isalpha() and len(value) >= _LEAST_OF_WORD and (value.islower() or value.istitle())):
        return False
    if values.is_stand_in(value) or _NAMED_FOR_IT.search(value.lower().encode()):
        return False
    first, last = data.rfind(b"\n", 0, one.at) + 1, data.find(b"\n", one.end)
    before, after = data[max(first, one.at - _NEAR) : one.at], data[one.end : len(data) if last < 0 else last]
    alone, ends = _LEAD.fullmatch(before) is not None, _TRAIL.fullmatch(after) is not None
    if one.join == "=" and data[one.start - 1 : one.start] == b"=":
        # In a connection string, a command or a query string, or on a line of its own.
        closed = ends or after[:1] in _SEPARATORS
        among = _OTHER_SETTING.search(before) or _OTHER_SETTING.search(after[:_NEAR]) or before[-1:] in {b"?", b"&"}
        whole = (alone or before[-1:] == b'"') and (after[:1] == b";" or before[-1:] == after[:1])
        named = one.name.startswith("--") or _ENVIRONMENT.fullmatch(one.name) or (whole and one.name[:1].isupper())
        return bool((alone and ends) or (closed and (among or named)))
    described = value in WORDS["no_password"] or ADJECTIVE.search(value)
    if one.join.startswith(">"):
        return value.islower() and after.startswith(b"</") and not described
    if not (value.islower() and ends):
        return False
    if one.join == "=":
        return alone and _SECTION.search(data, max(0, first - _SECTION_NEAR), first) is not None
    if one.join != ":" or data[one.start - 2 : one.start] != b": ":
        return False
    # In an object or a call, it would be a variable.
    above, below = data[max(0, first - _NEAR) : first].rstrip()[-1:], data[one.end : one.end + _NEAR].lstrip()[:1]
    if above in _OPENED or below in _CLOSED:
        return False
    if _ACCOUNT_NEAR.search(data, max(0, one.start - _NEAR), one.start) is not None:
        return True
    verdict = one.name.strip("0123456789").lower() in {"pass", "pw"} or _FAIL.search(
        data, max(0, first - _NEAR), one.end
    )
    return alone and not described and not verdict


RECOGNIZERS = (table("assigned_values", {"assigned": _assigned}),)
