"""Tool calls that would carry a placeholder's value to a host or a person the request did not name.

The client runs a tool with the restored arguments, so this is where an injected instruction does its harm.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import re2

from gateway.inspection.context import Hit, Source
from gateway.inspection.links import URL
from gateway.inspection.reading import Reading
from gateway.inspection.verdict import Kind, Severity
from gateway.placeholders import Found

_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//(?:[^/?#@\s]*@)?(\[[0-9a-f:]+\]|[^/?#:\s\"'<>`\\]+)", re.IGNORECASE)
_WHOLE_HOST = re.compile(r"\s*(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d{1,5})?(?:/\S*)?\s*\Z", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ADDRESSED = rf"(?:[^<>@,;\n]{{0,60}}<)?{_MAIL.pattern}>?"
_RECIPIENTS = re.compile(rf"\s*{_ADDRESSED}(?:\s*[,;]\s*{_ADDRESSED})*\s*[,;]?\s*\Z")
# Programs that send what they are given, and calls that do so in code.
_PROGRAM = re.compile(
    r"\b(?:curl|wget|invoke-webrequest|invoke-restmethod|iwr|irm|ncat|netcat|nc|telnet|ftp|tftp|scp|rsync|socat|httpie"
    r"|sendmail|swaks|mutt|nslookup|dig)\s|/dev/tcp/",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"\b(?:requests|httpx|axios|http|https|urllib\.request|session|client|\$)\.\w+\s*\(|\b(?:fetch|axios|urlopen|websocket"
    r"|sendbeacon)\s*\(|\bxmlhttprequest\b",
    re.IGNORECASE,
)
_SENDS = re2.compile(f"(?i)(?:{_PROGRAM.pattern}|{_CALL.pattern})")
"""The same by RE2: one pass, since most texts hold none of them."""
_COMMAND_END = re.compile(r"(?<!\\)\n|;|&&|\|\|")
_SHORTEST_OWNER = 5
_CALL_BEFORE, _CALL_AFTER = 300, 400
_BARE_HOST = re.compile(r"(?<![\w.-])(?:[a-z0-9-]++\.)+[a-z]{2,24}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b", re.IGNORECASE)
_LOOPBACK = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\])\Z", re.IGNORECASE)
_FILE_NAME = re.compile(
    r"\.(?:py|js|ts|sh|txt|json|csv|md|log|xml|ya?ml|html?|conf|cfg|ini|env|sql|go|rs|java|rb|php|pem|gz|zip)\Z",
    re.IGNORECASE,
)


def exfiltrating(reading: Reading, found: Sequence[Found], source: Source) -> Iterator[Hit]:
    """The session's placeholders in a tool call's arguments that go to a foreign destination."""
    held: dict[int, list[Found]] = {}
    for hit in found:
        held.setdefault(reading.literal_at(hit.start), []).append(hit)
    leaving: set[int] = set()
    for index, (start, end) in enumerate(reading.literals):
        literal = reading.text[start:end]
        if _is_foreign_destination(literal, source):
            leaving |= held.keys()
        elif index in held and sent_abroad(literal, [hit.start - start for hit in held[index]], source):
            leaving.add(index)
    for index in sorted(leaving):
        for hit in held[index]:
            yield Hit(Kind.TOOL_CALL_EXFILTRATION, hit.start, hit.end, Severity.HIGH)


def _is_foreign_destination(literal: str, source: Source) -> bool:
    """Whether a string is, as a whole, the address of somebody the request did not name."""
    text = literal.strip()
    url = URL.match(text)
    if url and url.end() == len(text):
        return foreign_host(text, source)
    if _RECIPIENTS.match(text):
        return any(not source.holds(address) for address in _MAIL.findall(text))
    return bool(_WHOLE_HOST.match(text)) and "/" in text and not source.holds(text.partition("/")[0])


def foreign_host(text: str, source: Source, by_name: bool = False) -> bool:
    """Whether some URL in a text leads to a host that the request did not name and that is not this machine."""
    return any(_is_foreign(match[1], source, by_name) for match in _HOST.finditer(text))


def _is_foreign(host: str, source: Source, by_name: bool) -> bool:
    if _LOOPBACK.match(host) or source.holds(host):
        return False
    owner = host.split(".")[-2:][0]
    return not (by_name and len(owner) >= _SHORTEST_OWNER and source.holds(owner))


def sent_abroad(text: str, places: Sequence[int], source: Source, *, by_name: bool = False) -> set[int]:
    """Those of the places that share a command with a sending program or call and a foreign host.

    `by_name`: a host also counts as named by the request when its owner's name was ("Stripe", api.stripe.com).
    """
    if "." not in text or not _SENDS.search(text):
        return set()
    leaving: set[int] = set()
    for first, last in _commands(text):
        inside = [place for place in places if first <= place < last]
        if inside and _names_foreign_host(text[first:last], source, by_name):
            leaving.update(inside)
    return leaving


def _commands(text: str) -> Iterator[tuple[int, int]]:
    """Stretches around each sender: a shell command to its end, a call with the lines about it."""
    borders = [0, *(match.end() for match in _COMMAND_END.finditer(text)), len(text)]
    for first, last in pairwise(borders):
        if _PROGRAM.search(text, first, last):
            yield first, last
    for match in _CALL.finditer(text):
        yield max(0, match.start() - _CALL_BEFORE), match.end() + _CALL_AFTER


def _names_foreign_host(command: str, source: Source, by_name: bool) -> bool:
    if "//" in command:
        return foreign_host(command, source, by_name)
    hosts = [host for host in _BARE_HOST.findall(command) if not _FILE_NAME.search(host)]
    return any(_is_foreign(host, source, by_name) for host in hosts)
