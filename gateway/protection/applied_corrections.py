"""Says which of a caller's corrections had an effect on a request, for its receipt and for the caller."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from unicodedata import normalize

from gateway.corrections.given import Denied, plain
from gateway.corrections.lists import Corrections
from gateway.models import CORRECTION, Entity
from gateway.protection.blocks import BlockFindings
from gateway.text.fields import MessageField, Span

OTHER = "CUSTOM"
"""The type under which findings are counted whose type only a caller knows."""


@dataclass(frozen=True, slots=True, repr=False)
class Applied:
    """The corrections that had an effect on a request: values left in clear, and values hidden.

    `allow` and `deny` count those of the request, `asked` all of the request. Its repr shows none of them.
    """

    allowed: frozenset[str]
    denied: frozenset[Denied]
    asked: tuple[int, int]
    applied: tuple[int, int]

    def counts(self) -> dict[str, dict[str, int]]:
        """Returns for `allow` and `deny` how many were asked for and applied, and how many stored ones were."""
        found = {}
        sizes = zip(("allow", "deny"), self.asked, self.applied, (self.allowed, self.denied), strict=True)
        for kind, asked, applied, all_of_them in sizes:
            if asked or all_of_them:
                found[kind] = {"asked": asked, "applied": applied, "stored": len(all_of_them) - applied}
        return found


def applied(
    corrections: Corrections, blocks: Sequence[Sequence[MessageField]], found: Sequence[BlockFindings]
) -> Applied:
    """Returns which corrections had an effect, from the findings in blocks that are not yet protected."""
    texts = [[text for each in block for text in each.texts] for block in blocks]
    allowed = frozenset(normalize("NFC", value) for value in _left(texts, found))
    denied = frozenset(
        Denied(one.type, plain(text[one.start : one.end]))
        for block, each in zip(texts, found, strict=True)
        for text, spans in zip(block, each.spans, strict=True)
        if (hidden := _by_type(span for span in spans if span.recognizer == CORRECTION))
        for one in corrections.find(text)
        if one.type in hidden and _meets(one, hidden[one.type])
    )
    given = corrections.given
    allow = {normalize("NFC", value) for value in given.allow}
    deny = {Denied(each.type, plain(each.value)) for each in given.deny}
    return Applied(allowed, denied, (len(allow), len(deny)), (len(allow & allowed), len(deny & denied)))


def _by_type(spans: Iterable[Span]) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for span in spans:
        found.setdefault(span.type, []).append(span)
    return found


def _meets(one: Entity, spans: Sequence[Span]) -> bool:
    """Whether a finding overlaps one of the spans, which are sorted and disjoint."""
    at = bisect_right(spans, one.start, key=attrgetter("end"))
    return at < len(spans) and spans[at].start < one.end


def _left(texts: Sequence[Sequence[str]], found: Sequence[BlockFindings]) -> Iterator[str]:
    for number, each in enumerate(found):
        places = {(number, at): stretches for at, stretches in each.clear.items()}
        for (block, at), stretches in (*places.items(), *each.clear_earlier.items()):
            yield from (texts[block][at][start:end] for start, end in stretches)


def counted_as(type: str, own: frozenset[str]) -> str:
    """Returns the type under which receipts and counts have a finding; those in `own` only the caller knows."""
    return OTHER if type in own else type
