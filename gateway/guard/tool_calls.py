"""Tool calls that would carry a placeholder's value to a host or a person the request did not name.

The client runs a tool with the restored arguments, so this is where an injected instruction does its harm.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.guard.context import GuardContext, Hit
from gateway.guard.exfiltration import leaving
from gateway.guard.links import URL
from gateway.guard.part_views import Reading
from gateway.guard.shell_commands import Commands, is_program
from gateway.guard.untrusted_destinations import MAIL, PHONE, UntrustedDestinations
from gateway.guard.verdict import Kind, Severity
from gateway.placeholders import Found

_ADDRESSED = rf"(?:(?:[^<>@,;\s][^<>@,;\n]{{0,59}})?<)?{MAIL}>?"
_RECIPIENTS = re.compile(rf"\s*{_ADDRESSED}(?:\s*[,;]\s*{_ADDRESSED})*\s*[,;]?\s*\Z", re.IGNORECASE)
_NUMBER = re.compile(rf"\s*(?:tel:|sms:|whatsapp:)?\s*(?:{PHONE})\s*\Z", re.IGNORECASE)
# What a key says of its value: where something goes to, or what is only told about.
_DESTINED = re.compile(
    r"host|domain|server|authority|netloc|endpoint|addr|remote|target|dest|url|uri|webhook|callback|site|origin|proxy"
    r"|upstream|relay|gateway|\bip\b|recipient|(?:\b|_)to\b|\bcc\b|bcc|ziel|empf",
    re.IGNORECASE,
)
_DIALLED = re.compile(r"recipient|(?:\b|_)to\b|dest|dial|callee|msisdn|target|number|ziel|empf", re.IGNORECASE)
_TOLD = re.compile(
    r"(?:^|[^a-z])(?:schema|context|id|type|xmlns|namespace|system|profile|reference|source|docs?|documentation"
    r"|license|homepage"
    r"|image|avatar|logo|icon|photo|picture|thumbnail|from|sender|author|committer"
    r"|title|text|notes?|description|summary|agenda|comments?|topics?|see|related)\W*\Z",
    re.IGNORECASE,
)


# Keys whose values are run.
_RUN = re.compile(r"^(?:cmd|command(?:line)?|shell|bash|script|run|exec|input)$", re.IGNORECASE)
# What a hidden recipient can be.
_CONTACTS = frozenset({"EMAIL_ADDRESS", "PHONE_NUMBER"})


def exfiltrating(
    reading: Reading, found: Sequence[Found], context: GuardContext, untrusted: UntrustedDestinations
) -> Iterator[Hit]:
    """The session's placeholders in a tool call's arguments that go to an untrusted destination."""
    places = [hit.start for hit in found]
    if any(_is_untrusted(value, key, untrusted) for key, value in reading.fields()):
        going = set(places)
    else:
        going = {*_sent(reading, places, untrusted), *_confided(reading, found, context, untrusted)}
    for hit in found:
        if hit.start in going:
            yield Hit(Kind.TOOL_CALL_EXFILTRATION, hit.start, hit.end, Severity.HIGH)


def _is_untrusted(literal: str, key: str, untrusted: UntrustedDestinations) -> bool:
    """Whether a string is, as a whole, the address of somebody the request did not name."""
    if _TOLD.search(key):
        return False
    text = literal.strip()
    if URL.fullmatch(text.encode("utf-8", "surrogatepass")):
        return untrusted.url(text)
    if _RECIPIENTS.match(text):
        return untrusted.mailbox(text)
    if _DIALLED.search(key) and _NUMBER.match(text):
        return untrusted.number(text)
    return ("/" in text or _DESTINED.search(key) is not None) and untrusted.whole(text)


def _confided(
    reading: Reading, found: Sequence[Found], context: GuardContext, untrusted: UntrustedDestinations
) -> Iterator[int]:
    """The secrets in a call to somebody hidden whom only a tool named. What else goes there goes with every reply."""
    known = [(hit.start, entry) for hit in found if (entry := context.placeholders.get(hit.placeholder))]
    kinds = {entry.type for _, entry in known}
    secrets = {kind for kind in kinds if (about := context.types.get(kind)) and about.group == "secret"}
    if not secrets or kinds.isdisjoint(_CONTACTS):
        return
    keys = reading.keys()
    if any(
        entry.type in _CONTACTS and untrusted.hidden(entry) and _is_recipient(keys[reading.literal_at(at)])
        for at, entry in known
    ):
        yield from (at for at, entry in known if entry.type in secrets)


def _is_recipient(key: str) -> bool:
    return _DESTINED.search(key) is not None or _DIALLED.search(key) is not None


def _sent(reading: Reading, places: Sequence[int], untrusted: UntrustedDestinations) -> Iterator[int]:
    """The places that a command or code in one of the strings takes along, or a command whose words they are."""
    keyed = [
        (span, reading.text[slice(*span)], key) for span, key in zip(reading.literals, reading.keys(), strict=True)
    ]
    words = [text for _, text, key in keyed if key and not _TOLD.search(key)]
    program = next((index for index, word in enumerate(words) if is_program(word)), None)
    if program is not None and Commands("", untrusted).sends(words[program:]):
        yield from places
    for (start, end), text, key in keyed:
        if inside := [place - start for place in places if start <= place < end]:
            taken = leaving(text, inside, untrusted, is_code=True, is_command=_RUN.search(key) is not None)
            yield from (start + place for place in taken)
