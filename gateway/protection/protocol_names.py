"""Keeps the names of tools, and of their parameters with several words, as they are declared, wherever they appear.

A call has the name of its tool, and its arguments and the list of required ones have the names of the parameters, even
if a value that was found between them is in it. The declared name is sent in any case.
"""

import re
from collections.abc import Sequence

from gateway.text.fields import MessageField, NameField, PropertyField, Spans

# `mark_done`, `grace-period`: no text that is nothing else is there by chance.
_COMPOUND = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-]+[A-Za-z0-9]+)+\Z")


def compound_names(fields: Sequence[MessageField]) -> list[int]:
    """Returns the indexes of the texts that are declared names of several words."""
    if not any(map(_is_declared, fields)):
        return []
    texts = [(each, text) for each in fields for text in each.texts]
    return [number for number, (each, text) in enumerate(texts) if _is_declared(each) and _COMPOUND.match(text)]


def as_declared(fields: Sequence[MessageField], spans: Sequence[Spans], names: dict[str, Spans]) -> Sequence[Spans]:
    """Returns the spans of the texts of a block, of declared names those of the first occurrence, kept in `names`."""
    if not names and not any(map(_is_declared, fields)):
        return spans
    texts = [(each, text) for each in fields for text in each.texts]
    for (each, text), found in zip(texts, spans, strict=True):
        if _is_declared(each):
            names.setdefault(text, found)
    changed = {
        number: names[text]
        for number, (each, text) in enumerate(texts)
        if text in names and names[text] != spans[number] and (_is_declared(each) or _COMPOUND.match(text))
    }
    return [changed.get(number, found) for number, found in enumerate(spans)] if changed else spans


def _is_declared(field: MessageField) -> bool:
    """Returns whether a field is a name of the protocol. Data under any other key may be a person's name."""
    return isinstance(field, PropertyField) or (isinstance(field, NameField) and field.is_identifier)
