"""Finds names in texts of any length: divides them into blocks, and has a model read those that are not remembered."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from gateway.detection.job_context import stop_if_given_up
from gateway.detection.memory import Recall
from gateway.detection.ner.blocks import MAX_LENGTH, Block, blocks
from gateway.detection.ner.columns import corrected
from gateway.detection.ner.decoded import decoded, with_blanks
from gateway.detection.recognizer import EntityType
from gateway.detection.terminal_sequences import HIDDEN, hide_sequences
from gateway.models import Entity

_TOGETHER = 96_000
"""Characters read together: few enough to fit in memory, and to end soon after the caller has stopped waiting."""


class Reader(Protocol):
    """A model that reads short texts, in this process or in another. Thread-safe."""

    version: str
    """Changes whenever its findings may change."""
    hash: str
    """SHA-256 of its weights, in hex."""
    types: Mapping[str, EntityType]

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Returns what is in each text, sorted and disjoint. Blocks. What is in one has no effect on another.

        Raises Unavailable (`detection_failed`, `detection_timeout`).
        """
        ...

    def rest(self) -> None:
        """Gives up what takes memory and can be had again."""
        ...


class _Part(NamedTuple):
    """A block of one of several texts."""

    number: int
    block: Block
    text: str
    """The block with its context."""
    is_whole: bool
    """Whether the text is no longer than the block."""


class NameFinder:
    """An engine that finds what `reader` finds. Thread-safe."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.version = reader.version
        self.types = reader.types

    def close(self) -> None:
        """Does nothing: readers have no threads or connections of their own."""

    def detect(self, text: str) -> tuple[Entity, ...]:
        """Returns the candidates in a text, as `detect_all` does."""
        (found,) = self.detect_all([text])
        return found

    def detect_all(self, texts: Sequence[str], recall: Recall | None = None) -> list[tuple[Entity, ...]]:
        """Returns the candidates in each text, sorted and disjoint, then those in what is encoded in it. Blocks.

        Blocks of a long text that `recall` knows are not read again. Raises Unavailable (`detection_failed`,
        `detection_timeout`) if the model did not process all texts.
        """
        shown = [*map(hide_sequences, texts)]
        found = self._detect([text.replace(HIDDEN, "") for text in shown], recall)
        return [_in_source(*each) if HIDDEN in each[0] else each[1] for each in zip(shown, found, strict=True)]

    def _detect(self, texts: Sequence[str], recall: Recall | None) -> list[tuple[Entity, ...]]:
        variants = [(number, one) for number, text in enumerate(texts) if (one := decoded(text)) is not None]
        read = [*map(with_blanks, [*texts, *(one.text for _, one in variants)])]
        found = [[*corrected(text, own)] for text, own in zip(read, self._find(read, recall), strict=True)]
        for (number, one), within in zip(variants, found[len(texts) :], strict=True):
            found[number] += one.in_source(within)
        return [tuple(own) for own in found[: len(texts)]]

    def _find(self, texts: Sequence[str], recall: Recall | None) -> list[list[Entity]]:
        found: list[list[Entity]] = [[] for _ in texts]
        for some in batches(_parts(texts), _TOGETHER, lambda part: len(part.text)):
            stop_if_given_up()
            for part, entities in zip(some, self._remembered(some, recall), strict=True):
                own = found[part.number]
                own += _own(texts[part.number], part.block, entities, own[-1].end if own else 0)
        return found

    def _remembered(self, parts: Sequence[_Part], recall: Recall | None) -> Iterator[tuple[Entity, ...]]:
        """Yields what is in each part, reading those that `recall` does not know. The caller remembers whole texts."""
        before = self.version.encode()
        digests = [None if recall is None or one.is_whole else recall.digest(before, [one.text]) for one in parts]
        known = [None if recall is None or digest is None else recall.get(digest) for digest in digests]
        new = list(dict.fromkeys(part.text for part, entities in zip(parts, known, strict=True) if entities is None))
        read = dict(zip(new, self._reader.read(new), strict=True)) if new else {}
        for part, digest, entities in zip(parts, digests, known, strict=True):
            if entities is not None:
                yield entities
                continue
            if recall is not None and digest is not None:
                recall.put(digest, read[part.text], len(read[part.text]))
            yield read[part.text]


def _in_source(shown: str, found: Iterable[Entity]) -> tuple[Entity, ...]:
    """Returns the entities, found in a text without what is hidden in it, with their places in the whole text."""
    places = [at for at, char in enumerate(shown) if char != HIDDEN]
    return tuple(one._replace(start=places[one.start], end=places[one.end - 1] + 1) for one in found)


def _parts(texts: Sequence[str]) -> Iterator[_Part]:
    for number, text in enumerate(texts):
        for block in blocks(text):
            yield _Part(number, block, text[block.first : block.last], len(text) <= MAX_LENGTH)


def batches[T](items: Iterable[T], size: int, length: Callable[[T], int]) -> Iterator[list[T]]:
    """Yields the items in order, in lists that end once their length reaches `size`."""
    some: list[T] = []
    total = 0
    for item in items:
        some.append(item)
        total += length(item)
        if total >= size:
            yield some
            some, total = [], 0
    if some:
        yield some


def _own(text: str, block: Block, entities: Iterable[Entity], after: int) -> Iterator[Entity]:
    """Yields what is in a block and comes after `after`, with its place in the whole text.

    What reaches into the block from the one before, or out of it, is whole; both may have found it, or one alone.
    """
    for one in entities:
        start, end = block.first + one.start, block.first + one.end
        if start < after:
            start = next((at for at in range(after, end) if text[at].isalnum()), end)
        if start < min(block.end, end) and end > block.start:
            yield one._replace(start=start, end=end)
