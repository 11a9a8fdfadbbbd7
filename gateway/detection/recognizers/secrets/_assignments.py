"""Finds assignments: `name = value` in the many forms of code, configuration and markup.

One expression finds the name and what joins it to the value; the value is then read up to the end of its quotes, its
brackets or its line. Reading takes linear time: no byte is read twice, and a value ends after 600 bytes.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gateway.detection.recognizer import compile_pattern
from gateway.detection.recognizers.secrets._vocabulary import compile_words

LONGEST = 600
"""Bytes of the longest value."""

_OFTEN, _MOST_NAMES = 8, 2

_NAME = r"([\w.\-$@]*(?:(?:<<secret_name>>)[\w.\-ñ]*|auth\b))"
_CLOSERS = r"(?:\\{0,3}[\"'\]]){0,3}(?:\[\d*\])?(?:[^\S\n]{1,3}value)?"
_JOINS = (
    r"(,?\s{0,80}[\"']?value[\"']?[ \t]{0,4}[:=]|</\w{2,12}>\s{0,80}<\w{2,12}>\s{0,80}|[ \t]{1,40}\|[ \t]"
    r"|[ \t]{0,40}(?:[:?.|+!~*]{0,4}={1,3}>?|\|\||\?\?|:{1,3}(?:-|\*{0,2})|->|<-|,|\(|>\s{0,80}(?:<value>\s{0,80})?))"
)
_NO_BRACKET = r"(?:[^\s(\[{]|\{\{)"

# Ends with the first character of the value, or of the quotes where nothing joins them to the name.
ASSIGNMENT = compile_words(
    rf"(?i){_NAME}{_CLOSERS}<<declared_type>>(?:{_JOINS}[ \t]*{_NO_BRACKET}|[ \t]{{1,4}}[@\\]{{0,4}}[\"'`])"
)
# Without its groups it runs in RE2's fast automaton; most of what it finds is as simple as this.
_PLACES = compile_pattern(ASSIGNMENT.pattern, captures=False)
_SIMPLE = re.compile(rb"([\w.\-$@]+)[ \t]*([:=])[ \t]*")

# The following read no more than a value, so Python's own engine, which is quicker to start, is safe.
_QUOTED = re.compile(rb"(?:\"(?=\\\")|[@$bBrRuUfFLN]{0,2}|[A-Za-z_.:]{0,40}\()(?:\\{0,3}\"\"\"|'''|\\{0,3}[\"'`])")
# A quote that something follows belongs to the value.
_BARE = re.compile(rb"(?:[^\s\"`<]|(?<!=)\"(?=[^\s\"',;:.&|+)}\]>\\])){1,600}")
# The only line of a block (YAML) or of a here-document (shell, HCL).
_BELOW = re.compile(
    rb"(?:[|>][+\-]?\d?[ \t]{0,8}\r?\n[ \t]{1,80}|<<-?[\"']?\w{1,20}[\"']?\r?\n[ \t]{0,80})"
    rb"(\S{4,600})[ \t]{0,8}(?:\r?\n|$)"
)
_LINES = re.compile(rb"\s{0,80}([^\s<]{4,600})\s{0,80}</|\s{0,80}<!\[CDATA\[\s{0,80}([^\s\]]{4,600})\s{0,80}\]\]>")
_NEXT_FIELD = re.compile(rb"(?:&amp;|[&;,])(?:\s|$|[A-Za-z_][\w. \-]{0,30}[=:])|\?[A-Za-z_][\w.\-]{0,30}=")
_VALUE_NEXT = re.compile(rb"\\?[\"']>|\\?[\"'],?\s{0,80}\\?[\"']?value|</")
# `Jwt:Key = …`: the value of the one is the name of the other.
_GOES_ON = re.compile(rb"[ \t]{1,8}=[ \t]")
_ESCAPED_LINE = re.compile(rb"\\r?\\?n|\\[rnt]")
# The value of a variable or a call, and what to take in its place: `${NAME:-…}`, `os.environ.get("NAME", …)`,
# `env.NAME || …`, `.Values.name | default …`. Where the names of variables end and the default begins:
_VARIABLE = re.compile(rb"[\"'`]?(?:\$\{(?:[\w.\-]{1,64}:[\-=]?|[\w.]{1,64}-)){1,3}(?![?+}])")
_TEMPLATE = re.compile(rb"[\"'`](?=\$?\{\{)")
_EXPRESSION = re.compile(rb"[^\n;\"'`]{1,100}")
_NAME_LITERAL = re.compile(rb"[\"'`][\w.\-]{1,64}[\"'`]")
_ELSE = re.compile(
    rb"(?:\|\||\?\?|\?:|\} ?//|\bor|\belse|[oO]r_?[eE]lse\(|\bdefault[ (]{0,2}|\bunwrap_or\w{0,5}\((?:\|\w?\|)?"
    rb"|\bfetch\([^()]{1,70}\) ?\{"
    rb"|(?i:env|get|fetch|default|prop|coalesce|ifnull|param|config|setting|option)\w{0,24}\([^()]{1,80},)"
    rb"[ \t]{0,4}[bruBRU@]{0,2}$"
)
_CLOSER = re.compile(rb"[)\]}]")
_OPENERS, _CLOSING, _QUOTES = b"([{", b")]}", b"\"'`"
_QUOTED_BY = frozenset((b'"', b"'", b"`"))


class Assignment(NamedTuple):
    """A name, where it begins, what joins it to the value (`=`, `:`, `,`, `(` or nothing), and where the value is."""

    at: int
    name: str
    join: str
    start: int
    end: int
    quoted: bool


def assignments(data: bytes) -> Iterator[Assignment]:
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
        elif (match := ASSIGNMENT.match(data, first, last)) is not None:
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
        yield Assignment(first, name, join, start, end, quoted)
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
    behind = at + (data[at] in _QUOTES)
    said = data[first:behind]
    if data.startswith(said * _OFTEN, behind):
        while data.startswith(said, behind):
            first, behind = behind, behind + len(said)
    return first


def _value(data: bytes, at: int, join: str) -> tuple[int, int, bool] | None:
    last = min(len(data), at + LONGEST + 8)
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
