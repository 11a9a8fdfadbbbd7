"""Tool calls that would carry a placeholder's value to a host or a person the request did not name.

The client runs a tool with the restored arguments, so this is where an injected instruction does its harm.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import repeat

from gateway.guard.context import GuardContext, Hit
from gateway.guard.exfiltration import is_program, sent
from gateway.guard.links import URL
from gateway.guard.network_programs import is_sender
from gateway.guard.part_views import Reading
from gateway.guard.shell_commands import carried_by, carried_off, mentioned
from gateway.guard.untrusted_destinations import MAIL, PHONE, Strangers
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
    r"(?:^|[^a-z])(?:schema|context|id|type|xmlns|namespace|system|profile|reference|source|docs?|documentation|license|homepage"
    r"|image|avatar|logo|icon|photo|picture|thumbnail|from|sender|author|committer)\W*\Z",
    re.IGNORECASE,
)


# What a hidden recipient can be.
_CONTACTS = frozenset({"EMAIL_ADDRESS", "PHONE_NUMBER"})


def exfiltrating(
    reading: Reading, found: Sequence[Found], context: GuardContext, strangers: Strangers
) -> Iterator[Hit]:
    """The session's placeholders in a tool call's arguments that go to a stranger."""
    literals = [reading.text[start:end] for start, end in reading.literals]
    places = [hit.start for hit in found]
    if reading.names_a_place and any(map(_is_strangers, literals, reading.keys(), repeat(strangers))):
        leaving = set(places)
    else:
        leaving = set(_commanded(reading, literals, places, strangers))
        if reading.names_a_place and len(leaving) < len(places):
            leaving.update(_sent(reading, literals, places, strangers))
        leaving.update(_confided(reading, found, context, strangers))
    for hit in found:
        if hit.start in leaving:
            yield Hit(Kind.TOOL_CALL_EXFILTRATION, hit.start, hit.end, Severity.HIGH)


def _is_strangers(literal: str, key: str, strangers: Strangers) -> bool:
    """Whether a string is, as a whole, the address of somebody the request did not name."""
    if _TOLD.search(key):
        return False
    text = literal.strip()
    if URL.fullmatch(text.encode("utf-8", "surrogatepass")):
        return strangers.url(text)
    if _RECIPIENTS.match(text):
        return strangers.mailbox(text)
    if _DIALLED.search(key) and _NUMBER.match(text):
        return strangers.number(text)
    return ("/" in text or _DESTINED.search(key) is not None) and strangers.whole(text)


def _confided(reading: Reading, found: Sequence[Found], context: GuardContext, strangers: Strangers) -> Iterator[int]:
    """The secrets in a call to somebody hidden whom only a tool named. What else goes there goes with every reply."""
    known = [(hit.start, entry) for hit in found if (entry := context.placeholders.get(hit.placeholder))]
    kinds = {entry.type for _, entry in known}
    secrets = {kind for kind in kinds if (about := context.types.get(kind)) and about.group == "secret"}
    if not secrets or kinds.isdisjoint(_CONTACTS):
        return
    keys = reading.keys()
    if any(
        entry.type in _CONTACTS and strangers.hidden(entry) and _is_recipient(keys[reading.literal_at(at)])
        for at, entry in known
    ):
        yield from (at for at, entry in known if entry.type in secrets)


def _is_recipient(key: str) -> bool:
    return _DESTINED.search(key) is not None or _DIALLED.search(key) is not None


def _sent(reading: Reading, literals: Sequence[str], places: Sequence[int], strangers: Strangers) -> Iterator[int]:
    """The places that a command in one of the strings takes along, or one that is spread over them."""
    program = next((index for index, literal in enumerate(literals) if is_program(literal)), None)
    if program is not None:
        start = reading.literals[program][0]
        command = reading.text[start:].replace("\n", " ")
        yield from (start + place for place in sent(command, [each - start for each in places], strangers))
    for (start, end), literal in zip(reading.literals, literals, strict=True):
        inside = [place - start for place in places if start <= place < end]
        if inside:
            yield from (start + place for place in sent(literal, inside, strangers))


def _commanded(reading: Reading, literals: Sequence[str], places: Sequence[int], strangers: Strangers) -> Iterator[int]:
    """The places that the commands in one of the strings take along, or one whose words the strings are."""
    if not mentioned(reading.text):
        return
    program = next((index for index, literal in enumerate(literals) if is_sender(literal)), None)
    if program is not None:
        yield from carried_by(reading.text, reading.listed(program), places, strangers)
    for (start, end), literal in zip(reading.literals, literals, strict=True):
        inside = [place - start for place in places if start <= place < end]
        if inside:
            yield from (start + place for place in carried_off(literal, inside, strangers))
