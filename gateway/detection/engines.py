"""Combines several detection engines: the recognizers, the built-in model, an operator's model or service.

Everything an engine finds is a candidate. If one engine fails, detection fails as a whole and nothing is sent.
"""

import re
import string
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Protocol

from gateway.detection.job_context import DETECTION_THREADS
from gateway.detection.memory import Recall
from gateway.detection.normalized_text import covered_spans
from gateway.detection.overlaps import meets, overlapping
from gateway.detection.recognizer import EntityType
from gateway.detection.source_code import SourceCode
from gateway.models import NAME_MODEL, Entity

_MIN_SCORE, _LIKELY, _NEXT_TO_NAME = 0.1, 0.5, 0.6
_MAX_GAP = 4
NAMES = frozenset({"PERSON", "LOCATION", "ORGANIZATION"})
"""Types that are looked for outside code only."""
_NOT_IN_CODE = frozenset({NAME_MODEL, "username.labelled", "labelled.table", "secret.columns"})
"""Recognizers whose findings also count outside code only: labelled accounts, and values found by a table's header."""
_LONG = 8192
"""Characters from which on it pays to search for patterns in a thread of its own."""
_MOST_THREADS = 64
_LONGEST_REMARK = 40
_REMARK = re.compile(r"\([^()\n\d]+\)[,:;]?[ \t]?\Z")
_DECLARED = re.compile(r"[ ]?[({;,)\[<=]|::")
_SEPARATOR = re.compile(r"[ \t]?[,:;(/|–-]?[ \t]?\(?")

# Between a name and what is in the next cell.
_AROUND = f"{string.whitespace},;|<>\"'`#/*"


class Finder(Protocol):
    """Finds candidate entities in a text. May block. Raises Unavailable if the text cannot be searched."""

    version: str
    """Changes whenever its findings may change."""
    types: Mapping[str, EntityType]

    @abstractmethod
    def detect(self, text: str) -> tuple[Entity, ...]:
        """Returns the entities of a text."""

    def detect_all(self, texts: Sequence[str], recall: Recall | None = None) -> Sequence[tuple[Entity, ...]]:
        """Returns the entities of each text; in some engines, in less time than one by one.

        `recall` remembers what the caller sent before, and may be ignored.
        """
        return [*map(self.detect, texts)]


class Engine(Finder, Protocol):
    """A finder that may own connections. Never runs on an event loop."""

    def close(self) -> None: ...


class Engines:
    """Runs the recognizers and any further engines as one finder.

    Texts of `long` characters and more are searched for patterns in a thread of their own.
    """

    def __init__(self, patterns: Finder, others: Sequence[Engine] = (), *, long: int = _LONG) -> None:
        self._patterns = patterns
        self._long = long
        self._others = tuple(others)
        self._threads = ThreadPoolExecutor(_MOST_THREADS, DETECTION_THREADS)
        merged = {name: kind for other in others for name, kind in other.types.items()} | dict(patterns.types)
        self.types: Mapping[str, EntityType] = MappingProxyType(merged)
        self.version = "_".join([patterns.version, *(other.version for other in others)])

    @property
    def are_patterns_only(self) -> bool:
        """Whether a short text takes little time, and never waits."""
        return not self._others

    def detect(self, text: str) -> tuple[Entity, ...]:
        """Returns all candidates, sorted by start, then longest first. They may overlap. Blocks."""
        (found,) = self.detect_all([text])
        return found

    def detect_all(self, texts: Sequence[str], recall: Recall | None = None) -> Sequence[tuple[Entity, ...]]:
        """Returns the candidates in each text."""
        if self._others and sum(map(len, texts)) >= self._long:
            # Meanwhile, since the others wait for another process or a service most of the time.
            patterns = self._threads.submit(self._patterns.detect_all, texts).result
        else:
            patterns = partial(self._patterns.detect_all, texts)
        others = [other.detect_all(texts, recall) for other in self._others]
        return [self._joined(text, *found) for text, *found in zip(texts, patterns(), *others, strict=True)]

    def _joined(self, text: str, patterns: Iterable[Entity], *others: Iterable[Entity]) -> tuple[Entity, ...]:
        found = list(patterns)
        secrets = [one for one in found if one.score >= _LIKELY and self.types[one.type].group == "secret"]
        groups = overlapping(sorted(secrets, key=lambda one: one.start))
        hidden = [(group[0].start, max(one.end for one in group)) for group in groups]
        # Covered placeholders are hidden from the recognizers. Other engines may take one for part of a name.
        excluded = list(covered_spans(text))
        addresses = sorted((one.start, one.end) for one in found if one.type == "EMAIL_ADDRESS")
        for other in others:
            for one in other:
                if self.types[one.type].group != "secret" and meets(hidden, one.start, one.end):
                    # A setting next to a secret may look like the rest of a name to a model.
                    parts = _outside_spans(text, one, sorted((*excluded, *hidden)))
                    found += [part for part in parts if text[part.start : part.end].istitle()]
                    continue
                borders = _borders(one, addresses)
                found += _outside_spans(text, one, sorted((*excluded, *borders)) if borders else excluded)
        found = list(_confirm_numbers_next_to_names(text, _outside_code(text, found)))
        found.sort(key=lambda one: (one.start, -one.end, one.type))
        return tuple(found)

    def close(self) -> None:
        """Ends the threads, and the connections of all engines."""
        self._threads.shutdown(wait=False)
        for other in self._others:
            with suppress(RuntimeError):
                other.close()


def _outside_code(text: str, found: Iterable[Entity]) -> list[Entity]:
    """Returns the entities. Names are cut to the parts outside code, since an identifier is not a person's name."""
    code: SourceCode | None = None
    kept: list[Entity] = []
    for one in found:
        if one.type not in NAMES and one.recognizer not in _NOT_IN_CODE:
            kept.append(one)
            continue
        code = code or SourceCode(text)
        stretches = list(code.within(one.start, one.end))
        if stretches and one.type == "PERSON" and _is_full_name(text, one):
            stretches = []
        kept += _outside_spans(text, one, stretches) if stretches else (one,)
    return kept


def _is_full_name(text: str, one: Entity) -> bool:
    """Returns whether a name is two words in a row with capitals, as in `ADMIN_NAME=Jane Roe`, but not a declaration,
    as in `Size Width;`. They are an expression in no language.
    """
    words = text[one.start : one.end].split(" ")
    plain = all(word.replace("-", "").replace("'", "").replace(".", "").isalpha() for word in words)
    is_name = len(words) > 1 and plain and words[0].istitle() and words[-1].istitle()
    return is_name and not _DECLARED.match(text, one.end)


def _confirm_numbers_next_to_names(text: str, found: Sequence[Entity]) -> Iterable[Entity]:
    """Raises the score of doubtful phone numbers next to a person's name: `Karim (600 11 22 33)`."""
    doubtful = {one for one in found if one.type == "PHONE_NUMBER" and _MIN_SCORE <= one.score < _LIKELY}
    if not doubtful:
        return found
    names = [one for one in found if one.type == "PERSON" and one.score >= _LIKELY]
    first, last = {name.start for name in names}, {name.end for name in names}

    def next_to_name(number: Entity) -> bool:
        # A remark in parentheses may come between: `Karim (night shift), 600 11 22 33`.
        remark = _REMARK.search(text, max(0, number.start - _LONGEST_REMARK), number.start)
        start = number.start if remark is None else remark.start()
        before = (text[at:start] for at in range(max(0, start - _MAX_GAP), start + 1) if at in last)
        after = (text[number.end : at] for at in range(number.end + 1, number.end + _MAX_GAP + 1) if at in first)
        return any(map(_SEPARATOR.fullmatch, chain(before, after)))

    return [one._replace(score=_NEXT_TO_NAME) if one in doubtful and next_to_name(one) else one for one in found]


def _borders(found: Entity, addresses: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns where a name goes over into an e-mail address, or an address into a name, each as an empty span.

    After `Jane Roe`, a model takes the beginning of `jane.roe@acme.test` in the next cell for more of the name.
    """
    first, last = (bisect_left(addresses, (at, 0)) - 1 for at in (found.start, found.end))
    borders: list[tuple[int, int]] = []
    if first >= 0 and found.start < addresses[first][1] < found.end:
        borders.append((addresses[first][1],) * 2)
    if last >= 0 and found.start < addresses[last][0] and found.end < addresses[last][1]:
        borders.append((addresses[last][0],) * 2)
    return borders


def _outside_spans(text: str, found: Entity, excluded: Sequence[tuple[int, int]]) -> Iterator[Entity]:
    """Yields the parts of an entity outside `excluded` spans, which are sorted and disjoint."""
    overlaps = [(start, end) for start, end in excluded if start < found.end and found.start < end]
    if not overlaps:
        yield found
        return
    edges = [found.start, *(edge for span in overlaps for edge in span), found.end]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        piece = text[start:end]
        if piece.strip(_AROUND):
            first = start + len(piece) - len(piece.lstrip(_AROUND))
            yield found._replace(start=first, end=first + len(piece.strip(_AROUND)))
