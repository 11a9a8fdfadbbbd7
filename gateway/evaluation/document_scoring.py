"""Scores labelled documents, in two independent ways:

- Findings have the right type and position. Counted per type, for exact spans and by overlap (recall over labelled
  spans, precision over found ones), no matter what the policy does with a finding.
- What must be hidden is hidden, and nothing else. Counted over all types: a labelled span is hidden if every
  significant word is (see `characters`), and a document if everything in it that must be hidden is.

Findings on spans that are ignored count for neither.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from gateway.evaluation.characters import covered, overlap, significant
from gateway.evaluation.disagreements import Disagreement, Kind
from gateway.evaluation.figures import DocumentsScore, LabelScore, TypeScore
from gateway.evaluation.labels import LabelMap, Treatment
from gateway.evaluation.loader import Document, GoldSpan, Interval
from gateway.evaluation.predictor import Finding, Predictor
from gateway.models import PrivacyMode


@dataclass(frozen=True, slots=True)
class _Gold:
    """A labelled span and its meaning. `needed` are the positions that must be hidden."""

    span: GoldSpan
    type: str
    treatment: Treatment
    needed: frozenset[int]

    @property
    def at(self) -> Interval:
        return self.span.start, self.span.end


def score_documents(
    documents: Iterable[Document],
    predictor: Predictor,
    labels: LabelMap,
    section: str,
    *,
    types: Collection[str] = (),
    advance: Callable[[], None] = lambda: None,
) -> tuple[DocumentsScore, list[Disagreement]]:
    """Returns the figures and every disagreement, in the order of the documents.

    If `types` are given, only these common types count. `advance` is called after each document.
    """
    work = _Scoring(predictor, labels, section, frozenset(types))
    for document in documents:
        work.add(document)
        advance()
    work.score.types = dict(sorted(work.score.types.items()))
    return work.score, work.disagreements


class _Scoring:
    def __init__(self, predictor: Predictor, labels: LabelMap, section: str, types: frozenset[str]) -> None:
        self._predictor = predictor
        self._labels = labels
        self._section = section
        self._types = types
        is_strict = predictor.mode is PrivacyMode.STRICT
        self._required = {Treatment.REDACT, Treatment.OPTIONAL} if is_strict else {Treatment.REDACT}
        self._common: dict[str, str] = {}
        self.score = DocumentsScore()
        self.disagreements: list[Disagreement] = []

    def add(self, document: Document) -> None:
        golds = [self._gold(document.text, span) for span in document.spans]
        findings = self._predictor.predict(document.text)
        counted = [one for one in findings if not self._types or self._type(one) in self._types]
        self._count_types(golds, counted)
        hidden = covered((one.start, one.end) for one in findings if one.hidden)
        self._count_hidden(document.text, golds, hidden, counted)
        for kind, type_name, (start, end) in self._differences(golds, hidden, findings, counted):
            place = Disagreement(kind, type_name, document.id, document.text, start, end, document.spans, findings)
            self.disagreements.append(place)

    def _type(self, finding: Finding) -> str:
        name = finding.type
        if name not in self._common:
            self._common[name] = self._labels.common(self._section, name, self._predictor.group(name))
        return self._common[name]

    def _gold(self, text: str, span: GoldSpan) -> _Gold:
        meaning = self._labels.meaning(self._section, span.label)
        treatment = meaning.treatment
        if self._types and meaning.common not in self._types:
            treatment = Treatment.IGNORE
        return _Gold(span, meaning.common, treatment, frozenset(significant(text, span.start, span.end)))

    def _count_types(self, golds: list[_Gold], counted: list[Finding]) -> None:
        gold_at: dict[str, set[Interval]] = defaultdict(set)
        found_at: dict[str, set[Interval]] = defaultdict(set)
        for gold in golds:
            if gold.treatment is not Treatment.IGNORE:
                gold_at[gold.type].add(gold.at)
        ignored = [gold.at for gold in golds if gold.treatment is Treatment.IGNORE]
        for finding in counted:
            name, at = self._type(finding), (finding.start, finding.end)
            if not overlap(ignored, at) or overlap(gold_at.get(name, ()), at):
                found_at[name].add(at)
        for name in {*gold_at, *found_at}:
            wanted, found = gold_at[name], found_at[name]
            row = self.score.types.setdefault(name, TypeScore(name))
            row.gold += len(wanted)
            row.found += len(found)
            row.exact += len(wanted & found)
            row.gold_overlapped += sum(overlap(found, at) for at in wanted)
            row.found_overlapped += sum(overlap(wanted, at) for at in found)

    def _count_hidden(self, text: str, golds: list[_Gold], hidden: set[int], counted: Iterable[Finding]) -> None:
        score = self.score
        score.documents += 1
        must_hide: list[bool] = []
        for gold in golds:
            if gold.treatment is Treatment.IGNORE:
                continue
            whole, touched = gold.needed <= hidden, not gold.needed.isdisjoint(hidden)
            name = gold.span.label
            row = score.labels.setdefault(name, LabelScore(name, gold.type, gold.treatment))
            row.gold += 1
            row.hidden += whole
            row.touched += touched
            if gold.treatment in self._required:
                score.required += 1
                score.required_hidden += whole
                score.required_touched += touched
                must_hide.append(whole)
            elif gold.treatment is Treatment.KEEP:
                score.keep += 1
                score.keep_touched += touched
        score.private_documents += bool(must_hide)
        score.hidden_documents += bool(must_hide) and all(must_hide)

        signs = {at for at, char in enumerate(text) if char.isalnum()}
        ignored = covered(gold.at for gold in golds if gold.treatment is Treatment.IGNORE)
        required = covered(gold.at for gold in golds if gold.treatment in self._required)
        private = required | covered(gold.at for gold in golds if gold.treatment is Treatment.OPTIONAL)
        chosen = covered((one.start, one.end) for one in counted if one.hidden)
        score.characters += len(signs)
        score.characters_hidden_rightly += len(hidden & private & signs)
        score.characters_hidden_wrongly += len((chosen - private - ignored) & signs)
        score.characters_left += len((required - hidden) & signs)
        score.hidden_spans += sum(one.hidden for one in counted)

    def _differences(
        self, golds: list[_Gold], hidden: set[int], findings: Iterable[Finding], counted: Iterable[Finding]
    ) -> Iterator[tuple[Kind, str, Interval]]:
        for gold in golds:
            if kind := self._kind_of(gold, hidden, findings):
                yield kind, gold.type, gold.at
        labelled = [gold.at for gold in golds]
        for finding in counted:
            at = (finding.start, finding.end)
            if not overlap(labelled, at):
                self.score.false_alarms += finding.hidden
                yield Kind.FALSE_ALARM if finding.hidden else Kind.FALSE_FINDING, self._type(finding), at

    def _kind_of(self, gold: _Gold, hidden: set[int], findings: Iterable[Finding]) -> Kind | None:
        if gold.treatment is Treatment.IGNORE:
            return None
        if gold.treatment is Treatment.KEEP:
            return None if gold.needed.isdisjoint(hidden) else Kind.OVER_REDACTED
        if gold.treatment in self._required and not gold.needed <= hidden:
            return Kind.MISSED if gold.needed.isdisjoint(hidden) else Kind.PARTLY
        there = [one for one in findings if overlap([(one.start, one.end)], gold.at)]
        same = [one for one in there if self._type(one) == gold.type]
        if any((one.start, one.end) == gold.at for one in same):
            return None
        if same:
            return Kind.BORDERS
        return Kind.OTHER_TYPE if there else Kind.UNFOUND
