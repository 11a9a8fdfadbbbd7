"""Finds tool calls that would carry a placeholder's value to an untrusted destination.

The client runs a tool with the restored arguments, so this is where an injected instruction does its harm.
"""

from collections.abc import Iterator, Sequence
from itertools import dropwhile

from gateway.destinations.commands import Commands, is_program
from gateway.destinations.patterns import Patterns
from gateway.destinations.trust import Source, UntrustedDestinations
from gateway.detection import group_of
from gateway.guard.context import GuardContext
from gateway.guard.data_flow import leaving
from gateway.guard.readings import Reading
from gateway.guard.verdict import Hit, Kind, Severity
from gateway.placeholders import Found

_PATTERNS = Patterns(__file__)
_BARE, _DESTINED, _DESCRIBED, _RUN = map(_PATTERNS.compiled, ("bare", "destined", "described", "run"))
# Entity types of hidden recipients.
_CONTACTS = frozenset({"EMAIL_ADDRESS", "PHONE_NUMBER"})


def exfiltrating(reading: Reading, found: Sequence[Found], context: GuardContext) -> Iterator[Hit]:
    """The session's placeholders in a tool call's arguments that go to an untrusted destination."""
    named = Source(context.request, named_for=frozenset(hit.placeholder for hit in found))
    untrusted = UntrustedDestinations(named, by_name=False)
    places = [hit.start for hit in found]
    if any(_is_untrusted(value.strip(), key, untrusted) for key, value in reading.fields()):
        going = set(places)
    else:
        going = {*_sent(reading, places, untrusted), *_confided(reading, found, context, untrusted)}
    for hit in found:
        if hit.start in going:
            yield Hit(Kind.TOOL_CALL_EXFILTRATION, hit.start, hit.end, Severity.HIGH)


def _is_untrusted(text: str, key: str, untrusted: UntrustedDestinations) -> bool:
    """Whether the value of a key is an untrusted destination."""
    may_be_one = _DESTINED.search(key) or not _BARE.fullmatch(text)
    return bool(may_be_one and not _DESCRIBED.search(key)) and untrusted.is_one(text)


def _confided(
    reading: Reading, found: Sequence[Found], context: GuardContext, untrusted: UntrustedDestinations
) -> Iterator[int]:
    """The secrets in a call to a hidden recipient that only a tool named. Other values go there with every reply."""
    known = [(hit.start, entry) for hit in found if (entry := context.placeholders.get(hit.placeholder))]
    secrets = [at for at, it in known if group_of(it.type, context.types) == "secret"]
    contacts = (at for at, it in known if it.type in _CONTACTS and not untrusted.source.holds(it.placeholder))
    if secrets and any(_DESTINED.search(key) for key in map(reading.key_at, contacts)):
        yield from secrets


def _sent(reading: Reading, places: Sequence[int], untrusted: UntrustedDestinations) -> Iterator[int]:
    """The places that a command or code in one of the strings takes along, or a command whose words they are."""
    words = (text for _, text, key in reading.strings if key and not _DESCRIBED.search(key))
    if Commands("", untrusted).sends([*dropwhile(lambda word: not is_program(word), words)]):
        yield from places
    for start, text, key in reading.strings:
        if inside := [place - start for place in places if start <= place < start + len(text)]:
            taken = leaving(text, inside, untrusted, "run" if _RUN.search(key) else "called")
            yield from (start + place for place in taken)
