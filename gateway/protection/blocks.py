"""The blocks of a conversation while they are searched, and the values that later blocks reveal in earlier ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gateway.models import Entity
from gateway.protection.known_values import KnownValues, TextForms
from gateway.protection.protocol_names import compound_names
from gateway.protection.split_values import adjacent_texts
from gateway.text.fields import MessageField, Place, Spans

type TextPlace = tuple[int, int]
"""The index of a block, and of a text in it."""


@dataclass(slots=True)
class BlockFindings:
    """The result for one block: `spans[i]` are hidden in its i-th text; `kept` are the findings left in clear.

    `tokens` estimates the size of the texts. `is_prose` tells that no URL of the protected texts holds a placeholder,
    if the fields are plain texts. `earlier` has all spans of those texts of earlier blocks in which values are hidden
    that were first recognized in a later block, up to this one. `encoded` are the texts in which something may be
    encoded, once that was asked for. `clear` has what the caller's corrections left in clear in the texts with these
    indices, `clear_earlier` what they left in clear there of values that this block revealed in earlier ones.
    """

    spans: tuple[Spans, ...]
    kept: tuple[Entity, ...]
    tokens: int = 0
    is_prose: bool = False
    earlier: Mapping[TextPlace, Spans] = field(default_factory=dict, repr=False)
    encoded: frozenset[int] | None = None
    clear: Mapping[int, list[tuple[int, int]]] = field(default_factory=dict)
    clear_earlier: dict[TextPlace, list[tuple[int, int]]] = field(default_factory=dict)

    def count(self) -> int:
        """Returns the number of findings."""
        return sum(map(len, (*self.spans, *self.earlier.values()))) + len(self.kept)


@dataclass(frozen=True, slots=True, repr=False)
class Block:
    """The texts of a block. `continuations` and `compounds` are indices of texts."""

    texts: Sequence[str]
    places: Sequence[Place]
    continuations: Sequence[int]
    compounds: Sequence[int]

    @property
    def is_message(self) -> bool:
        """Whether the block is part of the conversation."""
        return any(place is not Place.SETTINGS for place in self.places)

    @classmethod
    def of(cls, fields: Sequence[MessageField], texts: Sequence[str]) -> "Block":
        """Returns the block of fields, whose texts may have some of their parts covered."""
        places = [each.place for each in fields for _ in each.texts]
        return cls(texts, places, adjacent_texts(fields), compound_names(fields))

    def digested(self, number: int) -> tuple[str, ...]:
        """Returns what the findings of the block with an index depend on."""
        places = [place.value for place in self.places]
        return *self.texts, str(number), str(places), str(self.continuations), str(self.compounds)


def with_full_names(texts: Sequence[str], recognized: Sequence[Spans], hidden: Sequence[Spans]) -> list[Spans]:
    """Returns what was recognized in texts, and the full names whose words are hidden one by one."""
    return [
        [
            *spans,
            *(
                first._replace(end=last.end)
                for first, last in pairwise(own)
                if first.type == last.type == "PERSON" and text[first.end : last.start] == " "
            ),
        ]
        for text, spans, own in zip(texts, recognized, hidden, strict=True)
    ]


def hidden_earlier(
    new: KnownValues,
    before: Sequence[tuple[Block, BlockFindings]],
    earlier: Mapping[TextPlace, Spans],
    forms: TextForms,
    *,
    decode: bool,
    clear: dict[TextPlace, list[tuple[int, int]]],
) -> Mapping[TextPlace, Spans]:
    """Returns `earlier` with the spans of texts in the blocks before that hold new values.

    Without `decode`, texts are not searched for values that are only encoded in them. `clear` gets what the caller's
    corrections leave in clear of new values. Raises Unavailable (detection_failed) when a text could not be searched
    completely.
    """
    if not new:
        return earlier
    changed: dict[TextPlace, Spans] = {}
    for number, (block, found) in enumerate(before):
        if decode and found.encoded is None:
            found.encoded = forms.encoded(block.texts, search=True)
        is_likely = new.may_be_in(block.texts)
        for at, text in enumerate(block.texts):
            spans = earlier.get((number, at), found.spans[at])
            is_encoded = decode and found.encoded is not None and at in found.encoded
            if not is_encoded and not (is_likely and new.may_be_outside(text, spans)):
                continue
            known_clear = found.clear.get(at, ())
            left = [*known_clear]
            hidden = new.repeats(text, spans, is_compound=at in block.compounds, place=block.places[at], clear=left)
            if len(left) > len(known_clear):
                clear[number, at] = left[len(known_clear) :]
            if len(hidden) != len(spans) or any(map(tuple.__ne__, hidden, spans)):
                changed[number, at] = hidden
    return {**earlier, **changed} if changed else earlier
