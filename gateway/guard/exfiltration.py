"""Finds the placeholders that code, commands, pages and forms in a text would take to an untrusted destination.

What sends is a statement: a call, an assignment to an address of a page, or a command. It takes what stands in it and,
by the names in it, what other statements put there. What only stands near it stays where it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from gateway.guard.data_flow import Program
from gateway.guard.regex_search import expression, holds, matches
from gateway.guard.shell_commands import Commands, first_mention, mentioned
from gateway.guard.untrusted_destinations import UntrustedDestinations

_CLIENT = (
    r"(?:requests|httpx|axios|https?|urllib3?|request|session|aiohttp|got|ky|superagent|needle|faraday|httparty"
    r"|unirest|restclient"
    r"|jquery|net::http|lwp|guzzle|mechanize|(?:http)?client|conn(?:ection)?|sock(?:et)?|xhr|xmlhttp|ws|smtp"
    r"|transporter|mailer"
    r"|urllib\.request|dns|require\([\"'](?:node:)?\w+[\"']\)|\$|\w*(?:client|session|socket|request))"
)
_CALL = (
    r"\b(?:fetch|urlopen|urlretrieve|sendbeacon|xmlhttprequest|websocket|eventsource|importscripts|file_get_contents"
    r"|fsockopen"
    r"|curl_init|curl_setopt|create_connection|open_connection|gethostbyname|getaddrinfo|https?connection|urlfetch"
    r"|(?:data|upload)task|wp_remote_\w+"
    r"|readfile|wp_mail|send_?mail|send_?message|mail|window\.open|axios|httppost|httprequest|httpwebrequest"
    r"|new\s+url|got|superagent"
    r"|location\.(?:assign|replace)|document\.write(?:ln)?|webservice|import(?:data|xml)|(?-i:GET|POST|PUT|PATCH))\s*\("
    rf"|{_CLIENT}(?:\(\))?(?:\.|->|::|\s+)(?:get|open|send|sendto|sendall|load|request|resolve|put|head|delete"
    rf"|connect|create|do|write)\w*\s*\("
    r"|(?:\.|->|::)(?:post|patch|ajax|getjson|getscript|(?:post|put|send|getstring|postasjson)async|uploadstring"
    r"|downloadstring"
    r"|bodystring|post_form|navigate|goto|setattribute)\s*\(|[\"'](?:curl|wget|nc|ncat|scp|ssh)[\"']\s*,"
)
_ASSIGNMENT = r"(?:\blocation|\.(?:src|srcset|href|action|formaction|data))\s*\+?=[^=>]"
# Whatever is called with an address first, under any name.
_ADDRESSED = r"[\w)\]]\s*\(\s*[\"'`](?:https?|wss?|ftps?)://"
_SENDER = expression(f"(?:{_CALL}|{_ADDRESSED})|({_ASSIGNMENT})")
_MAILS = re.compile(r"mail|send_?message|smtp", re.IGNORECASE)
_STYLE = re.compile(r"\[\s*value\s*[~|^$*]?=[^\]\n]{0,80}\][^{}]{0,80}\{[^}]{0,200}url\([^)]{0,300}", re.IGNORECASE)

_PAGE = re.compile(
    r"\bdocument\s*\.\s*(?:body|documentelement|cookie|forms|all)\b|inner(?:text|html)|outerhtml|textcontent|getselection",
    re.I,
)
_FIELDS = re.compile(r"\.value\b|formdata|\.serialize\w*\(|\.action\s*=|getelementby|queryselector", re.I)
_FIELD = re.compile(
    r"<(?:input|button|option|select|meta)\b[^>]{0,600}|<textarea\b[^>]{0,200}>[^<]*|\b(?:id|data-[\w-]+)=[^<]{0,300}",
    re.I,
)
# Where a program of a page begins: in a handler, or as an address.
_HANDLER = re.compile(
    r"<\w[^<]*\bon\w{3,20}\s*=\s*(?:\"[^\"]*|'[^']*|[^\s\"'>]*)\Z|\b(?:javascript|vbscript):[^\n]*\Z"
    r"|data:text/html[^\n]*\Z"
)
_FORM = re.compile(r"<form\b([^>]{0,2000})>(.*?)(?:</form\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_VALUE = r"\s*=\s*(?:\"([^\"]{0,2000})\"|'([^']{0,2000})'|([^\s>\"']{1,2000}))"
_ACTION = re.compile(rf"\b(?:form)?action{_VALUE}", re.IGNORECASE)
_BASE = re.compile(rf"<base\b[^>]{{0,200}}\bhref{_VALUE}", re.IGNORECASE)
_ELSEWHERE = re.compile(r"<(?:input|textarea|select|button|output)\b[^>]{0,600}\bform\s*=", re.IGNORECASE)
_FAR = 2000


def leaving(
    text: str,
    places: Sequence[int],
    untrusted: UntrustedDestinations,
    *,
    is_code: bool = False,
    is_command: bool = False,
) -> dict[int, bool]:
    """Those of the `places`, sorted, that would leave; true where a page sends them by itself.

    `is_command`: the text is there to be run, so that any program in it may send.
    """
    destinations = untrusted.found(text)
    if not destinations and not mentioned(text):
        return {}
    taken = dict.fromkeys(_posted(text, places, untrusted) if destinations else (), True)
    if is_command or mentioned(text) or holds(_SENDER, text) or "url(" in text:
        flow = _Flow(Program(text, is_code=is_code), places, untrusted)
        taken = flow.leaving(destinations, is_command=is_command) | taken
    return taken


class _Flow:
    def __init__(self, program: Program, places: Sequence[int], untrusted: UntrustedDestinations) -> None:
        self._program = program
        self._text = program.text
        self._places = places
        self._untrusted = untrusted

    def leaving(self, destinations: Sequence[tuple[int, bool]], *, is_command: bool) -> dict[int, bool]:
        abroad = dict(self._calls(destinations))
        commands = Commands(self._text, self._untrusted, any_program=is_command)
        if mentioned(self._text) or is_command:
            for index, statement in enumerate(self._program.statements):
                if index not in abroad and commands.send(said := self._program.command(index)):
                    abroad[index] = statement.start
                    if not statement.is_code:
                        # In a sentence a command begins at its program.
                        statement.start += first_mention(said)
        if commands.takes_everything:
            return dict.fromkeys(self._places, False)
        taken: dict[int, bool] = {}
        for is_page in (False, True):
            sending = {index: at for index, at in abroad.items() if self._is_page(at) == is_page}
            taken |= dict.fromkeys(self._taken(sending), is_page)
        if any(self._untrusted.url(match[0]) for match in _STYLE.finditer(self._text)):
            taken |= dict.fromkeys(filter(self._is_in_field, self._places), True)
        return taken

    def _calls(self, destinations: Sequence[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
        """The statements that send to an untrusted destination by a call, and where."""
        program = self._program
        named = [(program.at(at), is_mail) for at, is_mail in destinations if not program.is_comment(at)]
        senders = [(at, said or "") for at, (said, _) in matches(_SENDER, self._text)] if named else []
        if not senders:
            return
        reached = {
            kind: program.reached(index for index, is_mail in named if is_mail == kind) for kind in (False, True)
        }
        for at, said in senders:
            index = program.at(at)
            if index in reached[_MAILS.search(said) is not None]:
                yield index, at

    def _taken(self, sending: dict[int, int]) -> set[int]:
        if not sending:
            return set()
        program = self._program
        sources = program.sources(sending)
        said = "\n".join(program.said(index) for index in sources)
        taken = program.held(sources, self._places)
        if _PAGE.search(said):
            taken.update(self._places)
        elif _FIELDS.search(said):
            taken.update(filter(self._is_in_field, self._places))
        return taken

    def _is_in_field(self, place: int) -> bool:
        at = bisect_right(self._fields, (place, len(self._text))) - 1
        return at >= 0 and place < self._fields[at][1]

    @cached_property
    def _fields(self) -> list[tuple[int, int]]:
        return [match.span() for match in _FIELD.finditer(self._text)]

    def _is_page(self, at: int) -> bool:
        """Whether a page runs what stands there."""
        before = self._text[max(0, at - _FAR) : at].lower()
        opened, closed = (max(before.rfind(sign + name) for name in ("script", "style")) for sign in ("<", "</"))
        return opened > closed or _HANDLER.search(before[-400:]) is not None


def _posted(text: str, places: Sequence[int], untrusted: UntrustedDestinations) -> set[int]:
    """Those of the places that stand in a form whose button sends it to an untrusted destination."""
    taken: set[int] = set()
    # Fields can belong to a form without standing in it.
    everywhere = _ELSEWHERE.search(text) is not None
    moved = any(untrusted.address(_value(base)) for base in _BASE.finditer(text))
    for form in _FORM.finditer(text):
        actions = [_value(action) for action in _ACTION.finditer(text, *form.span())]
        if any(untrusted.address(action) or (moved and ":" not in action) for action in actions):
            taken.update(place for place in places if everywhere or form.start() <= place < form.end())
    return taken


def _value(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)
