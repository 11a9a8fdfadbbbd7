"""Passwords in statements and calls that do not name them: SQL, routers' and daemons' configuration, PowerShell, what
is piped to a command, connections opened with a user and a password, what is typed where a password is asked for.
"""

from gateway.detection.recognizer import Example
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import BARE, QUOTED, rule, table

_NAME = r"(?:pass(?:word|wd|phrase)?|pwd)"
_word = "Tr0ub4dor" + "&3"
_plain = "Wat3rfall"

_RULES = (
    # SQL
    rule(
        r"(?i)\bidentified (?:with \S+ )?(?:by|as) (?:password )?"
        r"|\b(?:user|role) \S+(?: \w+){0,6} password |\bsp_addlogin N?'[^'\n]*', *N?",
        QUOTED,
    ),
    rule(r"(?i)\b(?:(?:create|alter) user|connect to) \S+ (?:identified by|user \S+ using) ", r"([^\s\"';,()]{4,})"),
    # PowerShell
    rule(r"(?i)\bconvertto-securestring (?:-string )?(?:-asplaintext )?|\bClientSecretCredential\([^\n()]*, *", QUOTED),
    rule("", QUOTED + r" *\| *ConvertTo-SecureString", gate=r"\| *ConvertTo-SecureString"),
    # Calls with a user and a password
    rule(
        r"(?:getConnection|Credentials?(?:\.new)?|[bB]asic_?[aA]uth(?:Handler)?|Authentication(?:Token)?|\blogin"
        r"|\bauth ?= ?|WiFi\.begin|username_pw_set|changeUserPassword|\.auth|\bftp_login|\bldap_bind)"
        r"\((?:[^\n()\"']*, *)?[\"'][^\"'\r\n]+[\"'], *",
        QUOTED,
    ),
    rule(
        r"\b(?:mysqli?(?:_real)?(?:_connect)?|getConnection|PDO(?:->__construct)?|DBI->connect|imap_open"
        r"|Net::FTP\.(?:open|new)|FTP(?:_TLS)?)\((?:\$\w+, *)?[\"'][^\"'\r\n]+[\"'],\s*[\"'][^\"'\r\n]+[\"'],\s*",
        QUOTED,
    ),
    rule(r"\b(?:jwt\.(?:sign|verify|encode|decode)\([^\n\"']+,|createHmac\([\"'][\w\-]+[\"'],) *", QUOTED),
    # Browsers' drivers, expect(1), FTP (RFC 959)
    rule(
        rf"(?i){_NAME}[^\"'\n]*[\"']\]?[\"']?\)?\) *\.(?:send_?keys|type|fill|set_?value)\( *"
        r"|\.(?:fill|type|set_?value)\([^,\n]*(?:passw|pwd)[^,\n]*, *",
        QUOTED,
    ),
    rule(
        r"(?i)\bexpect [^\n]*assw[^\n]*\n *send (?:-- )?",
        r"\"([^\s\"\\$]{4,})(?:\\r|\\n)?\"",
        gate=r"(?i)\n *send (?:-- )?\"",
    ),
    rule(r"(?m:^USER) \S+\r?\n(?:\d[^\n]*\n)?PASS ", r"(\S{4,})"),
    # Routers and switches; SNMP: communities, and the two of an account of version 3 (RFC 3414)
    rule(
        r"(?i)(?:(?:\bpassword|\bsecret|\bkey-string|\bpre-shared-key|\bkey) (?:level \d+ )?[05-9]"
        r"|\b(?:tacacs|radius)(?:-server)?(?: host \S+)? key|\bisakmp key|\bauthentication-key"
        r"|\bneighbor \S+ password|\bset psksecret|\bikev1 pre-shared-key"
        r"|\b(?:password|community (?:read|write)|key|secret) (?:simple|(?:irreversible-)?cipher|plaintext)"
        r"|(?:aaa-server|radius|tacacs)[^\n]*\n(?: [^\n]*\n){0,4}? key) ",
        judge=values.mixed,
        gate=r"(?i)\b(?:password|secret|key-string|pre-shared-key|key) (?:level \d+ )?[05-9] |\b(?:tacacs|radius)\S* "
        r"(?:host \S+ )?key |\n key [^\s]|\b(?:isakmp key|authentication-key|neighbor \S+ password|set psksecret"
        r"|ikev1 pre-shared-key|(?:password|read|write|key|secret) (?:simple|(?:irreversible-)?cipher|plaintext)) ",
    ),
    rule(r"(?i)\bcommunity ", BARE + r" (?i:ro|rw|view|authorization)\b", values.believed),
    rule(r"(?i)\b(?:auth (?:md5|sha[\d\-]*)|priv (?:3?des|aes)(?:[ \t\-]\d+)?) "),
    # Lines of daemons' configuration, each a word and its value; ipsec.secrets(5)
    rule(
        r"(?m)^ *(?:requirepass|masterauth|bindpw|rootbindpw|rootpw(?: --plaintext)?"
        r"|AUTH (?:PLAIN|LOGIN|default) |stats auth [\w.\-]+:|user \w+ on >"
        r"|cache_peer [^\n]*\slogin=[\w.\-]+:|register *=> *[\w.\-]+:|PASSWORD \w+ =) *",
        r"([^\s\"'@]{4,})",
    ),
    rule(
        r"(?:^|\s): *(?:PSK|EAP|XAUTH|NTLM|PIN|(?:RSA|ECDSA|P12|PKCS8) \S+) ",
        rf"(?:{QUOTED}|(0[sx][A-Za-z0-9+/=]{{8,}}))",
        values.believed,
    ),
    # Standard input as the password: `echo … | docker login --password-stdin`
    rule(
        r"\becho (?:-n?e? )?[\"']?(?:[a-z_][\w\-]*:)?",
        r"([^\s\"'|:]{4,})[\"']? *\|(?:[^\n|]*\s--(?:password-stdin|with-token|stdin|passphrase-fd)\b"
        r"| *sudo (?:-\w )*-S\b| *(?:sudo )?(?:chpasswd|kinit|smbpasswd|passwd|cryptsetup)\b)",
        values.believed,
        gate=r"\|(?:[^\n|]*\s--(?:password-stdin|with-token|stdin|passphrase-fd)\b| *sudo "
        r"| *(?:chpasswd|kinit|smbpasswd|passwd|cryptsetup)\b)",
    ),
    # Accounts that are made or used by name
    rule(
        r"(?i)(?:\brabbitmqctl (?:add_user|change_password) \S+|\bnet user [^\s/]\S*"
        r"|\bhttp-basic\.\S+ \S+|\bnickserv identify(?: \S+)??|(?m:^)\w{1,8} (?-i:LOGIN) \S+"
        r"|\bmc (?:alias set|config host add) \S+ \S+ \S+) ",
        r"([^\s\"'/\-]\S{3,})",
    ),
    rule(
        r"(?i)\b(?:net use\s[^\n]*/user: ?\S+|reg add [^\n]*/v \"?\w*passw(?:or)?d\"?(?: /t \w+)? /d) ",
        r"\"?([^\s\"/*\-][^\s\"]{3,})",
        values.believed,
    ),
    rule(r"(?i)\bnet use\s(?:\S+ )?(?:\\\\|https?:)\S+ ", r"([^\s/*]\S{3,}) /user:", values.believed),
    rule(
        r"(?i)\bjdbc:oracle:\w+:|\b(?:sqlplus|sqlcl|(?:imp|exp)(?:dp)?|sqlldr|rman) (?:-\w |userid=|target )?",
        r"([\w.$#]+/[^\s@/\"'<>]{3,})@",
        lambda value, quoted: values.believed(value.partition("/")[2], quoted),
        gate=r"(?i)\bjdbc:oracle:\w+:[\w.$#]+/|\b(?:sqlplus|sqlcl|impd?p?|expd?p?|sqlldr|rman) [^\n]*/[^\n]*@",
    ),
    # Terraform, and elements of XML with attributes
    rule(
        r"(?i)\bvariable\s+\"[\w\-]*(?:passw(?:or)?d|pwd|secret|token|key)\"\s*\{[^{}]*?\bdefault\s*=\s*",
        r"\"([^\"\r\n]{4,})\"",
        gate=r"(?i)\bvariable\s+\"[\w\-]*(?:passw|pwd|secret|token|key)",
    ),
    rule(rf"(?i)<[\w:.\-]*{_NAME} [^<>\n]*>\s*", r"([^\s<>]{4,})\s*</", gate=rf"(?i)<[\w:.\-]*{_NAME} [\w:]+="),
)

RECOGNIZERS = (
    table(
        "statement",
        _RULES,
        examples=(
            Example(f"CREATE USER jane IDENTIFIED BY '{_word}';", _word),
            Example(f'ConvertTo-SecureString "{_word}" -AsPlainText -Force', _word),
            Example(f'DriverManager.getConnection(url, "sa", "{_word}");', _word),
            Example("username jane password 7 " + "0822455D0A16", "0822455D0A16"),
            Example(f"snmp-server community {_plain} RO", _plain),
            Example(f"echo 'root:{_word}' | chpasswd", _word),
            Example(f"ALTER ROLE jane LOGIN PASSWORD '{_word}';", _word),
            Example(f"ALTER USER jane IDENTIFIED BY {_plain} ACCOUNT UNLOCK", _plain),
            Example(f"echo {_word} | docker login -u jane --password-stdin r.io", _word),
            Example(f"requirepass {_plain}", _plain),
            Example(f"rabbitmqctl add_user jane {_plain}", _plain),
            Example(f"cy.get('#password').type('{_word}')", _word),
            Example(f"USER jane\r\n331 Password required\r\nPASS {_plain}", _plain),
            Example(f"jdbc:oracle:thin:scott/{_plain}@db:1521:x", f"scott/{_plain}"),
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
