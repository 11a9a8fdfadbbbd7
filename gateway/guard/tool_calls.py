"""Finds tool calls that would carry a placeholder's value to an untrusted destination.

The client runs a tool with the restored arguments, so this is where an injected instruction does its harm.
"""

from collections.abc import Iterator, Sequence

from gateway.guard.context import GuardContext
from gateway.guard.exfiltration import leaving
from gateway.guard.links import URL
from gateway.guard.patterns import Patterns
from gateway.guard.readings import Reading
from gateway.guard.shell_commands import Commands, is_program
from gateway.guard.untrusted_destinations import MAIL, Source, UntrustedDestinations
from gateway.guard.verdict import Hit, Kind, Severity
from gateway.placeholders import Found

_PATTERNS = Patterns(__file__, mail=MAIL)
_RECIPIENTS, _DESTINED, _DESCRIBED, _RUN = map(_PATTERNS.compiled, ("recipients", "destined", "described", "run"))
# What a hidden recipient can be.
_CONTACTS = frozenset({"EMAIL_ADDRESS", "PHONE_NUMBER"})


def exfiltrating(reading: Reading, found: Sequence[Found], context: GuardContext) -> Iterator[Hit]:
    """The session's placeholders in a tool call's arguments that go to an untrusted destination."""
    named = Source(context.request, named_for=frozenset(hit.placeholder for hit in found))
    untrusted = UntrustedDestinations(named, by_name=False)
    places = [hit.start for hit in found]
    if any(_is_untrusted(value, key, untrusted) for key, value in reading.fields()):
        going = set(places)
    else:
        going = {*_sent(reading, places, untrusted), *_confided(reading, found, context, untrusted)}
    for hit in found:
        if hit.start in going:
            yield Hit(Kind.TOOL_CALL_EXFILTRATION, hit.start, hit.end, Severity.HIGH)


def _is_untrusted(literal: str, key: str, untrusted: UntrustedDestinations) -> bool:
    """Whether a string is an untrusted destination as a whole."""
    if _DESCRIBED.search(key):
        return False
    text = literal.strip()
    if URL.fullmatch(text.encode("utf-8", "surrogatepass")):
        return bool(untrusted.urls(text))
    if _RECIPIENTS.match(text):
        return bool(untrusted.mailboxes(text))
    is_destined = _DESTINED.search(key) is not None
    # `tel:+49...`
    if is_destined and 0 in untrusted.numbers(text.rpartition(":")[2].lstrip()):
        return True
    return (is_destined or "/" in text) and untrusted.whole(text)


def _confided(
    reading: Reading, found: Sequence[Found], context: GuardContext, untrusted: UntrustedDestinations
) -> Iterator[int]:
    """The secrets in a call to a hidden recipient that only a tool named. Other values go there with every reply."""
    known = [(hit.start, entry) for hit in found if (entry := context.placeholders.get(hit.placeholder))]
    secrets = [at for at, it in known if (about := context.types.get(it.type)) and about.group == "secret"]
    contacts = (at for at, it in known if it.type in _CONTACTS and not untrusted.source.holds(it.placeholder))
    if secrets and any(_DESTINED.search(key) for key in map(reading.key_at, contacts)):
        yield from secrets


def _sent(reading: Reading, places: Sequence[int], untrusted: UntrustedDestinations) -> Iterator[int]:
    """The places that a command or code in one of the strings takes along, or a command whose words they are."""
    words = [text for _, text, key in reading.strings if key and not _DESCRIBED.search(key)]
    program = next((index for index, word in enumerate(words) if is_program(word)), None)
    if program is not None and Commands("", untrusted).sends(words[program:]):
        yield from places
    for start, text, key in reading.strings:
        if inside := [place - start for place in places if start <= place < start + len(text)]:
            taken = leaving(text, inside, untrusted, is_code=True, is_command=_RUN.search(key) is not None)
            yield from (start + place for place in taken)
