"""Applies a policy to the entities of a message.

The rules, in this order:

1. The detector and the policy's own patterns find entities; the policy decides on the action for each type, and the
   caller's corrections (`gateway/protection/corrections.py`) on single values.
2. Overlaps are resolved among the entities that the policy hides, so that a kept one never shadows a hidden one, and in
   favour of those whose presence restricts where the text may go, so that no other takes a blocked type from sight.
3. A detected value is hidden in all blocks, even where no recognizer finds it (`gateway/protection/spreading.py` says
   in which texts). The blocks before the one that it was first recognized in change with that turn, and only then
   (law 5).
4. A text that already holds a placeholder of the session literally never restores it (law 4): within one block the
   value gets a longer tag; in a later block the literal itself is hidden.
5. The names of tools, and those of parameters that are several words, are sent everywhere as they are declared, and a
   single word of a known name is not hidden within one (`gateway/protection/protocol_names.py`).
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from gateway.corrections.lists import Corrections
from gateway.detection import EntityType, group_of, resolve_overlaps
from gateway.detection.engines import NAMES, Finder
from gateway.detection.memory import Memory, Recall
from gateway.detection.normalized_text import cover
from gateway.errors import Forbidden
from gateway.models import CORRECTION, Action, Entity, PrivacyMode, Transformation
from gateway.placeholders import Placeholders, urls_with_placeholders
from gateway.policy.model import Policy
from gateway.policy.rules import Rule
from gateway.protection.applied_corrections import Applied, applied, counted_as
from gateway.protection.blocks import Block, BlockFindings, TextPlace, hidden_earlier, with_full_names
from gateway.protection.corrections import Allowing, Stretches, with_denied
from gateway.protection.known_values import KnownValues, TextForms, united
from gateway.protection.literal_escapes import escape_literals
from gateway.protection.operators import apply_action
from gateway.protection.protocol_names import as_declared
from gateway.protection.split_values import labelled_by_previous, values_across
from gateway.text.fields import MessageField, Replace, Span, Spans, TextField
from gateway.text.token_estimate import estimate


class Place(NamedTuple):
    """A field in which something was hidden, and the index of its first transformation."""

    field: MessageField
    first: int


@dataclass(slots=True)
class Protected:
    """The result of protecting a message.

    `hidden` and `kept` together are all findings, with offsets in their own texts. `urls` are the URLs of the protected
    texts that hold placeholders. `tokens` estimates the size of the source and of the protected texts. `values` are
    the hidden values as they were spelled, each once, in the order of their last occurrence. `applied` are the caller's
    corrections that had an effect, if there are any corrections; `own_types` are types of denied values that neither
    detection nor the policy knows. `replaced` are the spans of the transformations, `places` the fields that have any.
    """

    hidden: list[Span] = field(default_factory=list)
    kept: list[Entity] = field(default_factory=list)
    transformations: list[Transformation] = field(default_factory=list)
    urls: frozenset[str] = field(default=frozenset(), repr=False)
    tokens: tuple[int, int] = (0, 0)
    values: dict[str, None] = field(default_factory=dict, repr=False)
    applied: Applied | None = None
    own_types: frozenset[str] = frozenset()
    replaced: list[Span] = field(default_factory=list, repr=False)
    places: list[Place] = field(default_factory=list, repr=False)

    def counts(self) -> dict[str, int]:
        """Hidden findings by entity type."""
        return dict(sorted(Counter(counted_as(span.type, self.own_types) for span in self.hidden).items()))

    def actions(self) -> dict[str, int]:
        """Hidden findings by action."""
        return dict(sorted(Counter(span.action.value for span in self.hidden).items()))


class Protector:
    """Protects the fields of a message. Stateless except for its memory; thread-safe."""

    def __init__(self, finder: Finder, *, hash_key: bytes, memory: Memory | None = None) -> None:
        self._finder = finder
        self._hash_key = hash_key
        self._memory = memory or Memory()

    @property
    def version(self) -> str:
        return self._finder.version

    @property
    def types(self) -> Mapping[str, EntityType]:
        return self._finder.types

    def detect(self, text: str, own: Placeholders | None = None) -> tuple[Entity, ...]:
        """Returns all entities in a text, before any policy, except in placeholders of the session `own`."""
        return self._finder.detect(_covered(text, own))

    def find(
        self,
        blocks: Sequence[Sequence[MessageField]],
        policy: Policy,
        mode: PrivacyMode,
        *,
        block: bool = True,
        own: Placeholders | None = None,
        remember_for: str | None = None,
        corrections: Corrections | None = None,
    ) -> list[BlockFindings]:
        """Finds what the policy hides in each block. Changes nothing.

        Placeholders minted by the session `own` are skipped; any other is searched like the text around it. Blocks that
        the caller `remember_for` sent before are not searched again; without it, nothing is remembered. `corrections`
        are those of the caller.

        Raises Forbidden (`blocked_by_policy`) where the policy blocks a type that was found, unless `block` is false.
        """
        recall = None if remember_for is None else Recall(self._memory, remember_for)
        forms = TextForms()
        allowing = (
            Allowing(corrections, policy, mode, self.types, self._finder.detect) if corrections is not None else None
        )
        known, waiting = KnownValues(forms=forms, allowing=allowing), list[tuple[Block, BlockFindings]]()
        chain = f"{policy.hash}\n{mode}\n{self._finder.version}".encode()
        if corrections is not None:
            chain += corrections.digest
        searched: list[tuple[Block, BlockFindings]] = []
        earlier: Mapping[TextPlace, Spans] = {}
        before = ""
        for fields in blocks:
            texts = [_covered(text, own) for each in fields for text in each.texts]
            current = Block.of(fields, texts)
            found: BlockFindings | None = None if texts else BlockFindings((), (), earlier=earlier)
            if recall is not None and found is None:
                chain = recall.digest(chain, current.digested(len(searched)))
                found = recall.get(chain)
            if found is None:
                # Deferred to here, since the values of the last block are searched for in no later one.
                for each, its in waiting:
                    known.add(each.texts, its.spans)
                waiting.clear()
                found, recognized = self._search(before, current, policy, mode, known, recall, allowing)
                found.encoded = forms.encoded(texts, search=False)
                if searched:
                    revealed = with_full_names(texts, recognized, found.spans)
                    new = known.new(texts, revealed, current.places)
                    # Metadata are not part of the conversation, may differ in every turn, and are rarely encoded in it.
                    found.earlier = hidden_earlier(
                        new, searched, earlier, forms, decode=current.is_message, clear=found.clear_earlier
                    )
                if recall is not None:
                    recall.put(chain, found, found.count())
            earlier = found.earlier
            searched.append((current, found))
            if texts:
                before = texts[-1]
                waiting.append((current, found))
        result = _as_sent(blocks, [found for _, found in searched], earlier)
        blocked = sorted({s.type for f in result for spans in f.spans for s in spans if s.action is Action.BLOCK})
        if blocked and block:
            unknown = self.own_types(policy, corrections)
            blocked = sorted({counted_as(type, unknown) for type in blocked})
            message = f"The policy `{policy.id}` does not let {', '.join(blocked)} leave."
            error = Forbidden(message, code="blocked_by_policy")
            hidden = (span.entity() for found in result for spans in found.spans for span in spans)
            error.hidden = [each._replace(type=counted_as(each.type, unknown)) for each in hidden]
            error.kept = [entity for found in result for entity in found.kept]
            error.found_in = [*_by_field(blocks, result)]
            error.applied = applied(corrections, blocks, result) if corrections is not None else None
            raise error
        return result

    def protect(
        self,
        blocks: Sequence[Sequence[MessageField]],
        policy: Policy,
        mode: PrivacyMode,
        placeholders: Placeholders,
        *,
        remember_for: str | None = None,
        corrections: Corrections | None = None,
    ) -> Protected:
        """Protects every field in place.

        The offsets of a transformation refer to the text of its field.
        """
        found = self.find(blocks, policy, mode, own=placeholders, remember_for=remember_for, corrections=corrections)
        had_effect = applied(corrections, blocks, found) if corrections is not None else None
        found = escape_literals(blocks, found, placeholders)
        size = sum(each.tokens for each in found)
        own_types = self.own_types(policy, corrections)
        done = Protected(tokens=(size, size), applied=had_effect, own_types=own_types)
        replacer = _replacer(policy, mode, placeholders, self.types, self._hash_key, done)
        for index, (block, result) in enumerate(zip(blocks, found, strict=True)):
            placeholders.enter(index)
            done.kept += result.kept
            position = 0
            for each in block:
                spans = result.spans[position : position + len(each.texts)]
                position += len(each.texts)
                if any(spans):
                    done.places.append(Place(each, len(done.transformations)))
                    each.apply(spans, replacer)
                    done.hidden += [span for found_spans in spans for span in found_spans]
            is_plain = all(type(each) is TextField for each in block)
            if len(placeholders) and not (is_plain and result.is_prose):
                urls = [urls_with_placeholders(text) for each in block for text in each.protected()]
                done.urls = done.urls.union(*urls)
                result.is_prose = is_plain and not any(urls)
        return done

    def own_types(self, policy: Policy, corrections: Corrections | None) -> frozenset[str]:
        """Returns the types of denied values that neither detection nor the policy knows."""
        if corrections is None:
            return frozenset()
        return corrections.denied_types.difference(self.types, NAMES, policy.own_types)

    def _search(
        self,
        before: str,
        block: Block,
        policy: Policy,
        mode: PrivacyMode,
        known: KnownValues,
        recall: Recall | None,
        allowing: Allowing | None,
    ) -> tuple[BlockFindings, Sequence[Spans]]:
        """Returns what is hidden in a block, and the spans that were recognized in it, without repeated values.

        `before` is the text that precedes the block.
        """
        kept: list[Entity] = []
        texts, continuations = block.texts, block.continuations

        def find(text: str) -> Spans:
            (entities,) = self._finder.detect_all([text], recall)
            return self._hidden(text, entities, policy, mode, [], allowing, [])

        detected = zip(texts, self._finder.detect_all(texts, recall), strict=True)
        clear: list[Stretches] = [[] for _ in texts]
        hidden = [
            self._hidden(text, entities, policy, mode, kept, allowing, clear[number])
            for number, (text, entities) in enumerate(detected)
        ]
        for number, (previous, text) in enumerate(pairwise((before, *texts))):
            if pieces := labelled_by_previous(previous, text, find, goes_on=number in continuations):
                hidden[number] = united((*hidden[number], *pieces))
        for number, piece in values_across(texts, continuations, tuple(hidden), find):
            hidden[number] = united((piece, *hidden[number]))
        # Apart: later blocks learn the final spans of this block, whether they come from the memory or not.
        known = known.extended(texts, hidden)
        spans = tuple(
            known.with_unsure(text, each).repeats(
                text, each, is_compound=number in block.compounds, place=place, clear=clear[number]
            )
            for number, (text, each, place) in enumerate(zip(texts, hidden, block.places, strict=True))
        )
        found = BlockFindings(spans, tuple(kept), sum(map(estimate, texts)))
        if allowing is not None:
            found.clear = {number: stretches for number, stretches in enumerate(clear) if stretches}
        return found, hidden

    def _hidden(
        self,
        text: str,
        detected: Iterable[Entity],
        policy: Policy,
        mode: PrivacyMode,
        kept: list[Entity],
        allowing: Allowing | None,
        clear: Stretches,
    ) -> Spans:
        """Returns what is hidden in a text. `clear` gets what the caller's corrections leave in clear."""
        candidates: list[Entity] = []
        rules: dict[str, Rule] = {}
        denied = allowing.find(text) if allowing is not None else ()
        for entity in (*detected, *policy.find(text), *denied):
            rule = rules.get(entity.type)
            if rule is None:
                rule = rules[entity.type] = _rule_for(entity.type, self.types, policy, mode)
            value = text[entity.start : entity.end]
            if entity.recognizer == CORRECTION:
                continue
            if rule.action is Action.KEEP or entity.score < rule.min_score or policy.allows(entity.type, value):
                kept.append(entity)
            elif allowing is not None and allowing.allows(entity, text):
                kept.append(entity)
                clear.append((entity.start, entity.end))
            else:
                candidates.append(entity)
        if allowing is not None and clear:
            candidates = allowing.outside(candidates, clear, kept)

        def weight(entity: Entity) -> int:
            return policy.weight_of(entity.type, group_of(entity.type, self.types), mode)

        def resolved(entities: Iterable[Entity]) -> Spans:
            return tuple(
                Span(found.start, found.end, found.type, _action(found, rules), found.score, found.recognizer)
                for found in resolve_overlaps(entities, weight)
            )

        own = resolved(candidates)
        return with_denied(text, own, resolved(denied)) if denied else own


def _action(found: Entity, rules: Mapping[str, Rule]) -> Action:
    """Returns the action for a finding that is hidden: what a caller denies is, whatever the rule of its type."""
    action = rules[found.type].action
    return Action.PLACEHOLDER if action is Action.KEEP else action


def _by_field(
    blocks: Sequence[Sequence[MessageField]], found: Sequence[BlockFindings]
) -> Iterator[tuple[MessageField, Spans]]:
    """Yields the fields with findings, and these."""
    for fields, each in zip(blocks, found, strict=True):
        spans = iter(each.spans)
        for one in fields:
            if own := [span for _, part in zip(one.texts, spans, strict=False) for span in part]:
                yield one, own


def _as_sent(
    blocks: Sequence[Sequence[MessageField]], found: Sequence[BlockFindings], earlier: Mapping[TextPlace, Spans]
) -> list[BlockFindings]:
    """Returns the findings of the blocks with those that later blocks revealed, and names as they are declared.

    Neither the memory nor later blocks depend on these, since other fields may have the same texts.
    """
    names: dict[str, Spans] = {}
    revealed = {number for number, _ in earlier}
    result: list[BlockFindings] = []
    for number, (fields, each) in enumerate(zip(blocks, found, strict=True)):
        spans: Sequence[Spans] = each.spans
        if number in revealed:
            spans = [earlier.get((number, at), own) for at, own in enumerate(spans)]
        spans = as_declared(fields, spans, names)
        if spans is each.spans:
            result.append(each)
        else:
            is_prose = each.is_prose and number not in revealed
            result.append(dataclasses.replace(each, spans=tuple(spans), is_prose=is_prose))
    return result


def _covered(text: str, own: Placeholders | None) -> str:
    """Returns the text with the session's placeholders in canonical form covered."""
    if own is None or not len(own) or "[" not in text:
        return text
    return cover(text, [(hit.start, hit.end) for hit in own.find(text) if hit.exact])


def _replacer(
    policy: Policy,
    mode: PrivacyMode,
    placeholders: Placeholders,
    types: Mapping[str, EntityType],
    hash_key: bytes,
    done: Protected,
) -> Replace:
    """Returns the function that replaces the value of a span, and notes it and its transformation in `done`."""
    shift, last, place = 0, -1, -1

    def replace(span: Span, value: str, raw: str | None = None) -> str:
        nonlocal shift, last, place
        placeholder: str | None = None
        if span.action is Action.PLACEHOLDER:
            text = placeholder = placeholders.mint(span.type, value, raw=raw)
        else:
            text = apply_action(_rule_for(span.type, types, policy, mode), span.type, value, key=hash_key)
        if span.start < last or place != len(done.places):
            shift, place = 0, len(done.places)
        last = span.end
        start = span.start + shift
        shift += len(text) - (span.end - span.start)
        end = start + len(text)
        done.values.pop(value, None)
        done.values[value] = None
        done.replaced.append(span)
        done.transformations.append(
            Transformation(span.type, span.action, placeholder, span.start, span.end, start, end, span.score)
        )
        return text

    return replace


def _rule_for(type: str, types: Mapping[str, EntityType], policy: Policy, mode: PrivacyMode) -> Rule:
    return policy.rule_for(type, group_of(type, types), mode)
