"""Passwords in statements and calls that do not name them: SQL, routers' configuration, PowerShell, `chpasswd`,
connections opened with a user and a password, Oracle's `user/password@host`.
"""

from collections.abc import Iterator, Sequence

from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._secret_values import is_chosen, is_stand_in, is_strong
from gateway.detection.recognizers.assigned_secret import PASSWORD
from gateway.detection.view import View

_QUOTED = r"[\"']([^\"'\r\n]{4,128})[\"']"
_SQL = compile_pattern(
    rf"(?i)\bidentified[ \t]+(?:with[ \t]+\S{{1,40}}[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?{_QUOTED}"
)
_SECURE_STRING = compile_pattern(
    rf"(?i)\bconvertto-securestring[ \t]+(?:-string[ \t]+)?(?:-asplaintext[ \t]+)?{_QUOTED}"
)
_CALL = compile_pattern(
    r"\b(?:getConnection|NetworkCredential|PasswordAuthentication|PasswordCredentials?"
    r"|UsernamePasswordCredentials?|BasicAuth|"
    r"BasicAuthHandler|HTTPBasicAuth|basicAuth|withBasicAuth|basic_auth|setBasicAuth|SetBasicAuth"
    r"|PasswordAuthenticationToken|login)"
    rf"\((?:[^\n()\"']{{0,80}},[ \t]*)?[\"']([^\"'\r\n]{{1,80}})[\"'],[ \t]*{_QUOTED}"
)
_CONNECTED = compile_pattern(
    rf"\b(?:mysqli(?:_connect)?|mysql_connect|mysqli_real_connect|getConnection|PDO)"
    rf"\((?:\$\w+,[ \t]*)?[\"'][^\"'\r\n]{{1,200}}[\"'],\s{{0,20}}[\"'][^\"'\r\n]{{1,80}}[\"'],\s{{0,20}}{_QUOTED}"
)
_ROUTER = compile_pattern(
    r"(?im)^[ \t]*(?:[\w\-.]{1,64}[ \t]){0,5}?(?:"
    r"(?:password|secret|key-string|pre-shared-key|key)[ \t](?:level[ \t]\d{1,2}[ \t])?[05-9][ \t]([^\s\"']{4,128})"
    r"|community[ \t]([^\s\"']{4,64})[ \t](?:ro|rw|view)\b)"
)
_CHPASSWD = compile_pattern(
    r"\becho[ \t](?:-n[ \t])?[\"']?([^\s\"'|]{4,128})[\"']?[ \t]*\|[ \t]*sudo[ \t]+(?:-\w[ \t]+)*-S\b"
    r"|[\"']?\b[a-z_][\w\-]{0,31}:([^\s\"':|]{4,128})[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd"
)
_ORACLE = compile_pattern(
    r"(?i)(?:\bjdbc:oracle:\w{2,8}:|\bsqlplus[ \t]+(?:-\w[ \t]+)?)([\w.$#]{1,64}/[^\s@/\"'<>]{3,128})@"
)


_NET_USE = compile_pattern(r"(?i)\bnet use\s(?:\S{1,3}[ \t]+)?\\\\\S+[ \t]+([^\s/*]\S{3,128})[ \t]+/user:")
_VARIABLE = compile_pattern(
    r"(?i)\bvariable\s+\"[\w\-]*(?:passw(?:or)?d|pwd|secret|token|key)\"\s*\{[^{}]{0,200}?\bdefault\s*=\s*"
    r"\"([^\"\r\n]{4,128})\""
)


def _find(view: View, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        expression, group, quoted = _FORMS[hit]
        for match in expression.finditer(view.data):
            number = group if match.span(group) != (-1, -1) else group + 1
            start, end = match.span(number)
            value = view.text(start, end)
            if expression is _ORACLE:
                value = value.partition("/")[2]
            if is_chosen(value, quoted=quoted) or (
                expression is _ROUTER and not is_stand_in(value) and is_strong(value)
            ):
                yield Match(start, end, 0.85, PASSWORD.name)


_FORMS = (
    (_SQL, 1, True),
    (_SECURE_STRING, 1, True),
    (_CALL, 2, True),
    (_ROUTER, 1, True),
    (_CHPASSWD, 1, True),
    (_NET_USE, 1, True),
    (_CONNECTED, 1, True),
    (_VARIABLE, 1, True),
    (_ORACLE, 1, True),
)
_word = "Tr0ub4dor" + "&3"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.statement",
        (PASSWORD,),
        (
            r"(?i)\bidentified\s+(?:with|by|as)\b",
            r"(?i)\bconvertto-securestring\s",
            r"(?:getConnection|Credentials?|asicAuth|asic_auth|Authentication(?:Token)?|BasicAuthHandler"
            r"|\blogin)\([^\n()]*,",
            r"(?i)(?:password|secret|key-string|shared-key|\bkey)[ \t](?:level[ \t]\d+[ \t])?[05-9][ \t]"
            r"|\bcommunity[ \t]\S+[ \t]r[ow]\b",
            r"\|\s*(?:sudo\s+)?(?:chpasswd|sudo\s[^\n]*-S\b)",
            r"(?i)\bnet use\s[^\n]*/user:",
            r"(?:mysqli|mysql|getConnection|\bPDO)\w*\(",
            r"(?i)\bvariable\s+\"[\w\-]*(?:passw|pwd|secret|token|key)",
            r"(?i)\bjdbc:oracle:\w+:[\w.$#]+/|\bsqlplus\s",
        ),
        _find,
        examples=(
            Example(f"CREATE USER jane IDENTIFIED BY '{_word}';", _word),
            Example(f'ConvertTo-SecureString "{_word}" -AsPlainText -Force', _word),
            Example(f'DriverManager.getConnection(url, "sa", "{_word}");', _word),
            Example("username jane password 7 " + "0822455D0A16", "0822455D0A16"),
            Example("snmp-server community " + "Wat3rfall RO", "Wat3rfall"),
            Example(f"echo 'root:{_word}' | chpasswd", _word),
            Example("jdbc:oracle:thin:scott/" + "Wat3rfall@db:1521:x", "scott/" + "Wat3rfall"),
        ),
        counter_examples=(
            "CREATE USER x IDENTIFIED BY 'password';",
            "ConvertTo-SecureString $env:PASS -AsPlainText",
            'getConnection(url, "user", "password")',
            "snmp-server community public RO",
            "login(request, user)",
            "sqlplus /nolog",
        ),
    ),
)
