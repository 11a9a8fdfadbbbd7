"""Keeps text that already holds a placeholder of the session literally from being restored as one (law 4).

Within one block the value gets a longer tag; in a later block the literal itself is hidden.
"""

from collections.abc import Sequence
from dataclasses import replace

from gateway.errors import Unavailable
from gateway.models import Action
from gateway.placeholders import Placeholders
from gateway.protection.blocks import BlockFindings
from gateway.protection.known_values import united
from gateway.protection.reasons import LITERAL
from gateway.text.fields import MessageField, Span


def escape_literals(
    blocks: Sequence[Sequence[MessageField]], found: list[BlockFindings], placeholders: Placeholders
) -> list[BlockFindings]:
    """Returns the findings with the literals in them.

    Placeholders that a native session had before belong to its owner and stay.
    """
    had, before = len(placeholders), None
    texts = [[text for each in block for text in each.texts] for block in blocks]
    # No placeholder contains so many line breaks, so one search shows that no text contains any.
    whole = "\n\n\n".join(text for block in texts for text in block)
    for _ in range(8):
        minted: dict[str, int] = {}
        for index, (block, result) in enumerate(zip(texts, found, strict=True)):
            placeholders.enter(index)
            for text, spans in zip(block, result.spans, strict=True):
                for span in spans:
                    if span.action is Action.PLACEHOLDER:
                        minted.setdefault(placeholders.mint(span.type, text[span.start : span.end]), index)
        if not minted or not placeholders.any_in(whole):
            return found
        if before is None:
            # A batch has many values and rarely such a text.
            before = {entry.placeholder for entry in placeholders.entries()[:had]}
        taken: set[str] = set()
        escaped: list[BlockFindings] = []
        for index, (block, result) in enumerate(zip(texts, found, strict=True)):
            all_spans = list(result.spans)
            for position, text in enumerate(block):
                for hit in placeholders.find(text):
                    owner = minted.get(hit.placeholder)
                    if owner is None or hit.placeholder in before:
                        continue
                    if any(s.start <= hit.start and hit.end <= s.end for s in all_spans[position]):
                        continue
                    if owner >= index:
                        taken.add(hit.placeholder)
                    literal = Span(hit.start, hit.end, "PLACEHOLDER", Action.PLACEHOLDER, 1.0, LITERAL)
                    all_spans[position] = united((*all_spans[position], literal))
            escaped.append(replace(result, spans=tuple(all_spans), is_prose=False))
        if not taken:
            return escaped
        for placeholder in sorted(taken):
            placeholders.reissue(placeholder)
    raise Unavailable("The text holds too many look-alikes of placeholders.", code="detection_failed")
