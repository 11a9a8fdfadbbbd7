"""Says where an operator's edit holds private text, in types and places only."""

from collections.abc import Iterator, Mapping
from datetime import date

from gateway.exchange.leak_search import LeakSearch
from gateway.http.strict_json import Json

_MOST = 20


def places(edited: Json, sent: Json, private: Mapping[str | date, str]) -> list[str]:
    """Returns the places in `edited` of private values, by type: `PERSON at /messages/0/content, character 12`.

    Member names that the protected request `sent` does not have are shown as `*`, since they may be private.
    """
    names = frozenset(_names(sent))
    found = [
        f"{type_} at {pointer or '/'}{f', character {start + 1}' if start is not None else ''}"
        for pointer, text in _texts(edited, names)
        for type_, start in _values(text, private)
    ]
    return found[:_MOST] or sorted({f"{type_} across several texts" for type_ in private.values()})


def _values(text: str, private: Mapping[str | date, str]) -> list[tuple[str, int | None]]:
    """Returns the types of the values in a text and where each starts, or None for one in another spelling."""
    search = LeakSearch([text])
    held = {value: type_ for value, type_ in private.items() if search.holds(value)}
    spans: list[tuple[int, int, str]] = []
    # Longest first: the parts of a name are values too.
    for value in sorted((value for value in held if isinstance(value, str)), key=len, reverse=True):
        start = text.find(value)
        while start >= 0 and len(spans) < _MOST:
            end = start + len(value)
            if not any(first <= start and end <= last for first, last, _ in spans):
                spans.append((start, end, held[value]))
            start = text.find(value, end)
    literal = {type_ for *_, type_ in spans}
    respelled = sorted(set(held.values()) - literal)
    return [*((type_, start) for start, _, type_ in sorted(spans)), *((type_, None) for type_ in respelled)]


def _texts(value: Json, names: frozenset[str], pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yields every string, member name and number with its place as a JSON pointer."""
    if isinstance(value, dict):
        for name, inner in value.items():
            place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1') if name in names else '*'}"
            if name not in names:
                yield place, name
            yield from _texts(inner, names, place)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, names, f"{pointer}/{index}")
    elif value is not None and not isinstance(value, bool):
        yield pointer, str(value)


def _names(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _names(inner)
