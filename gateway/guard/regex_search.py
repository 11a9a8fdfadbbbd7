"""RE2 expressions over texts, with places in characters: they search bytes, everything else here counts characters."""

from collections.abc import Iterator

import re2

from gateway.detection.re2_expression import Expression


def expression(pattern: str) -> Expression:
    """In any case, `^` and `$` at lines. For what every answer is searched for: one pass, whatever is in it."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return Expression(re2.compile(f"(?m){pattern}", options))


def holds(wanted: Expression, text: str) -> bool:
    """Whether it matches anywhere."""
    return wanted.search(text.encode("utf-8", "surrogatepass")) is not None


def matches(wanted: Expression, text: str) -> Iterator[tuple[int, list[str | None]]]:
    """Where each match begins, and what it and its groups are; None for a group that took no part."""
    data = text.encode("utf-8", "surrogatepass")
    plain = len(data) == len(text)
    at = seen = 0
    for match in wanted.finditer(data):
        begin = match.start()
        at, seen = begin if plain else at + len(data[seen:begin].decode("utf-8", "surrogatepass")), begin
        yield (
            at,
            [None if said is None else said.decode("utf-8", "surrogatepass") for said in (match[0], *match.groups())],
        )
