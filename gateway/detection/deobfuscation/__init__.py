"""Undoes what hides a value from a search: encodings, spacing, line breaks, markup. See docs/detection.md.

Each form is one file with a `DRESS`. `deobfuscate` reads a text without it, searches the result again and maps every
entity back to the source. Forms may be nested, up to a depth. Recognizers never decode anything themselves.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from gateway.detection.deobfuscation import (
    base64,
    encoded_words,
    entities,
    escapes,
    hexadecimal,
    identifiers,
    markup,
    percent,
    quoted_printable,
    spaced,
)
from gateway.detection.deobfuscation import compatibility_characters as compounds
from gateway.detection.deobfuscation import confusables as look_alikes
from gateway.detection.deobfuscation import line_wrapping as wrapped
from gateway.detection.deobfuscation import question_answer as answered
from gateway.detection.deobfuscation import spelled_out as spelled
from gateway.detection.deobfuscation.base import Deobfuscation, Kind
from gateway.detection.deobfuscation.candidates import ends_as_host
from gateway.detection.deobfuscation.rewrite import Rewritten
from gateway.detection.normalized_text import View, read
from gateway.detection.prefilter import Gate, SplitScan

DRESSES: tuple[Deobfuscation, ...] = (
    percent.DRESS,
    entities.DRESS,
    escapes.DRESS,
    quoted_printable.DRESS,
    base64.DRESS,
    hexadecimal.DRESS,
    identifiers.DRESS,
    identifiers.FIGURES,
    markup.DRESS,
    answered.DRESS,
    encoded_words.DRESS,
    spelled.DRESS,
    look_alikes.DRESS,
    compounds.DRESS,
    spaced.DRESS,
    wrapped.DRESS,
    wrapped.HYPHENED,
)
"""What hides a value from the recognizers, who know a form."""
OF_WORDS: tuple[Deobfuscation, ...] = (
    percent.DRESS,
    entities.DRESS,
    escapes.DRESS,
    quoted_printable.DRESS,
    base64.OF_WORDS,
    base64.LINES,
    hexadecimal.OF_WORDS,
    markup.OF_WORDS,
    look_alikes.DRESS,
    compounds.DRESS,
    spaced.DRESS,
    encoded_words.DRESS,
    wrapped.OF_WORDS,
)
"""What hides a value that is known, which may be nothing but words."""
DEPTH = 3
"""How many dresses may lie over each other."""

_JOINING = frozenset({Kind.JOIN, Kind.UNHYPHEN})
_CERTAIN = 0.9
_OF_A_FORM = re.compile("SSN|TIN|PASSPORT|LICEN[CS]E|BANK|CARD|IBAN|CRYPTO|KEY|SECRET|PASSWORD|NUMBER|CODE|BIRTH|NHS")
_WORK = 6
_LEAST_WORK = 1 << 16
GATES = tuple(Gate(dress.gate, dress.needs) for dress in DRESSES)
_SCAN_FOR_WORDS = SplitScan([Gate(dress.gate, dress.needs) for dress in OF_WORDS])

type Findings = dict[tuple[int, int, str], tuple[float, str]]
"""(start, end, type) in bytes of a view -> (score, recognizer)."""
type Search = Callable[[View], tuple[Findings, Sequence[int]]]
"""What is found in a view as it stands, and the numbers of the dresses whose gates occur in it, in order."""


def deobfuscate(view: View, search: Search, dresses: Sequence[Deobfuscation] = DRESSES) -> Findings:
    """What `search` finds in a view with and without its dresses.

    What lies under more than one dress is searched up to `_WORK` times the length of the text.
    """
    plain, worn = search(view)
    if not worn:
        return plain
    result = dict(plain)
    work = max(_WORK * len(view.data), _LEAST_WORK)
    layer: list[tuple[bytes, Rewritten | None, Findings, Sequence[int]]] = [(view.data, None, plain, worn)]
    for _ in range(DEPTH):
        inner: list[tuple[bytes, Rewritten | None, Findings, Sequence[int]]] = []
        for text, above, found, worn in layer:
            for kind, rewritten in _taken_off(text, [dresses[number] for number in worn], found, above):
                work -= len(rewritten.data)
                if above is not None and work < 0:
                    return result
                deeper, still_worn = search(View(rewritten.data, "", ascii=True))
                _add(result, _believed(deeper, rewritten.data) if kind in _JOINING else deeper, rewritten)
                inner.append((rewritten.data, rewritten, deeper, still_worn))
        layer = inner
    return result


def deobfuscate_words(view: View, find: Callable[[View], Findings]) -> Findings:
    """What `find`, which knows what it looks for, finds in a view with and without its dresses.

    Raises Unavailable (detection_failed) when the text could not be searched completely.
    """
    return deobfuscate(view, lambda view: (find(view), _SCAN_FOR_WORDS.hits(view.data)), OF_WORDS)


def readings(source: str) -> list[str]:
    """A text as it stands, as it looks, and what of it reads in another way without its dresses."""
    seen = [source]

    def look(view: View) -> Findings:
        seen.append(view.text(0, len(view.data)))
        return {}

    deobfuscate_words(read(source), look)
    return seen


def _taken_off(
    text: bytes, dresses: Sequence[Deobfuscation], found: Findings, above: Rewritten | None
) -> Iterator[tuple[Kind, Rewritten]]:
    taken = sorted((start, end, score, kind) for (start, end, kind), (score, _) in found.items())
    for kind in Kind:
        edits = [edit for dress in dresses if dress.kind is kind for edit in dress.edits(text, taken)]
        if edits:
            yield kind, Rewritten(text, edits, above)


def _believed(found: Findings, data: bytes) -> Findings:
    """What counts although lines or signs were joined: numbers and keys; of addresses, those with a known ending."""
    return {
        key: verdict
        for key, verdict in found.items()
        if (verdict[0] >= _CERTAIN or _OF_A_FORM.search(key[2]) is not None)
        and (key[2] != "EMAIL_ADDRESS" or ends_as_host(data[key[0] : key[1]]))
    }


def _add(result: Findings, deeper: Findings, rewritten: Rewritten) -> None:
    """Read as it stands, the end of an escape may look like the beginning of a value: of `\\njohn@…` the n goes."""
    led_back = [
        (span, kind, score, recognizer)
        for (start, end, kind), (score, recognizer) in deeper.items()
        if (span := rewritten.span(start, end, score)) is not None
    ]
    cut = {}
    if rewritten.above is None:
        ends = {(span[1], kind) for span, kind, _, _ in led_back}
        cut = {(end, kind): start for start, end, kind in result if (end, kind) in ends and rewritten.cuts(start)}
    for span, kind, score, recognizer in led_back:
        key = (*span, kind)
        if key not in result or result[key][0] < score:
            result[key] = (score, recognizer)
        longer = cut.get((span[1], kind), span[0])
        if longer < span[0]:
            result.pop((longer, span[1], kind), None)
