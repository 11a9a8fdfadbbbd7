"""Passwords on command lines: `curl -u user:password`, `--token value`, `mysql -pvalue`, `sshpass -p value`."""

from collections.abc import Iterator

from gateway.detection.normalized_text import View
from gateway.detection.recognizer import Example, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import VALUE, Rule, named, rule, span_of, table

_USER = compile_pattern(
    r"(?:\s-u|--(?:proxy-)?user|-[a-zA-Z]{1,4}u|\b(?:https?|xh) -a)(?:[ \t]{1,4}|=)"
    r"(?:\"([^\"\n]*\":\"[^\"\n]+)\"|\"([^\"\n]*)\"|'([^'\n]*)'|([^\s\"':]+:[^\s\"']{4,}))"
)
_LOGIN_TOOL = compile_pattern(r"(?i)\b(?:curl|wget|https?|xh|httpie)\b")
_LONGEST_PAIR, _NEAR = 512, 600
_SET = r"\b(?:config|configure|env|secrets?)[ \t:]+(?:set|put|add)"
_FLAG = rf"(?:(?:(?:^|\s)--?|\b(?:ENV|ARG|setenv|set[ \t]-[a-z]+)[ \t]+)|{_SET}[ \t]+(?:--?[\w\-]+[ \t]+)*)"
_NAME = r"[\w.:/\-]*(?:pass|pwd|token|secret|key|credential)[\w\-]*"
# Programs, and the option after which they expect a password.
_PROGRAMS = (
    (r"mysql(?:dump|admin|import|show)?|mariadb(?:-dump|-admin)?", r"\s-p"),
    # Elsewhere `-p` is a port, a project or a parameter to them.
    (r"docker|podman|nerdctl|buildah|helm|oras|oc", r"\slogin\s(?s:.*?\s)??-p[ ]"),
    (
        r"az|mongo|mongosh|mongodump|mongorestore|cqlsh|psexec|mosquitto_[ps]ub"
        r"|ncftp(?:put|get)|ipmitool|evil-winrm|netexec|rdesktop",
        r"\s-[pP][ ]",
    ),
    (r"sqlcmd|mssql-cli|bcp|tsql|zip|unzip", r"\s-P[ ]?"),
    (r"sshpass", r"\s-p[ ]?"),
    (r"ssh-keygen", r"\s-P[ ]"),
    (r"redis-cli", r"\s(?:-a|--pass)[ ]"),
    (r"ldap(?:search|modify|add|delete|whoami|passwd)|kadmin", r"\s-w[ ]"),
    (r"openssl", r"\s(?:-k[ ]|-pass(?:in|out)? pass:|passwd\s+(?:-[a-z\d]+\s+){1,3})"),
    (r"7z[ar]?|rar|unrar", r"\s-h?p"),
    (r"[xw]freerdp3?", r"\s/p:"),
    (r"schtasks", r"\s/rp[ ]"),
    (r"winrs", r"\s-p(?:assword)?:"),
    (r"htpasswd", r"\s-[a-zA-Z]*b[a-zA-Z]*[ ]+\S+[ ]+\S+[ ]"),
    (r"snmp[a-z]+", r"\s-A[ ]"),
    (r"lftp", r"\s-u[ ]?[^\s,\"']+,"),
    (r"smbclient|rpcclient|net[ ](?:ads|rpc|rap|join)", r"\s-U[ ]?[\"']?[^\s%\"']+%"),
)
# A command ends with its line, unless that goes on, and where another one begins.
_WORDS = r"(?:[^\n;|&]|&[^&\n]|[\\^`]\r?\n)*?"
_SHORT = "|".join(rf"\b(?:{names}){_WORDS}{option}" for names, option in _PROGRAMS)
_SHORT_GATE = (
    rf"\b(?:{'|'.join(names for names, _ in _PROGRAMS)})\b(?:[^\n]|[\\^`]\r?\n)*"
    r"(?:\s-[pPawkNAXUu]|-[a-zA-Z]*b|/r?p|-hp|\spass)"
)
_SHORT_VALUE = r"(?:\"([^\"\n]{3,})\"|'([^'\n]{3,})'|([^\s\"'\-/][^\s\"'/]{2,}))"


def _users(view: View) -> Iterator[Match]:
    """The whole pair: with the name, half of what opens the door would be told."""
    for match in _USER.finditer(view.data):
        start, end = span_of(match)
        user, colon, password = (part.strip("\"'") for part in view.text(start, end).partition(":"))
        if not colon or end - start > _LONGEST_PAIR or not _is_pair(user, password):
            continue
        sure = match[0].lstrip()[:2] != b"-u" or _LOGIN_TOOL.search(view.data, max(0, start - _NEAR), start)
        if sure or values.is_strong(password):
            yield Match(start, end, 0.9, values.PASSWORD.name)


def _is_pair(user: str, password: str) -> bool:
    if not password:
        return values.is_strong(user)
    if values.is_stand_in(password) or (values.is_stand_in(user) and not values.is_strong(password.strip("{}"))):
        return False
    return len(password) >= 4 and not password.startswith("//") and (password != user)


_word = "Tr0ub4dor" + "&3"
_random = sample(32, BASE62)

_RULES = (
    Rule(r"(?:\s-u|--user|--proxy-user|\s-[a-zA-Z]+u|\b(?:https?|xh) -a)(?:[ \t]+|=)(?:[\"']|[^\s:]*:)", _users),
    named(rf"(?i){_FLAG}({_NAME}) {VALUE}", gate=rf"(?i){_FLAG}{_NAME} [^\s\-]"),
    rule(_SHORT, _SHORT_VALUE, values.no_word, gate=_SHORT_GATE),
    rule(rf"\b(?:snmp[a-z]+{_WORDS}\s-X|ssh-keygen{_WORDS}\s-N) ", _SHORT_VALUE, values.no_word),
    # Whatever the program: the account, and the password right after it
    rule(r"\s(?:-[uU]|--?user(?:name)?)[ =]\S+\s+-[pP] ", VALUE, values.strong),
    # `--name db-password --value …`
    rule(
        r"(?i)\s--(?:name|key|secret(?:-name|-id)?)[ =][\"']?\S*(?:passw|pwd|secret|token|key)\S*"
        r"(?: --?[\w\-]+(?:[ =][^\s\-]\S*)?){0,3}? --(?:value|body|secret-string)[ =]",
        VALUE,
        values.strong,
        gate=r"\s--(?:value|body|secret-string)[ =]",
    ),
)

RECOGNIZERS = (
    table(
        "command_line",
        _RULES,
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
