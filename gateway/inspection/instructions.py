"""Orders in an answer, addressed to whoever acts on it: give away what a placeholder hides, or send it somewhere.

A model's text is read by people, but also by agents that do what it says; an injected document speaks to them so.
"""

import re
from collections.abc import Iterator, Sequence

import re2

from gateway.inspection import phrases
from gateway.inspection.context import Hit, Source
from gateway.inspection.phrases import Order
from gateway.inspection.tool_calls import sent_abroad
from gateway.inspection.verdict import Kind, Severity
from gateway.placeholders import Found


def _verb_finder(*orders: Sequence[Order]) -> "re2._Regexp":
    """Finds where an order could begin: the one look that every answer gets."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    verbs = "|".join(order.verb for group in orders for order in group)
    return re2.compile(f"(?:^|[^\\pL\\d])({verbs})(?:$|[^\\pL\\d])".encode(), options)


def _compiled(orders: Sequence[Order]) -> re.Pattern[str]:
    """One expression of all; the group of a target is named anew in each."""
    filled = [
        f"{order.verb}{order.rest}".replace("{TARGET}", phrases.TARGET.replace("<target>", f"<target{index}>"))
        for index, order in enumerate(orders)
    ]
    return re.compile("|".join(filled).replace("{TAG}", phrases.TAG), re.IGNORECASE)


_VERB = _verb_finder(phrases.REVEAL, phrases.OVERRIDE, phrases.SEND)
_REVEAL = _compiled(phrases.REVEAL)
_OVERRIDE = _compiled(phrases.OVERRIDE)
_SEND = _compiled(phrases.SEND)
_LEAD = re.compile(phrases.LEAD, re.IGNORECASE)
_EXPLAINING = re.compile(phrases.EXPLAINING, re.IGNORECASE)
# One cheap look first: without one of these words, and without a placeholder, nothing below can match.
_ABOUT_THE_HIDDEN = (
    *("placeholder", "platzhalter", "redacted", "masked", "hidden", "protected", "withheld", "anonymi", "your system"),
    *("your vault", "your session", "gateway's", "proxy's"),
)
_ABOUT_RULES = (
    *("ignor", "disregard", "forget", "overrid", "bypass", "vergiss", "vergess", "missacht", "übergeh", "umgeh"),
    *("oubli", "néglig", "contourn", "outrepass", "olvid", "omit", "descart"),
)
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|\"[^\"\n]{0,600}\"|“[^”\n]{0,600}”|„[^“”\n]{0,600}[“”]|«[^»\n]{0,600}»|`[^`\n]{0,600}`"
    r"|(?<!\w)'[^'\n]{0,600}'(?!\w)|‘[^’\n]{0,600}’|^[ \t]*>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_BORDER = re.compile(r"[.!?](?=\s|$)|\n")


def orders(text: str, found: Sequence[Found], source: Source) -> Iterator[Hit]:
    """Instructions in words to reveal or to send. `found` are the session's placeholders in the text."""
    plain = text.lower()
    looked_for: list[tuple[Kind, re.Pattern[str]]] = []
    if found or any(word in plain for word in _ABOUT_THE_HIDDEN):
        looked_for += [(Kind.INSTRUCTION_TO_REVEAL, _REVEAL), (Kind.INSTRUCTION_TO_SEND, _SEND)]
    if any(stem in plain for stem in _ABOUT_RULES):
        looked_for.append((Kind.INSTRUCTION_TO_REVEAL, _OVERRIDE))
    if not looked_for:
        return
    masked = _masked(text, found)
    for at in _verbs(masked):
        for kind, pattern in looked_for:
            match = pattern.match(masked, at)
            if match and _begins_order(masked, at) and not _is_harmless(text, match, source):
                yield Hit(kind, *_sentence(text, *match.span()), Severity.HIGH)


def _verbs(text: str) -> Iterator[int]:
    """Where the verbs of giving stand."""
    data = text.encode("utf-8", "surrogatepass")
    at = seen = 0
    for match in _VERB.finditer(data):
        begin = match.start(1)
        at, seen = at + len(data[seen:begin].decode("utf-8", "surrogatepass")), begin
        yield at


def _begins_order(text: str, at: int) -> bool:
    """Whether a verb is first in its sentence, or behind "please", "now", "you must": "to print it" orders nothing."""
    return _LEAD.search(text[max(0, at - phrases.LONGEST_LEAD) : at]) is not None


def _is_harmless(text: str, match: re.Match[str], source: Source) -> bool:
    """Said in the request already, quoted to explain it, or sending to an address that the request named."""
    target = next((value for value in match.groupdict().values() if value), None)
    if target is not None and source.holds(_host(target)):
        return True
    return _is_mentioned(text, match.start()) or source.holds_loosely(text[match.start() : match.end()])


def _masked(text: str, found: Sequence[Found]) -> str:
    """The text with every placeholder as a run of one character that nobody writes, offsets unchanged."""
    parts: list[str] = []
    position = 0
    for hit in found:
        parts += (text[position : hit.start], phrases.TAG[0] * (hit.end - hit.start))
        position = hit.end
    parts.append(text[position:])
    return "".join(parts)


def _host(target: str) -> str:
    address = target.rstrip(").,;:!?").lower()
    return address if "@" in address else re.sub(r"^[a-z]+://", "", address).split("/")[0]


def _is_mentioned(text: str, at: int) -> bool:
    """Whether the words are quoted in a text about such words: an explanation of the attack, not the attack."""
    quoted = any(match.start() < at < match.end() for match in _QUOTED.finditer(text))
    return quoted and _EXPLAINING.search(text) is not None


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    before = [match.end() for match in _BORDER.finditer(text, 0, start)]
    after = _BORDER.search(text, end)
    first = before[-1] if before else 0
    first += len(text[first:start]) - len(text[first:start].lstrip())
    return first, (after.end() if after and after[0] != "\n" else after.start() if after else len(text))


def commands(text: str, found: Sequence[Found], source: Source) -> Iterator[Hit]:
    """Commands and code that send a placeholder to a host nobody named, for an agent to run."""
    leaving = sent_abroad(text, [hit.start for hit in found], source)
    for hit in found:
        if hit.start in leaving:
            yield Hit(Kind.INSTRUCTION_TO_SEND, hit.start, hit.end, Severity.MEDIUM)
