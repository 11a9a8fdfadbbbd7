"""Passwords on command lines: `curl -u user:password`, `--token value`, `mysql -pvalue`, `sshpass -p value`."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Expression, Re2Match
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers._secret_names import Kind, kind_of
from gateway.detection.recognizers._secret_values import is_chosen, is_made, is_phrase, is_stand_in, is_strong
from gateway.detection.recognizers.assigned_secret import PASSWORD, SECRET

_TOOLS = r"curl|wget|http|https|xh|httpie"
_PAIR = r"(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s\"':]+:[^\s\"']{4,}))(?::\"([^\"\n]+)\")?"
_USER = compile_pattern(rf"(?:\s-u|--(?:proxy-)?user|-[a-zA-Z]{{1,4}}u|\b(?:https?|xh) -a)(?:[ \t]{{1,4}}|=){_PAIR}")
_LOGIN_TOOL = compile_pattern(rf"(?i)\b(?:{_TOOLS})\b")
_FLAG_PREFIX = r"(?:(?:^|\s)--?|\b(?:ENV|ARG|setenv|set[ \t]-[a-z]{1,3})[ \t]{1,4})"
_SET = r"\b(?:config|configure|env|secrets?)[ \t:]+(?:set|put|add)"
_FLAG_START = rf"(?:{_FLAG_PREFIX}|{_SET}[ \t]+(?:--?[\w\-]+[ \t]+)*)"
_FLAG = compile_pattern(
    rf"(?i){_FLAG_START}([\w.:/\-]*(?:pass|pwd|token|secret|key|credential)[\w\-]*)"
    r"[ \t]{1,4}(?:\"([^\"\n]{4,})\"|'([^'\n]{4,})'|([^\s\"'\-][^\s\"']{3,}))"
)
# `--name db-password --value …`
_NAMED_VALUE = compile_pattern(
    r"(?i)\s--(?:name|key|secret(?:-name|-id)?)[ =][\"']?\S*(?:passw|pwd|secret|token|key)\S*"
    r"(?:[ \t]+--?[\w\-]+(?:[ =][^\s\-]\S*)?){0,3}?[ \t]+--(?:value|body|secret-string)[ =]"
    r"(?:\"([^\"\n]{4,})\"|'([^'\n]{4,})'|([^\s\"'\-][^\s\"']{3,}))"
)
_PORTS = compile_pattern(r"^[\d.:\-]+(?:/(?:tcp|udp))?$")
_VALUE = r"(?:\"([^\"\n]{3,})\"|'([^'\n]{3,})'|([^\s\"'\-/][^\s\"'/]{2,}))"
# Programs, and the option after which they expect a password.
_PROGRAMS = (
    (r"mysql(?:dump|admin|import|show)?|mariadb(?:-dump|-admin)?", r"\s-p"),
    # Elsewhere `-p` is a port, a project or a parameter to them.
    (r"docker|podman|nerdctl|buildah|helm|oras|oc", r"\blogin\s(?s:.*?\s)??-p[ ]"),
    (
        r"az|mongo|mongosh|mongodump|mongorestore|cqlsh|psexec|mosquitto_[ps]ub"
        r"|ncftp(?:put|get)|ipmitool|evil-winrm|netexec|rdesktop",
        r"\s-[pP][ ]",
    ),
    (r"sqlcmd|mssql-cli|bcp|tsql", r"\s-P[ ]?"),
    (r"sshpass", r"\s-p[ ]?"),
    (r"ssh-keygen", r"\s-[NP][ ]"),
    (r"redis-cli", r"\s(?:-a|--pass)[ ]"),
    (r"ldap(?:search|modify|add|delete|whoami|passwd)|kadmin", r"\s-w[ ]"),
    (r"openssl", r"\s-k[ ]|\spasswd\s+(?:-[a-z\d]+\s+){1,3}"),
    (r"zip|unzip", r"\s-P[ ]?"),
    (r"7z[ar]?|rar|unrar", r"\s-h?p"),
    (r"[xw]freerdp3?", r"\s/p:"),
    (r"schtasks", r"\s/rp[ ]"),
    (r"winrs", r"\s-p(?:assword)?:"),
    (r"htpasswd", r"\s-[a-zA-Z]*b[a-zA-Z]*[ ]+\S+[ ]+\S+[ ]"),
    (r"snmp[a-z]+", r"\s-[AX][ ]"),
    (r"lftp", r"\s-u[ ]?[^\s,\"']+,"),
    (r"smbclient|rpcclient|net[ ](?:ads|rpc|rap|join)", r"\s-U[ ]?[\"']?[^\s%\"']+%"),
)
_PROGRAM = rf"\b(?:{'|'.join(names for names, _ in _PROGRAMS)})"
_NAMED_PROGRAM = compile_pattern(rf"{_PROGRAM}\s")
_OPTIONS = tuple((compile_pattern(names), compile_pattern(f"(?:{option}){_VALUE}")) for names, option in _PROGRAMS)
# A command ends with its line, unless that goes on, and where another one begins.
_END = re.compile(rb"(?<![\\^`])\r?\n|[;|]|&&")
_REACH = 400
"""Bytes after a program's name in which its option begins."""
_LONGEST, _LONGEST_PAIR = 160, 512
_PASS_WORD = compile_pattern(rf"\s-pass(?:in|out)? pass:{_VALUE}")
# Whatever the program: the account, and the password right after it.
_ACCOUNT = r"\s(?:-[uU]|--?user(?:name)?)[ =]\S+\s+-[pP][ ]"
_AFTER_ACCOUNT = compile_pattern(_ACCOUNT + _VALUE)
# What `-pthread` is to compilers.
_NO_PASSWORD = re.compile(r"threads?\d*")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        yield from _FINDERS[hit](normalized)


def _users(normalized: NormalizedText) -> Iterator[Match]:
    """The whole pair: with the name, half of what opens the door would be told."""
    for match in _USER.finditer(normalized.data):
        group = next(number for number in (1, 2, 3) if match.span(number) != (-1, -1))
        start, end = match.span(group)
        if match.span(4) != (-1, -1):
            end = match.end(4)
        if end - start > _LONGEST_PAIR:
            continue
        user, colon, password = normalized.text(start, end).partition(":")
        password, user = password.strip("\"'"), user.strip("\"'")
        if not colon or not _is_pair(user, password):
            continue
        if (
            match[0].lstrip()[:2] == b"-u"
            and not _LOGIN_TOOL.search(normalized.data, max(0, start - 600), start)
            and not is_strong(password)
        ):
            continue
        yield Match(start, end, 0.9, PASSWORD.name)


def _is_pair(user: str, password: str) -> bool:
    if not password:
        return is_strong(user)
    if is_stand_in(password) or (is_stand_in(user) and not is_strong(password.strip("{}"))):
        return False
    return len(password) >= 4 and not password.startswith("//") and (password != user)


def _flags(normalized: NormalizedText) -> Iterator[Match]:
    for match in _FLAG.finditer(normalized.data):
        group = next(number for number in (2, 3, 4) if match.span(number) != (-1, -1))
        start, end = match.span(group)
        kind = kind_of(match[1].decode())
        value = normalized.text(start, end)
        if kind is Kind.PASSWORD and (is_strong(value) or _is_mixed(value) or (group < 4 and is_phrase(value))):
            yield Match(start, end, 0.8, PASSWORD.name)
        elif kind is not None and is_made(value):
            yield Match(start, end, 0.85, SECRET.name)


def _named_values(normalized: NormalizedText) -> Iterator[Match]:
    for match in _NAMED_VALUE.finditer(normalized.data):
        start, end = next(match.span(number) for number in (1, 2, 3) if match.span(number) != (-1, -1))
        value = normalized.text(start, end)
        if end - start <= _LONGEST and (is_strong(value) or is_made(value)):
            yield Match(start, end, 0.8, PASSWORD.name)


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and is_chosen(value, quoted=False)


def _shorts(normalized: NormalizedText) -> Iterator[Match]:
    data = normalized.data
    searched: dict[str, int] = {}
    for program in _NAMED_PROGRAM.finditer(data):
        option = _option(program[0][:-1])
        last = min(len(data), program.end() + _REACH)
        stop = _END.search(data, program.end() - 1, last)
        last = last if stop is None else stop.start()
        # Of a program that is named again and again, each stretch is searched once.
        first = max(program.end() - 1, searched.get(option.pattern, 0))
        while first < last and (match := option.search(data, first, min(len(data), last + _LONGEST))) is not None:
            if match.start() >= last:
                break
            yield from _short(normalized, match)
            first = match.end()
        searched[option.pattern] = max(first, last)
    for match in _PASS_WORD.finditer(data):
        yield from _short(normalized, match)
    for match in _AFTER_ACCOUNT.finditer(data):
        yield from (found for found in _short(normalized, match) if is_strong(normalized.text(found.start, found.end)))


@lru_cache(maxsize=256)
def _option(program: bytes) -> Expression:
    return next(option for names, option in _OPTIONS if names.fullmatch(program))


def _short(normalized: NormalizedText, match: Re2Match) -> Iterator[Match]:
    start, end = next(match.span(number) for number in (1, 2, 3) if match.span(number) != (-1, -1))
    value = normalized.text(start, end)
    if (
        end - start <= _LONGEST
        and not is_stand_in(value)
        and not value.isalpha()
        and not _PORTS.match(normalized.data[start:end])
        and not _NO_PASSWORD.fullmatch(value)
    ):
        yield Match(start, end, 0.8, PASSWORD.name)


_FINDERS = (_users, _flags, _shorts, _named_values)
_word = "Tr0ub4dor" + "&3"
_random = sample(32, BASE62)

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.command_line",
        (PASSWORD, SECRET),
        (
            r"(?:\s-u|--user|--proxy-user|\s-[a-zA-Z]+u|\b(?:https?|xh) -a)(?:[ \t]+|=)(?:[\"']|[^\s:]*:)",
            rf"(?i)(?:{_FLAG_PREFIX}[\w.\-]*(?:pass|pwd|token|secret|key|credential)[\w\-]*[ \t]+[^\s\-]|{_SET}[ \t])",
            rf"{_PROGRAM}\b(?:[^\n]|[\\^`]\r?\n)*(?:\s-[pPawkNAXUu]|-[a-zA-Z]*b|/r?p|-hp|\spasswd)"
            rf"|pass(?:in|out)? pass:|{_ACCOUNT}",
            r"\s--(?:value|body|secret-string)[ =]",
        ),
        _find,
        examples=(
            Example(f"curl -u jane:{_word} https://a.io", f"jane:{_word}"),
            Example(f"curl -sS --user 'jane:{_word}' https://a.io", f"jane:{_word}"),
            Example(f"deploy --password {_word} --yes", _word),
            Example(f'login --api-key "{_random}"', _random, "SECRET"),
            Example(f"mysql -h db -u root -p{_word} shop", _word),
            Example(f"unzip -P {_word} a.zip", _word),
            Example(f"sshpass -p '{_word}' ssh root@db", _word),
        ),
        counter_examples=(
            "curl -u $USER:$PASS https://a.io",
            "curl -u user:password https://a.io",
            "docker run -u 1000:1000 image",
            "deploy --password-stdin < file",
            "login --token TOKEN",
            "mkdir -p /var/lib/mysql",
            "mysql -p shop",
            "unzip -p archive1.zip | tar x",
            "docker run -p 8080:80 nginx",
        ),
    ),
)
