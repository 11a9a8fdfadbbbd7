"""Passwords in statements and calls that do not name them: SQL, routers' and daemons' configuration, PowerShell, what
is piped to a command, connections opened with a user and a password, Oracle's `user/password@host`, what is typed where
a password is asked for.
"""

from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._secret_values import is_chosen, is_stand_in, is_strong
from gateway.detection.recognizers.assigned_secret import PASSWORD

_LONGEST = 128
"""Bytes of a password; counted here, as an expression that counts so far takes ten times the memory."""
_QUOTED = r"[\"']([^\"'\r\n]{4,})[\"']"
_SQL = compile_pattern(
    rf"(?i)(?:\bidentified[ \t]+(?:with[ \t]+\S{{1,40}}[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?"
    rf"|\b(?:user|role)[ \t]+\S+(?:[ \t]+\w{{2,24}}){{0,6}}[ \t]+password[ \t]+"
    rf"|\bsp_addlogin[ \t]+N?'[^'\n]*',[ \t]*N?)"
    rf"{_QUOTED}"
)
_SQL_BARE = compile_pattern(
    r"(?i)\b(?:(?:create|alter)[ \t]+user|connect[ \t]+to)[ \t]+\S+[ \t]+"
    r"(?:identified[ \t]+by|user[ \t]+\S+[ \t]+using)[ \t]+([^\s\"';,()]{4,})"
)
_SECURE_STRING = compile_pattern(
    rf"(?i)\bconvertto-securestring[ \t]+(?:-string[ \t]+)?(?:-asplaintext[ \t]+)?{_QUOTED}"
    rf"|\bClientSecretCredential\([^\n()]*,[ \t]*{_QUOTED}"
    rf"|{_QUOTED}[ \t]*\|[ \t]*ConvertTo-SecureString"
)
_CALL = compile_pattern(
    r"\b(?:getConnection|NetworkCredential|PasswordAuthentication|PasswordCredentials?"
    r"|UsernamePasswordCredentials?|BasicAuth|"
    r"BasicAuthHandler|HTTPBasicAuth|basicAuth|withBasicAuth|basic_auth|setBasicAuth|SetBasicAuth"
    r"|PasswordAuthenticationToken|WiFi\.begin|username_pw_set|changeUserPassword|\.auth|ftp_login|ldap_bind"
    r"|(?:Basic)?AWSCredentials|Credentials\.new|login|auth ?= ?)"
    rf"\((?:[^\n()\"']{{0,80}},[ \t]*)?[\"']([^\"'\r\n]{{1,80}})[\"'],[ \t]*{_QUOTED}"
)
_CONNECTED = compile_pattern(
    r"\b(?:mysqli(?:_connect)?|mysql_connect|mysqli_real_connect|getConnection|PDO(?:->__construct)?|DBI->connect"
    r"|imap_open|Net::FTP\.(?:open|new)|FTP(?:_TLS)?)"
    rf"\((?:\$\w+,[ \t]*)?[\"'][^\"'\r\n]+[\"'],\s{{0,20}}[\"'][^\"'\r\n]+[\"'],\s{{0,20}}{_QUOTED}"
)
_ROUTER = compile_pattern(
    r"(?im)^[ \t]*(?:[\w\-.]{1,64}[ \t]){0,5}?(?:"
    r"(?:password|secret|key-string|pre-shared-key|key)[ \t](?:level[ \t]\d{1,2}[ \t])?[05-9][ \t]([^\s\"']{4,})"
    r"|(?:(?:tacacs|radius)(?:-server)?(?:[ \t]host[ \t]\S+)?[ \t]key|isakmp[ \t]key|authentication-key"
    r"|neighbor[ \t]\S+[ \t]password|set[ \t]psksecret|ikev1[ \t]pre-shared-key"
    r"|(?:password|community[ \t](?:read|write)|key|secret)[ \t](?:simple|cipher|irreversible-cipher|plaintext)"
    r"|(?:aaa-server|radius|tacacs)[^\n]*\n(?:[ \t]+[^\n]*\n){0,4}?[ \t]+key)[ \t]([^\s\"']{4,})"
    r"|community[ \t]([^\s\"']{4,})[ \t](?:ro|rw|view|authorization)\b)"
)
_ECHOED = r"\becho[ \t](?:-n?e?[ \t])?[\"']?([^\s\"'|]{4,})[\"']?[ \t]*\|"
# The two of an account of SNMPv3 (RFC 3414).
_SNMP = compile_pattern(
    r"(?i)\b(?:auth[ \t](?:md5|sha[\d\-]*)|priv[ \t](?:3?des|aes)(?:[ \t\-]\d+)?)[ \t]([^\s\"']{4,})"
)
_CHPASSWD = compile_pattern(
    _ECHOED + r"[ \t]*sudo[ \t]+(?:-\w[ \t]+)*-S\b"
    r"|[\"']?\b[a-z_][\w\-]{0,31}:([^\s\"':|]{4,})[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd"
)
# Standard input as the password: `echo … | docker login --password-stdin`
_READER = (
    r"\|(?:[^\n|]*\s--(?:password-stdin|with-token|stdin|passphrase-fd)\b"
    r"|[ \t]*(?:sudo[ \t]+)?(?:kinit|smbpasswd|passwd|cryptsetup)[ \t])"
)
_PIPED = compile_pattern(_ECHOED.removesuffix(r"\|") + _READER)
# Lines of daemons' configuration, each a word and its value.
_DIRECTIVE = compile_pattern(
    r"(?m)^[ \t]*(?:requirepass|masterauth|bindpw|rootbindpw|rootpw(?:[ \t]+--plaintext)?"
    r"|AUTH[ \t]+(?:PLAIN|LOGIN|default)[ \t]|stats[ \t]+auth[ \t]+[\w.\-]+:|cache_peer[ \t][^\n]*\slogin=[\w.\-]+:"
    r"|user[ \t]+\w+[ \t]+on[ \t]+>|register[ \t]*=>[ \t]*[\w.\-]+:|PASSWORD[ \t]\w+[ \t]=)[ \t]*([^\s\"'@]{4,})"
)
_NAMED_ACCOUNT = compile_pattern(
    r"(?im)(?:\brabbitmqctl[ \t]+(?:add_user|change_password)[ \t]+\S+|\bnet[ \t]user[ \t]+[^\s/]\S*"
    r"|\bhttp-basic\.\S+[ \t]+\S+|\bnickserv[ \t]+identify(?:[ \t]+\S+)??|^\w{1,8}[ \t]LOGIN[ \t]\S+"
    r"|\bmc[ \t](?:alias[ \t]set|config[ \t]host[ \t]add)[ \t]\S+[ \t]\S+[ \t]\S+)"
    r"[ \t]+([^\s\"'/\-]\S{3,})"
)
_SIGNED = compile_pattern(
    rf"\b(?:jwt\.(?:sign|verify|encode|decode)\([^\n\"']{{1,80}},|createHmac\([\"'][\w\-]+[\"'],)[ \t]*{_QUOTED}"
)
# What is typed where a password is asked for: browsers' drivers, expect(1), FTP (RFC 959).
_TYPED = compile_pattern(
    r"(?i)(?:pass(?:word|wd)?|pwd)[^\"'\n]{0,12}[\"']\]?[\"']?\)?\)[ \t]*\.(?:send_?keys|type|fill|set_?value)\([ \t]*"
    rf"{_QUOTED}|\.(?:fill|type|set_?value)\([^,\n]*(?:passw|pwd)[^,\n]*,[ \t]*{_QUOTED}"
)
_ANSWERED = compile_pattern(
    r"(?i)\bexpect[ \t][^\n]*assw[^\n]*\n[ \t]*send[ \t](?:--[ \t])?\"([^\s\"\\$]{4,})(?:\\r|\\n)?\""
    r"|(?-i:(?m:^USER)[ \t]\S+\r?\n(?:\d[^\n]*\n)?PASS)[ \t](\S{4,})"
)
_ORACLE = compile_pattern(
    r"(?i)(?:\bjdbc:oracle:\w{2,8}:|\b(?:sqlplus|sqlcl|(?:imp|exp)(?:dp)?|sqlldr|rman)[ \t]+"
    r"(?:-\w[ \t]+|userid=|target[ \t]+)?)([\w.$#]{1,64}/[^\s@/\"'<>]{3,})@"
)


_NET_USE = compile_pattern(
    r"(?i)\bnet use\s(?:(?:\S{1,3}[ \t]+)?(?:\\\\|https?:)\S+[ \t]+([^\s/*]\S{3,})[ \t]+/user:"
    r"|[^\n]*/user:[ ]?\S+[ \t]+([^\s/*\-]\S{3,}))"
    r"|\breg[ \t]+add[ \t][^\n]*/v[ \t]+\"?\w*passw(?:or)?d\"?[ \t]+(?:/t[ \t]+\w+[ \t]+)?/d[ \t]+\"?([^\s\"]{4,})"
)
# ipsec.secrets(5), and elements of XML with attributes.
_TUNNEL = compile_pattern(
    r"(?m)(?:^|\s):[ \t]*(?:PSK|EAP|XAUTH|NTLM|PIN|(?:RSA|ECDSA|P12|PKCS8)[ \t]+\S+)[ \t]+"
    rf"(?:{_QUOTED}|(0[sx][A-Za-z0-9+/=]{{8,}}))"
)
_ELEMENT = compile_pattern(r"(?i)<[\w:.\-]*(?:password|passwd|pass|pwd|passphrase)[ \t][^<>\n]*>\s*([^\s<>]{4,})\s*</")
_VARIABLE = compile_pattern(
    r"(?i)\bvariable\s+\"[\w\-]*(?:passw(?:or)?d|pwd|secret|token|key)\"\s*\{[^{}]{0,200}?\bdefault\s*=\s*"
    r"\"([^\"\r\n]{4,})\""
)


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        expression, group, quoted = _FORMS[hit]
        for match in expression.finditer(normalized.data):
            start, end = next(span for number in range(group, group + 3) if (span := match.span(number)) != (-1, -1))
            if end - start > _LONGEST:
                continue
            value = normalized.text(start, end)
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
    (_SQL_BARE, 1, False),
    (_PIPED, 1, True),
    (_DIRECTIVE, 1, False),
    (_NAMED_ACCOUNT, 1, False),
    (_SIGNED, 1, False),
    (_TYPED, 1, True),
    (_ANSWERED, 1, True),
    (_TUNNEL, 1, True),
    (_ELEMENT, 1, False),
    (_SNMP, 1, False),
)
_word = "Tr0ub4dor" + "&3"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.statement",
        (PASSWORD,),
        (
            r"(?i)\bidentified\s+(?:with|by|as)\b|\b(?:user|role)\s[^\n;]*\spassword\s+[\"']|\bsp_addlogin\s",
            r"(?i)(?:\bconvertto-securestring\s|\bclientsecretcredential\(|\|[ \t]*convertto-securestring)",
            r"(?:getConnection|Credentials?|asicAuth|asic_auth|Authentication(?:Token)?|BasicAuthHandler"
            r"|Credentials\.new|\blogin|\bauth ?= ?|WiFi\.begin|username_pw_set"
            r"|changeUserPassword|\.auth|\bftp_login|\bldap_bind)\([^\n()]*,",
            r"(?i)(?:password|secret|key-string|shared-key|\bkey)[ \t](?:level[ \t]\d+[ \t])?[05-9][ \t]"
            r"|\bcommunity[ \t]\S+[ \t](?:r[ow]|authorization)\b"
            r"|(?:tacacs|radius)\S*[ \t](?:host[ \t]\S+[ \t])?key[ \t]"
            r"|(?:isakmp[ \t]key|authentication-key|neighbor[ \t]\S+[ \t]password|set[ \t]psksecret"
            r"|ikev1[ \t]pre-shared-key|(?:password|read|write|key|secret)[ \t](?:simple|cipher|irreversible-cipher"
            r"|plaintext))[ \t]|\n[ \t]+key[ \t][^\s]",
            r"\|\s*(?:sudo\s+)?(?:chpasswd|sudo\s[^\n]*-S\b)",
            r"(?i)\bnet use\s[^\n]*/user:|\breg[ \t]+add[ \t][^\n]*passw",
            r"(?:mysqli|mysql|getConnection|\bPDO(?:->__)?|DBI->connect|imap_open|Net::FTP\.|\bFTP)\w*\(",
            r"(?i)\bvariable\s+\"[\w\-]*(?:passw|pwd|secret|token|key)",
            r"(?i)\bjdbc:oracle:\w+:[\w.$#]+/|\b(?:sqlplus|sqlcl|impd?p?|expd?p?|sqlldr|rman)[ \t]+[^\n]*/[^\n]*@",
            r"(?i)\b(?:user|connect[ \t]+to)[ \t]+\S+[ \t]+(?:identified[ \t]+by|user[ \t]+\S+[ \t]+using)"
            r"[ \t]+[^\s\"']",
            _READER,
            r"(?m)^[ \t]*(?:requirepass|masterauth|(?:root)?bindpw|rootpw|stats[ \t]+auth|AUTH|cache_peer"
            r"|user[ \t]+\w+[ \t]+on|register[ \t]*=>|PASSWORD[ \t]\w+[ \t]=)[ \t]",
            r"(?im)\brabbitmqctl\s|\bnet[ \t]user\s|\bhttp-basic\.|\bnickserv[ \t]+identify\s|(?-i:[ \t]LOGIN[ \t])"
            r"|\bmc[ \t](?:alias|config)[ \t]",
            r"\b(?:jwt\.(?:sign|verify|encode|decode)|createHmac)\(",
            r"(?i)pass(?:word|wd)?[^\"'\n]*[\"']\]?[\"']?\)?\)[ \t]*\.(?:send_?keys|type|fill|set_?value)\("
            r"|(?:passw(?:or)?d|pwd)\w*[\"'`]?\]?[\"'`],[ \t]*[\"'`]",
            r"(?i)\bexpect[ \t][^\n]*assw|(?-i:\nPASS[ \t])",
            r"(?:^|\s):[ \t]*(?:PSK|EAP|XAUTH|NTLM|PIN|(?:RSA|ECDSA|P12|PKCS8)[ \t]+\S+)[ \t]+(?:[\"']|0[sx])",
            r"(?i)<[\w:.\-]*(?:password|passwd|pass|pwd|passphrase)[ \t]+[\w:]+=",
            r"(?i)\b(?:auth[ \t](?:md5|sha)|priv[ \t](?:3?des|aes))",
        ),
        _find,
        examples=(
            Example(f"CREATE USER jane IDENTIFIED BY '{_word}';", _word),
            Example(f'ConvertTo-SecureString "{_word}" -AsPlainText -Force', _word),
            Example(f'DriverManager.getConnection(url, "sa", "{_word}");', _word),
            Example("username jane password 7 " + "0822455D0A16", "0822455D0A16"),
            Example("snmp-server community " + "Wat3rfall RO", "Wat3rfall"),
            Example(f"echo 'root:{_word}' | chpasswd", _word),
            Example(f"ALTER ROLE jane LOGIN PASSWORD '{_word}';", _word),
            Example("ALTER USER jane IDENTIFIED BY Wat3rfall ACCOUNT UNLOCK", "Wat3rfall"),
            Example(f"echo {_word} | docker login -u jane --password-stdin r.io", _word),
            Example("requirepass " + "Wat3rfall", "Wat3rfall"),
            Example("rabbitmqctl add_user jane " + "Wat3rfall", "Wat3rfall"),
            Example(f"cy.get('#password').type('{_word}')", _word),
            Example("USER jane\r\n331 Password required\r\nPASS " + "Wat3rfall", "Wat3rfall"),
            Example("jdbc:oracle:thin:scott/" + "Wat3rfall@db:1521:x", "scott/" + "Wat3rfall"),
        ),
        counter_examples=(
            "CREATE USER x IDENTIFIED BY 'password';",
            "ConvertTo-SecureString $env:PASS -AsPlainText",
            'getConnection(url, "user", "password")',
            "snmp-server community public RO",
            "login(request, user)",
            "sqlplus /nolog",
            "CREATE USER jane IDENTIFIED BY VALUES;",
            "The samples were identified by LC-MS/MS2.",
            "cy.get('#password').type(Cypress.env('PASSWORD'))",
            "PASS test_login_v2",
            "cat token1.txt | docker login --password-stdin",
        ),
    ),
)
