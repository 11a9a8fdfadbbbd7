"""Rewrites a text, searches the result and maps every finding back to the source; forms may be nested."""

import re
from collections.abc import Callable, Iterator, Sequence

from gateway.detection.deobfuscation import (
    base64,
    compatibility_characters,
    confusables,
    entities,
    escapes,
    hexadecimal,
    identifiers,
    layout,
    line_wrapping,
    mail_encodings,
    markup,
    percent,
    spaced,
    spelled_out,
    spoken_digits,
)
from gateway.detection.deobfuscation.base import Deobfuscation, Edit, RewriteKind
from gateway.detection.deobfuscation.rewrite import RewrittenText
from gateway.detection.deobfuscation.spelled_out import ends_as_host
from gateway.detection.normalized_text import NormalizedText, normalize_text, plain_text
from gateway.detection.prefilter import Prefilter, PrefilterPattern

DEOBFUSCATIONS: tuple[Deobfuscation, ...] = (
    percent.DEOBFUSCATION,
    entities.DEOBFUSCATION,
    escapes.DEOBFUSCATION,
    mail_encodings.QUOTED_PRINTABLE,
    base64.DEOBFUSCATION,
    hexadecimal.DEOBFUSCATION,
    identifiers.DEOBFUSCATION,
    identifiers.FIGURES,
    markup.DEOBFUSCATION,
    layout.ANSWERS,
    mail_encodings.ENCODED_WORDS,
    spelled_out.DEOBFUSCATION,
    spoken_digits.DEOBFUSCATION,
    confusables.DEOBFUSCATION,
    compatibility_characters.DEOBFUSCATION,
    spaced.DEOBFUSCATION,
    line_wrapping.DEOBFUSCATION,
    line_wrapping.HYPHENATED_LINES,
    layout.CELLS,
    layout.ATTRIBUTES,
    layout.ELEMENTS,
    layout.LEADERS,
)
"""Applied for the recognizers, which search for values of a known form."""
FOR_KNOWN_VALUES: tuple[Deobfuscation, ...] = (
    percent.DEOBFUSCATION,
    entities.DEOBFUSCATION,
    escapes.DEOBFUSCATION,
    mail_encodings.QUOTED_PRINTABLE,
    base64.FOR_KNOWN_VALUES,
    base64.WRAPPED_LINES,
    base64.BASE32,
    hexadecimal.FOR_KNOWN_VALUES,
    markup.FOR_KNOWN_VALUES,
    confusables.DEOBFUSCATION,
    compatibility_characters.DEOBFUSCATION,
    spaced.DEOBFUSCATION,
    mail_encodings.ENCODED_WORDS,
    line_wrapping.FOR_KNOWN_VALUES,
)
"""Applied when searching for known values, which may consist of plain words."""
MAX_DEPTH = 3
"""How many forms may be nested."""

_JOINING = frozenset({RewriteKind.JOIN, RewriteKind.UNHYPHEN})
_CERTAIN = 0.9
_STRICT_TYPES = re.compile(
    "SSN|TIN|PASSPORT|LICEN[CS]E|BANK|CARD|IBAN|CRYPTO|KEY|SECRET|PASSWORD|NUMBER|CODE|BIRTH|NHS"
)
_WORK_FACTOR = 6
_MIN_WORK = 1 << 16
PREFILTERS = tuple(PrefilterPattern(deobfuscation.prefilter, deobfuscation.needs) for deobfuscation in DEOBFUSCATIONS)
_KNOWN_VALUE_PREFILTER = Prefilter(
    [PrefilterPattern(deobfuscation.prefilter, deobfuscation.needs) for deobfuscation in FOR_KNOWN_VALUES]
)

SEPARATING = frozenset({spaced.DEOBFUSCATION, line_wrapping.FOR_KNOWN_VALUES})
"""Take nothing but separators out of a text: its letters and digits stay."""

type Findings = dict[tuple[int, int, str], tuple[float, str]]
"""(start, end, type), in bytes of normalized text -> (score, recognizer)."""
type Search = Callable[[NormalizedText], tuple[Findings, Sequence[int]]]
"""Returns the findings in a text as it is, and the sorted indices of the deobfuscations whose prefilters match it."""
type _Layer = tuple[bytes, RewrittenText | None, Findings, Sequence[int]]
"""A text, how it was rewritten, its findings, and the deobfuscations that may apply to it."""


def deobfuscate(
    normalized: NormalizedText,
    search: Search,
    deobfuscations: Sequence[Deobfuscation] = DEOBFUSCATIONS,
    applied: set[Deobfuscation] | None = None,
) -> Findings:
    """Returns what `search` finds in a text as it is and after deobfuscation.

    Nested forms are searched up to a total of `_WORK_FACTOR` times the length of the text. Adds the deobfuscations that
    change the text to `applied`; all of them if it was not searched further.
    """
    applied = set() if applied is None else applied
    unchanged, applicable = search(normalized)
    if not applicable:
        return unchanged
    result = dict(unchanged)
    work = max(_WORK_FACTOR * len(normalized.data), _MIN_WORK)
    layer: list[_Layer] = [(normalized.data, None, unchanged, applicable)]
    for _ in range(MAX_DEPTH):
        inner: list[_Layer] = []
        for text, outer, found, applicable in layer:
            chosen = [deobfuscations[number] for number in applicable]
            for kind, rewritten in _rewrites(text, chosen, found, outer, applied):
                work -= len(rewritten.data)
                if outer is not None and work < 0:
                    applied.update(deobfuscations)
                    return result
                deeper, still_applicable = search(NormalizedText(rewritten.data, "", ascii=True))
                _merge(result, _credible(deeper, rewritten.data) if kind in _JOINING else deeper, rewritten)
                inner.append((rewritten.data, rewritten, deeper, still_applicable))
        layer = inner
    return result


def deobfuscate_known_values(
    normalized: NormalizedText,
    find: Callable[[NormalizedText], Findings],
    applied: set[Deobfuscation] | None = None,
) -> Findings:
    """Returns what `find`, which searches for known values, finds in a text as it is and after deobfuscation.

    Adds the deobfuscations that change the text to `applied`. Raises Unavailable (detection_failed) if the search did
    not reach the end of the text.
    """
    return deobfuscate(
        normalized,
        lambda normalized: (find(normalized), _KNOWN_VALUE_PREFILTER.hits(normalized.data)),
        FOR_KNOWN_VALUES,
        applied,
    )


def text_variants(source: str) -> list[str]:
    """Returns a text, its normalized form, and every form that deobfuscation makes of it."""
    seen = [source]

    def collect(normalized: NormalizedText) -> Findings:
        seen.append(plain_text(normalized))
        return {}

    deobfuscate_known_values(normalize_text(source), collect)
    return seen


def _rewrites(
    text: bytes,
    deobfuscations: Sequence[Deobfuscation],
    found: Findings,
    outer: RewrittenText | None,
    applied: set[Deobfuscation],
) -> Iterator[tuple[RewriteKind, RewrittenText]]:
    detected = sorted((start, end, score, type_name) for (start, end, type_name), (score, _) in found.items())
    for kind in RewriteKind:
        edits: list[Edit] = []
        for deobfuscation in deobfuscations:
            if deobfuscation.kind is kind and (own := [*deobfuscation.edits(text, detected)]):
                applied.add(deobfuscation)
                edits += own
        if edits:
            yield kind, RewrittenText(text, edits, outer)


def _credible(found: Findings, data: bytes) -> Findings:
    """Drops doubtful findings in joined text: those without a strict form, and addresses without a known ending."""
    return {
        key: verdict
        for key, verdict in found.items()
        if (verdict[0] >= _CERTAIN or _STRICT_TYPES.search(key[2]) is not None)
        and (key[2] != "EMAIL_ADDRESS" or ends_as_host(data[key[0] : key[1]]))
    }


def _merge(result: Findings, deeper: Findings, rewritten: RewrittenText) -> None:
    """Adds the findings of a rewritten text to `result`.

    Drops findings that start inside an escape, such as `njohn@…` in `\\njohn@…`, in favour of the decoded ones.
    """
    mapped = [
        (span, type_name, score, recognizer)
        for (start, end, type_name), (score, recognizer) in deeper.items()
        if (span := rewritten.span(start, end, score)) is not None
    ]
    cut = {}
    if rewritten.outer is None:
        ends = {(span[1], type_name) for span, type_name, _, _ in mapped}
        cut = {
            (end, type_name): start
            for start, end, type_name in result
            if (end, type_name) in ends and rewritten.is_inside_edit(start)
        }
    for span, type_name, score, recognizer in mapped:
        key = (*span, type_name)
        if key not in result or result[key][0] < score:
            result[key] = (score, recognizer)
        longer = cut.get((span[1], type_name), span[0])
        if longer < span[0]:
            result.pop((longer, span[1], type_name), None)
