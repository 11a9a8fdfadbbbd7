"""Hides every occurrence of a detected value, even where no recognizer finds it: in another spelling or encoding.

The search also covers the normalized and deobfuscated text (`gateway.detection.normalized_text`,
`gateway.detection.deobfuscation`). Only values that may be in a text are indexed for it: a long conversation has
hundreds, and its next message a few.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from gateway.detection.deobfuscation.base import Deobfuscation
from gateway.detection.deobfuscation.search import SEPARATING, Findings, deobfuscate_known_values
from gateway.detection.engines import NAMES
from gateway.detection.normalized_text import NormalizedText, normalize_text, plain_text
from gateway.detection.overlaps import overlapping
from gateway.models import CORRECTION, NAME_MODEL, Action
from gateway.protection.corrections import Allowing, Stretches, with_denied, without_denied
from gateway.protection.name_spellings import is_long_enough
from gateway.protection.paired_markup import with_paired_markup
from gateway.protection.spreading import Reach, is_distinctive, is_sure, spreads_back
from gateway.protection.value_index import ValueIndex, letters_and_digits, lower
from gateway.protection.value_words import Value, ValueWords, may_be_whole
from gateway.text.fields import Place, Span, Spans

# A name in small letters is found in nearly all of its places in sentences, a word in few.
_LEAST_SHARE = 5
# Words that are searched for one by one in less time than that of one pass over all words.
_FEW = 32
_IN_SENTENCE = re.compile(r"""(?<![^\s("'`])[^\W\d_]+(?=[.,;:!?)"'`]*(?:\s|\Z))""")
_LETTERS_OR_DIGITS = re.compile(r"[^\W_]+")


class TextForms:
    """The texts of a request in the forms that are searched for known values. Its repr shows none of them."""

    __slots__ = ("_data", "_encoded", "_normalized")

    def __init__(self) -> None:
        self._normalized: dict[str, tuple[NormalizedText, str]] = {}
        self._data: dict[str, tuple[str, bytes]] = {}
        self._encoded: dict[str, bool] = {}

    def normalized(self, text: str) -> tuple[NormalizedText, str]:
        """Returns a text normalized, and the same as a string."""
        if (known := self._normalized.get(text)) is None:
            normalized = normalize_text(text)
            known = self._normalized[text] = normalized, plain_text(normalized)
        return known

    def data(self, text: str) -> tuple[str, bytes]:
        """Returns a text in lower case, and its letters and digits."""
        if (known := self._data.get(text)) is None:
            lowered = lower(text)
            known = self._data[text] = lowered, letters_and_digits(lowered)
        return known

    def search(self, text: str, find: Callable[[NormalizedText], Findings]) -> Findings:
        """Returns what `find` finds in a text as it is and after deobfuscation."""
        normalized, plain = self.normalized(text)
        applied: set[Deobfuscation] = set()
        found = deobfuscate_known_values(normalized, find, applied)
        self._encoded[text] = plain != text or not applied <= SEPARATING
        return found

    def encoded(self, texts: Sequence[str], *, search: bool) -> frozenset[int] | None:
        """Returns the indices of the texts that may hold a value whose letters and digits are not in them as they are.

        Returns None if not all texts have been searched, unless `search` has this done.
        """
        for text in texts:
            if text not in self._encoded:
                if not search:
                    return None
                self.search(text, lambda _: {})
        return frozenset(at for at, text in enumerate(texts) if self._encoded[text])


class KnownValues:
    """The values hidden in a request so far, after those of `before`. Its repr shows no text."""

    __slots__ = ("_allowing", "_before", "_forms", "_spans", "_words")

    def __init__(
        self,
        before: "KnownValues | None" = None,
        *,
        forms: TextForms | None = None,
        allowing: Allowing | None = None,
    ) -> None:
        self._forms: TextForms = forms or (before._forms if before is not None else TextForms())
        self._allowing: Allowing | None = before._allowing if before is not None else allowing
        self._before = before
        self._spans: dict[Value, Span] = {}
        self._words = ValueWords()

    def __bool__(self) -> bool:
        return bool(self._spans) or bool(self._before)

    def add(self, texts: Sequence[str], found: Sequence[Spans], *, unsure: bool = False) -> None:
        """Adds the hidden values of texts, except names that are words in most of their places.

        Names that the model is not sure of are added only with `unsure`.
        """
        plain = _plain_words(texts, found)
        for text, spans in zip(texts, found, strict=True):
            for span in spans if unsure else filter(is_sure, spans):
                if span.is_repeat and span.recognizer == CORRECTION:
                    continue  # a part of what is denied
                value = text[span.start : span.end], span.type
                if value not in self._spans and value[0] not in plain and is_long_enough(value[0]):
                    self._spans[value] = span
                    self._words.add(value)

    def extended(self, texts: Sequence[str], found: Sequence[Spans], *, unsure: bool = False) -> "KnownValues":
        """Returns these values and the hidden ones of texts, as `add` adds them."""
        result = KnownValues(self)
        result.add(texts, found, unsure=unsure)
        return result

    def with_unsure(self, text: str, spans: Spans) -> "KnownValues":
        """Returns these values and the names of a text that the model is not sure of."""
        unsure = [span for span in spans if not is_sure(span)]
        return self.extended([text], [unsure], unsure=True) if unsure else self

    def new(self, texts: Sequence[str], found: Sequence[Spans], places: Sequence[Place]) -> "KnownValues":
        """Returns the hidden values of texts that are to be searched for in the blocks before."""
        result = KnownValues(forms=self._forms, allowing=self._allowing)
        if any(found):
            some = [
                [span for span in spans if self._is_new((text[span.start : span.end], span.type), place)]
                for text, spans, place in zip(texts, found, places, strict=True)
            ]
            result.add(texts, some)
        return result

    def _is_new(self, value: Value, place: Place) -> bool:
        # An ordinary value may have occurred before in a place from which it does not spread.
        is_known = value in self._spans and (value[1] in NAMES or is_distinctive(*value))
        return not is_known and spreads_back(*value, place)

    def may_be_in(self, texts: Iterable[str]) -> bool:
        """Returns whether any value may be in texts, unless it is encoded there."""
        return self._words.any_in(b" ".join(self._forms.data(text)[1] for text in texts))

    def may_be_outside(self, text: str, spans: Spans) -> bool:
        """Returns whether any value may be in a text outside `spans`, unless it is encoded there."""
        lowered, data = self._forms.data(text)
        found = self._words.counts(data)
        if found is None:
            return True
        if self._allowing is not None:
            spans = without_denied(spans)
        there = [value for value in self._words.within(found) if may_be_whole(*value, data) or "<" in text]
        return bool(there and self._words.elsewhere(there, found, _stretches(lowered, spans)))

    def repeats(
        self,
        text: str,
        spans: Spans,
        *,
        is_compound: bool = False,
        place: Place = Place.MESSAGE,
        clear: Stretches | None = None,
    ) -> Spans:
        """Returns the spans together with the occurrences of known values that they do not cover, sorted and disjoint.

        In a compound name of a program, such as `mark_done`, a single word of a person's name is an ordinary word.
        `place` is that of the text (see `gateway.protection.spreading`). `clear` are the parts of it that the caller's
        corrections leave in clear, and gets those of known values.

        Raises Unavailable (detection_failed) when the text could not be searched completely.
        """
        if not self:
            return spans
        denied: list[Span] = []
        if self._allowing is not None:
            # A value that is recognized elsewhere is hidden as it is there, whatever a caller denies.
            denied = [span for span in spans if span.recognizer == CORRECTION]
            spans = without_denied(spans)
        covered = [span.start for span in spans]
        extra: list[Span] = []
        # If values share an encoded stretch, the longest counts, in any order in which they were found.
        indexes: dict[str, ValueIndex] = {}
        occurrences = [*self._occurrences(text, spans, indexes)]
        if is_compound:
            of_names = {value for *_, value in occurrences if indexes[value].is_word_of_name(value)}
            if len({value.lower() for value in of_names}) == 1:
                occurrences = [found for found in occurrences if found[2] not in of_names]
        reach = Reach(text, place, [text[span.start : span.end] for span in spans])
        for start, end, value in sorted(occurrences, key=lambda found: (-len(found[2]), found[2])):
            before = bisect_right(covered, start) - 1
            is_hidden = before >= 0 and spans[before].end >= end
            known = indexes[value].spans
            if not is_hidden and reach.covers(start, end, value, known[value].type):
                repeat = known[value]._replace(start=start, end=end, is_repeat=True)
                if self._allowing is not None and clear is not None and self._allowing.leaves(text, repeat, clear):
                    continue
                found = _beside(spans, covered, text, repeat, known)
                (denied if repeat.recognizer == CORRECTION else extra).extend(found)
        hidden = united(with_paired_markup(text, (*spans, *extra)))
        return with_denied(text, hidden, united(denied)) if denied else hidden

    def _occurrences(self, text: str, spans: Spans, indexes: dict[str, ValueIndex]) -> Iterator[tuple[int, int, str]]:
        """Yields start, end and value of each occurrence, in the text and in its deobfuscated forms.

        Those within `spans`, which are hidden already, may be left out. `indexes` gets an index that has each value.
        """
        normalized, plain = self._forms.normalized(text)
        if plain != text:
            yield from self._find(text, (), indexes)
            spans = ()
        found = self._forms.search(text, lambda form: self._search(form, spans if form is normalized else (), indexes))
        if found:
            places = normalized.source_spans((start, end) for start, end, _ in found)
            for (start, end), (_, _, value) in zip(places, found, strict=True):
                yield start, end, value

    def _search(self, normalized: NormalizedText, spans: Spans, indexes: dict[str, ValueIndex]) -> Findings:
        """Searches a text for `deobfuscate_known_values`; the findings hold the value in place of the type."""
        text = plain_text(normalized)
        if text.isascii():
            return dict.fromkeys(self._find(text, spans, indexes), (1.0, ""))
        found: Findings = {}
        at = size = 0
        for start, end, value in sorted(self._find(text, spans, indexes)):
            size += _size(text[at:start])
            at = start
            found[size, size + _size(text[start:end]), value] = (1.0, "")
        return found

    def _find(self, text: str, spans: Spans, indexes: dict[str, ValueIndex]) -> Iterator[tuple[int, int, str]]:
        index = ValueIndex()
        # In the order in which they were added, denied ones last, since the first of equal values counts.
        possible = [*self._possible(text, spans)]
        for value, span in sorted(possible, key=lambda found: found[1].recognizer == CORRECTION):
            index.add(value, span)
        for found in index.find(text):
            indexes.setdefault(found[2], index)
            yield found

    def _possible(self, text: str, spans: Spans = ()) -> Iterator[tuple[str, Span]]:
        """Yields the values that may be in a text, those of this block outside `spans`."""
        if self._before is not None:
            yield from self._before._possible(text)
        lowered, data = self._forms.data(text)
        if not self._spans or (found := self._words.counts(data)) is None:
            there = [*self._spans]
        else:
            within = self._words.within(found)
            there = [value for value in self._spans if value in within] if within else []
            if self._before is not None and there:
                there = self._words.elsewhere(there, found, _stretches(lowered, spans))
        yield from ((value[0], self._spans[value]) for value in there)


def _stretches(text: str, spans: Spans) -> list[str]:
    return [text[span.start : span.end] for span in spans]


def _beside(spans: Spans, starts: Sequence[int], text: str, found: Span, known: Mapping[str, Span]) -> Iterator[Span]:
    """Yields the part that no overlapping span covers if that part is itself a value; otherwise the whole occurrence.

    In a row of a table, `Jane Roe,jane.roe@acme.test`, a name turned round would join two cells.
    """
    places = {bisect_right(starts, found.start) - 1, bisect_left(starts, found.end) - 1} - {-1}
    before = [span for span in map(spans.__getitem__, places) if span.start < found.start < span.end]
    after = [span for span in map(spans.__getitem__, places) if found.start < span.start < found.end < span.end]
    if not (before or after):
        yield found
        return
    start, end = max([found.start, *(span.end for span in before)]), min([found.end, *(s.start for s in after)])
    words = [*_LETTERS_OR_DIGITS.finditer(text, start, end)]
    is_others = all(span.type != found.type for span in (*before, *after))
    if is_others and len(words) == 1 and words[0][0] in known:
        yield found._replace(start=words[0].start(), end=words[0].end())
    elif words:
        yield found


def _plain_words(texts: Sequence[str], found: Sequence[Spans]) -> frozenset[str]:
    """Returns the words in small letters that the model took for names in few of their places: `delta` once in fifty.

    Words that recognizers found, for example after a title, stay names, however often they occur elsewhere.
    """
    named = Counter[str]()
    for text, spans in zip(texts, found, strict=True):
        for one in spans:
            if one.recognizer == NAME_MODEL and one.type == "PERSON":
                value = text[one.start : one.end]
                if value.isalpha() and value.islower():
                    named[value] += 1
    if not named:
        return frozenset()
    every = ((text, one) for text, spans in zip(texts, found, strict=True) for one in spans)
    announced = {text[one.start : one.end] for text, one in every if one.recognizer != NAME_MODEL}
    places = Counter(word for text in texts for word in _in_sentences(text, named))
    return frozenset(word for word, count in named.items() if count * _LEAST_SHARE < places[word]) - announced


def _in_sentences(text: str, words: Collection[str]) -> Iterator[str]:
    """Yields each word as often as it is one of a sentence."""
    if len(words) > _FEW:
        yield from (word for word in _IN_SENTENCE.findall(text) if word in words)
        return
    for word in words:
        at = text.find(word)
        while at >= 0:
            if (found := _IN_SENTENCE.match(text, at)) and found[0] == word:
                yield word
            at = text.find(word, at + len(word))


def united(spans: Iterable[Span]) -> Spans:
    """Merges overlapping spans into one, so that no part of either stays in clear.

    It has the type of one that is blocked, else of the first that no caller has denied.
    """
    groups = overlapping(sorted(spans, key=lambda span: (span.start, -span.end)))
    return tuple(_union(group) if len(group) > 1 else group[0] for group in groups)


def _union(group: Sequence[Span]) -> Span:
    chosen = min(group, key=lambda span: (span.action is not Action.BLOCK, span.recognizer == CORRECTION))
    return chosen._replace(start=group[0].start, end=max(span.end for span in group))


def _size(text: str) -> int:
    return len(text.encode())
