"""Tells whether a host, a mailbox or a telephone number is untrusted: whether the request did not name it.

Always trusted are this machine and private networks (RFC 1918, RFC 6761, RFC 6762) and what models write for hosts of
the reader, such as `example.com` (RFC 2606) and `your-server.com`.
"""

import re
from contextlib import suppress
from functools import cached_property
from ipaddress import ip_address, ip_network
from socket import inet_aton
from typing import Any

from gateway.destinations.patterns import Patterns, matches
from gateway.detection.unicode_folding import compact
from gateway.errors import BadRequest
from gateway.http.strict_json import dump, parse_object

_PATTERNS = Patterns(__file__)
_WORDS = _PATTERNS.words
HOST, PHONE = map(_PATTERNS.filled, ("<<host>>", "<<phone>>"))
_URL, _MAIL, _QUOTED = map(_PATTERNS.expression, ("<<url>>", "<<mail>>", "<<quoted>>"))
_WHOLE, _WHOLE_URL, _RECIPIENTS = map(_PATTERNS.compiled, ("whole", "whole_url", "recipients"))
_SENDER, _STAND_IN = map(_PATTERNS.compiled, ("sender", "stand_in"))
_TEMPLATE, _NUMERIC, _NOBODY, _PHONE = map(_PATTERNS.compiled, ("template", "numeric", "nobody", "phone"))
# Endings of the types of tool calls and results, in the messages of all wires.
_CALL_TYPES, _RESULT_TYPES = ("tool_use", "_call"), ("tool_result", "_output")
_OWN = [ip_network(each) for each in _PATTERNS.table["own_networks"]]
_PRIVATE_NAMES = tuple(f".{name}" for name in _WORDS["private"])
_SHORTEST_OWNER = 5
# No name is longer (RFC 1035, 2.3.4).
_LONGEST = 255


class Source:
    """The contents of the protected request, which is parsed only when needed.

    `named_for` limits it to text that may name destinations for these placeholders. Results of tools may come from
    anyone, and calls of tools from the model. A result that contains all of the placeholders counts, such as a file
    with a password and its host.
    """

    def __init__(self, request: bytes, *, named_for: frozenset[str] | None = None) -> None:
        self._request = request
        self._named_for = named_for

    @cached_property
    def text(self) -> str:
        """In lower case; JSON's escapes of white space are white space."""
        text = self._request.decode("utf-8", "replace")
        if self._named_for is not None:
            with suppress(BadRequest):
                text = dump(_without_tools(parse_object(text), self._named_for)).decode()
        return re.sub(r'\\[nrt"]', " ", text.lower())

    @cached_property
    def _compact(self) -> str:
        return compact(self.text)

    def holds(self, text: str) -> bool:
        """Whether it contains a text, in any letter case."""
        return text.lower() in self.text

    def names(self, word: str, *, whole: bool = False) -> bool:
        """Whether it contains a word, in lower case, by itself; a host also within a longer one, unless `whole`."""
        text, at = self.text, self.text.find(word)
        while at >= 0:
            before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
            is_longer = whole and before == "." and not text.endswith("www.", 0, at)
            if not (before.isalnum() or before == "-" or after.isalnum() or after == "-" or is_longer):
                return True
            at = text.find(word, at + 1)
        return False

    def holds_loosely(self, text: str) -> bool:
        """Whether it contains the letters and digits of a text, however separated."""
        wanted = compact(text)
        return bool(wanted) and wanted in self._compact


def _without_tools(value: Any, placeholders: frozenset[str]) -> Any:
    """A conversation without calls of tools and their results, except results that contain all the placeholders."""
    if isinstance(value, list):
        return [_without_tools(each, placeholders) for each in value]
    if not isinstance(value, dict):
        return value
    kind = str(value.get("type"))
    if kind.endswith(_CALL_TYPES):
        return None
    if (
        kind.endswith(_RESULT_TYPES)
        or value.get("role") in _WORDS["result_roles"]
        or not _WORDS["results"].isdisjoint(value)
    ):
        text = dump(value).decode()
        if not placeholders or any(placeholder not in text for placeholder in placeholders):
            return None
    return {name: _without_tools(member, placeholders) for name, member in value.items() if name not in _WORDS["calls"]}


class UntrustedDestinations:
    """Tells which destinations are untrusted, in a text or given as one.

    `by_name`: a host also counts as named if its owner was ("Stripe", api.stripe.com).
    """

    def __init__(self, source: Source, *, by_name: bool) -> None:
        self.source = source
        self._by_name = by_name
        self._known: dict[str, bool] = {}

    def host(self, host: str) -> bool:
        if host not in self._known:
            end = host[-4 * _LONGEST :]
            name = (end if end.startswith("[") else _TEMPLATE.sub("", end)).lower().strip(".[]{}")[-_LONGEST:]
            self._known[host] = not (not name or _is_own(name) or _STAND_IN.match(name) or self._named(name))
        return self._known[host]

    def _named(self, name: str) -> bool:
        if self.source.names(name):
            return True
        labels = name.split(".")
        owned = len(labels) - 2 - (len(labels) > 2 and labels[-2] in _WORDS["second_level"] and len(labels[-1]) == 2)
        if ".".join(labels[-2:]) in _WORDS["shared"] or owned < 0:
            return False
        if any(self.source.names(".".join(labels[first:]), whole=True) for first in range(1, owned + 1)):
            return True
        owner = labels[owned]
        return self._by_name and len(owner) >= _SHORTEST_OWNER and self.source.names(owner)

    def mail(self, address: str) -> bool:
        local, _, domain = address.lower().rpartition("@")
        if _NOBODY.fullmatch(local) or self.source.names(address.lower()):
            return False
        return domain in _WORDS["shared"] or self.host(domain)

    def _url(self, scheme: str, host: str) -> bool:
        return not self.source.names(host.lower()) if scheme in _WORDS["buckets"] else self.host(host)

    def numbers(self, text: str) -> list[int]:
        """Returns where telephone numbers begin in a text."""
        return [match.start() for match in _PHONE.finditer(text) if not self.source.holds_loosely(match[0])]

    def urls(self, text: str) -> list[int]:
        """Returns where URLs begin in a text."""
        return [at for at, (_, scheme, host) in matches(_URL, text) if self._url(scheme, host)]

    def mailboxes(self, text: str) -> list[int]:
        """Returns where addresses of mailboxes other than the sender's begin in a text."""
        return [
            at
            for at, (address,) in matches(_MAIL, text)
            if self.mail(address) and not _SENDER.search(text[max(0, at - 24) : at])
        ]

    def found(self, text: str) -> list[tuple[int, bool]]:
        """Returns where a program names a destination: a URL, a string that is a host, or a mailbox (true)."""
        hosts = [at for at, (_, host) in matches(_QUOTED, text) if host and not is_file_name(host) and self.host(host)]
        return [(at, False) for at in (*self.urls(text), *hosts)] + [(at, True) for at in self.mailboxes(text)]

    def is_one(self, text: str) -> bool:
        """Whether a text is one as a whole: a URL, mailboxes, a telephone number, a host with a port or a path."""
        if _WHOLE_URL.match(text):
            return bool(self.urls(text))
        if _RECIPIENTS.match(text):
            return bool(self.mailboxes(text))
        # `tel:+49...`
        if 0 in self.numbers(text.rpartition(":")[2].lstrip()):
            return True
        match = _WHOLE.match(text)
        return match is not None and not is_file_name(match[1]) and self.host(match[1])


def is_file_name(name: str) -> bool:
    """Whether a name ends like that of a file, and not like a host's."""
    return "." in name and name.rpartition(".")[2].lower() in _WORDS["file_endings"]


def _is_own(host: str) -> bool:
    """This machine or its network: no dot, a reserved name, an address that is not routed."""
    is_number = _NUMERIC.match(host) is not None
    if is_number or ":" in host:
        with suppress(OSError, ValueError):
            address = ip_address(inet_aton(host) if is_number else host)
            return address.is_loopback or any(address in network for network in _OWN)
    return "." not in host or f".{host}".endswith(_PRIVATE_NAMES)
