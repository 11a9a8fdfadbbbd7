"""Programs, calls and scripts that send something, and which placeholders they would take to a stranger.

A sender takes what its own statement holds and, through the names in it, what other statements gave to those names:
variables, files, parameters of the function it stands in, and, for a script that reads the page, the page. What only
stands near it stays where it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from gateway.guard.data_flow import Statement, Statements
from gateway.guard.markup import posted
from gateway.guard.regex_search import expression, matches
from gateway.guard.untrusted_destinations import Strangers

# Programs whose names are no words, and words that are programs where a command begins.
_PROGRAM = (
    r"\b(?:curl|wget|wget2|invoke-webrequest|invoke-restmethod|start-bitstransfer|send-mailmessage|ncat|netcat|socat"
    r"|httpie|sendmail|swaks|mailx|mutt|rclone|tftp|sftp|rsync|scp|nslookup|telnet|bitsadmin|certutil|gsutil|s3cmd|aria2c"
    r"|websocat|xdg-open|openssl\s+s_client|aws\s+s3\w*|git\s+(?:push|clone|remote\s+add))(?:\.exe)?[\s\"']"
    r"|(?:^|[|;&(`\"'$]|\b(?:sudo|xargs|do|then|else)\s)\s*(?:-\S+\s+)*"
    r"(?-i:nc|iwr|irm|ftp|ssh|ping|dig|host|mail|lynx|xh|https?)\s+[^\s=:(]|/dev/(?:tcp|udp)/"
)
_CLIENT = (
    r"(?:requests|httpx|axios|https?|urllib3?|request|session|aiohttp|got|ky|superagent|needle|faraday|httparty|unirest"
    r"|restclient|jquery|net::http|lwp|guzzle|mechanize|(?:http)?client|conn(?:ection)?|sock(?:et)?|xhr|xmlhttp|ws|smtp"
    r"|transporter|mailer|urllib\.request|require\([\"'](?:node:)?\w+[\"']\)|\$|\w*(?:client|session|socket|request))"
)
_CALL = (
    r"\b(?:fetch|urlopen|urlretrieve|sendbeacon|xmlhttprequest|websocket|eventsource|importscripts|file_get_contents"
    r"|fsockopen|curl_init|curl_setopt|create_connection|open_connection|gethostbyname|getaddrinfo|httpsconnection"
    r"|httpconnection|urlfetch|wp_remote_\w+|readfile|wp_mail|send_?mail|send_?message|mail|window\.open|axios|httppost"
    r"|httprequest|httpwebrequest|new\s+url|got|superagent|location\.(?:assign|replace)|document\.write(?:ln)?)\s*\("
    rf"|{_CLIENT}(?:\(\))?(?:\.|->|::|\s+)"
    r"(?:get|open|send|sendto|sendall|load|request|put|head|delete|connect|create|do|write)\w*\s*\("
    r"|(?:\.|->|::)(?:post|patch|ajax|getjson|getscript|(?:post|put|send|getstring|postasjson)async|uploadstring"
    r"|downloadstring|bodystring|post_form|navigate|goto|setattribute)\s*\("
)
_ASSIGNMENT = r"(?:\blocation|\.(?:src|srcset|href|action|formaction|data))\s*\+?=[^=>]"
_STYLE = r"\[\s*value\s*[~|^$*]?=[^\]\n]{0,80}\][^{}]{0,80}\{[^}]{0,200}url\("
_SENDER = expression(f"({_PROGRAM})|({_CALL})|({_ASSIGNMENT})|({_STYLE})")
_PROGRAM_NAME = re.compile(
    r"(?:\S*/)?(?:curl|wget2?|ncat|netcat|nc|socat|httpie|https?|xh|sendmail|swaks|mailx?|mutt|rclone|ftp|tftp|sftp|rsync"
    r"|scp|ssh|ping|dig|host|nslookup|telnet|gsutil|s3cmd|aria2c|websocat|iwr|irm)(?:\.exe)?\Z",
    re.IGNORECASE,
)
_MAILS = re.compile(r"mail|mutt|swaks|send_?message|smtp", re.IGNORECASE)

_PAGE = re.compile(
    r"\bdocument\s*\.\s*(?:body|documentelement|cookie|forms|all)\b|inner(?:text|html)|outerhtml|textcontent|getselection",
    re.I,
)
_FIELDS = re.compile(r"\.value\b|formdata|\.serialize\w*\(|\.action\s*=|\[\s*value|getelementby|queryselector", re.I)
_FIELD = re.compile(
    r"<(?:input|button|option|select|meta)\b[^>]{0,600}|<textarea\b[^>]{0,200}>[^<]*|\b(?:id|data-[\w-]+)=[^<]{0,300}",
    re.I,
)

# Where a program of a page begins: in a handler, or as an address.
_HANDLER = re.compile(
    r"<\w[^<]*\bon\w{3,20}\s*=\s*(?:\"[^\"]*|'[^']*|[^\s\"'>]*)\Z|\b(?:javascript|vbscript):[^\n]*\Z"
    r"|data:text/html[^\n]*\Z"
)
_FAR = 2000


def sent(text: str, places: Sequence[int], strangers: Strangers) -> dict[int, bool]:
    """Those of the `places`, sorted, that something in the text would take to a stranger; true where a page does it."""
    senders = list(_senders(text))
    if not senders and "action" not in text.lower():
        return {}
    abroad = strangers.url(text) or strangers.mailbox(text) or strangers.quoted(text)
    if not abroad and not (any(sender.runs for sender in senders) and strangers.bare(text)):
        return {}
    return _Sending(text, places, strangers).all(senders) | dict.fromkeys(posted(text, places, strangers), True)


def is_program(word: str) -> bool:
    """Whether a word is the name of a program that sends, with its folder or without."""
    return _PROGRAM_NAME.match(word) is not None


@dataclass(frozen=True, slots=True)
class _Sender:
    """`text[start:end]` names it: a program that a shell runs, a call, an assignment, or a style."""

    start: int
    end: int
    runs: bool
    calls: bool
    assigns: bool
    mails: bool


def _senders(text: str) -> Iterator[_Sender]:
    for at, (said, program, call, assignment, _) in matches(_SENDER, text):
        name = said or ""
        kinds = (program is not None, call is not None, assignment is not None)
        yield _Sender(at, at + len(name), *kinds, mails=_MAILS.search(name) is not None)


class _Sending:
    """What the senders of a text take along."""

    def __init__(self, text: str, places: Sequence[int], strangers: Strangers) -> None:
        self._text = text
        self._places = places
        self._strangers = strangers
        self._statements = Statements(text, places)
        self._judged: dict[tuple[int, int, bool, bool], bool] = {}

    def all(self, senders: Sequence[_Sender]) -> dict[int, bool]:
        taken: dict[int, bool] = {}
        judged: dict[tuple[bool, bool], int] = {}
        for sender in senders:
            # What stands within another one of its kind was judged with it.
            if sender.end < judged.get((sender.runs, sender.mails), 0):
                continue
            own = self._statements.around(sender.start, sender.end, is_call=sender.calls, is_command=sender.runs)
            judged[sender.runs, sender.mails] = min(own.end, sender.end + _FAR // 2)
            for place in self._taken(sender, own):
                taken[place] = taken.get(place, False) or self._in_page(sender.start)
            if len(taken) == len(self._places) and all(taken.values()):
                break
        return taken

    def _taken(self, sender: _Sender, own: Statement) -> set[int]:
        """The places that go to a stranger with a sender and its statement."""
        # What is assigned to a part of something takes nothing of its other parts along.
        given = self._statements.between(sender.end - 1, own.end) if sender.assigns else own
        reach = [own, *self._statements.behind(own, given.names)]
        if not any(self._is_abroad(each, sender) for each in reach):
            return set()
        taken = {place for each in reach for place in each.places}
        begin = sender.start if sender.assigns else own.start
        said = "\n".join(
            self._text[start:end] for start, end in ((begin, own.end), *((s.start, s.end) for s in reach[1:]))
        )
        if _PAGE.search(said):
            taken.update(self._places)
        elif _FIELDS.search(said):
            taken.update(place for place in self._places if self._is_in_field(place))
        return taken

    def _is_abroad(self, statement: Statement, sender: _Sender) -> bool:
        key = (statement.start, statement.end, sender.runs, sender.mails)
        if key not in self._judged:
            said, strangers = self._text[statement.start : statement.end], self._strangers
            if sender.mails:
                self._judged[key] = strangers.mailbox(said)
            else:
                bare = strangers.bare(said) if sender.runs and "//" not in said else strangers.quoted(said)
                self._judged[key] = bare or strangers.url(said)
        return self._judged[key]

    def _is_in_field(self, place: int) -> bool:
        at = bisect_right(self._fields, (place, len(self._text))) - 1
        return at >= 0 and place < self._fields[at][1]

    def _in_page(self, at: int) -> bool:
        """Whether a page runs what stands there."""
        before = self._text[max(0, at - _FAR) : at].lower()
        opened, closed = (max(before.rfind(sign + name) for name in ("script", "style")) for sign in ("<", "</"))
        return opened > closed or _HANDLER.search(before[-400:]) is not None

    @cached_property
    def _fields(self) -> list[tuple[int, int]]:
        return [match.span() for match in _FIELD.finditer(self._text)]
