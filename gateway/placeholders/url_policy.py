"""Implements the URL rule: never restores a value in a destination that the protected source did not contain.

An answer may contain an injected link with a placeholder in its query, and restoring it would send the value to the
owner of the link. The rule restores a placeholder in a destination only if the source contained the same destination,
if the destination is only a placeholder for an address, or if it is `mailto:`, `tel:` or `sms:` with only that
placeholder. Destinations are recognized generously: a false one costs an unrestored placeholder, a missed one a value.
"""

import re
from collections.abc import Mapping, Sequence

from gateway.destinations.parser import Destinations
from gateway.destinations.rule import Mark, RestoreScope
from gateway.placeholders.grammar import Found, looks_like_placeholder
from gateway.placeholders.json_text import is_document, with_blanks

# Text before a destination that may contain white space: Markdown links and definitions, HTML.
_OPENINGS = ("](", "]:", "<", "=")
_AFTER_WORD = re.compile(r"[,.;!?]?(?:[ \n\t]|\Z)")


def urls_with_placeholders(text: str) -> frozenset[str]:
    """Returns the destinations of a protected text that contain placeholders, as `RestoreScope` takes them."""
    hits = looks_like_placeholder(text)
    if not hits:
        return frozenset()
    found: set[str] = set()

    def collect(address: str, _: bool) -> bool:
        found.add(address)
        return False

    # An answer may repeat a document as one, or within prose.
    for plain in dict.fromkeys((text, _running_text(text))):
        if not _are_words(plain, hits):
            Destinations(collect).read(text, plain, [(h.start, h.end, _mark(text, h)) for h in hits])
    return frozenset(found)


def withheld(text: str, hits: Sequence[Found], own: Sequence[Found], scope: RestoreScope) -> Mapping[int, list[str]]:
    """Returns where the placeholders begin that must not be restored, each with the addresses that it would go to.

    `hits` are all placeholders in the text and `own` those of the session among them, sorted.
    """
    if scope.urls == "always" or not own:
        return {}
    plain = _running_text(text)
    if _are_words(plain, own):
        return {}
    starts = {hit.start for hit in own}
    places = [(hit.start, hit.end, _mark(text, hit, own=hit.start in starts)) for hit in hits]
    Destinations(scope.allows).read(text, plain, places)
    return {start: mark.refused for start, _, mark in places if mark.own and mark.refused}


def _mark(text: str, hit: Found, *, own: bool = True) -> Mark:
    return Mark(hit.placeholder, own=own, bracketed=text[hit.end - 1] == "]")


def _running_text(text: str) -> str:
    """Returns a text in which white space ends a URL also where a JSON document escapes it: programs read its strings.

    Links, elements and attributes are read as they are spelled, since they may load by themselves on a page.
    """
    return with_blanks(text) if is_document(text) else text


def _are_words(text: str, hits: Sequence[Found]) -> bool:
    """Returns whether every placeholder is a word of its own in plain prose, as in most texts.

    No destination contains such a word: in running text white space ends it, and one that may contain white space
    needs an opening, which is missing.
    """
    if any(opening in text for opening in _OPENINGS) or ("(" in text and "url(" in text.lower()):
        return False
    return all(
        (hit.start == 0 or text[hit.start - 1] in " \n\t") and (_AFTER_WORD.match(text, hit.end) is not None)
        for hit in hits
    )
