"""Passwords in statements and calls that do not name them: SQL, routers' and daemons' configuration, PowerShell, what
is piped to a command, connections opened with a user and a password, what is typed where a password is asked for.
"""

from gateway.detection.recognizer import Example
from gateway.detection.recognizers.secrets._locator import BARE, QUOTED, rule, table
from gateway.detection.recognizers.secrets._value_classifier import believed

_B = r"[ \t]+"
_PASSWORD = r"(?:pass(?:word|wd|phrase)?|pwd)"
_word = "Tr0ub4dor" + "&3"
_plain = "Wat3rfall"

RECOGNIZERS = (
    table(
        "statement",
        (
            # SQL
            rule(
                rf"(?i)\bidentified{_B}(?:with{_B}\S+{_B})?(?:by|as){_B}(?:password{_B})?"
                rf"|\b(?:user|role){_B}\S+(?:{_B}\w+){{0,6}}{_B}password{_B}|\bsp_addlogin{_B}N?'[^'\n]*',[ \t]*N?",
                QUOTED,
            ),
            rule(
                rf"(?i)\b(?:(?:create|alter){_B}user|connect{_B}to){_B}\S+{_B}"
                rf"(?:identified{_B}by|user{_B}\S+{_B}using){_B}",
                r"([^\s\"';,()]{4,})",
            ),
            # PowerShell
            rule(
                rf"(?i)\bconvertto-securestring{_B}(?:-string{_B})?(?:-asplaintext{_B})?"
                r"|\bClientSecretCredential\([^\n()]*,[ \t]*",
                QUOTED,
            ),
            rule("", QUOTED + r"[ \t]*\|[ \t]*ConvertTo-SecureString", gate=r"\|[ \t]*ConvertTo-SecureString"),
            # Calls with a user and a password
            rule(
                r"(?:getConnection|Credentials?(?:\.new)?|[bB]asic_?[aA]uth(?:Handler)?|Authentication(?:Token)?|\blogin"
                r"|\bauth ?= ?|WiFi\.begin|username_pw_set|changeUserPassword|\.auth|\bftp_login|\bldap_bind)"
                r"\((?:[^\n()\"']*,[ \t]*)?[\"'][^\"'\r\n]+[\"'],[ \t]*",
                QUOTED,
            ),
            rule(
                r"\b(?:mysqli?(?:_real)?(?:_connect)?|getConnection|PDO(?:->__construct)?|DBI->connect|imap_open"
                r"|Net::FTP\.(?:open|new)|FTP(?:_TLS)?)"
                r"\((?:\$\w+,[ \t]*)?[\"'][^\"'\r\n]+[\"'],\s*[\"'][^\"'\r\n]+[\"'],\s*",
                QUOTED,
            ),
            rule(r"\b(?:jwt\.(?:sign|verify|encode|decode)\([^\n\"']+,|createHmac\([\"'][\w\-]+[\"'],)[ \t]*", QUOTED),
            # Browsers' drivers, expect(1), FTP (RFC 959)
            rule(
                rf"(?i){_PASSWORD}[^\"'\n]*[\"']\]?[\"']?\)?\)[ \t]*\.(?:send_?keys|type|fill|set_?value)\([ \t]*"
                r"|\.(?:fill|type|set_?value)\([^,\n]*(?:passw|pwd)[^,\n]*,[ \t]*",
                QUOTED,
            ),
            rule(
                r"(?i)\bexpect[ \t][^\n]*assw[^\n]*\n[ \t]*send[ \t](?:--[ \t])?", r"\"([^\s\"\\$]{4,})(?:\\r|\\n)?\""
            ),
            rule(r"(?m:^USER)[ \t]\S+\r?\n(?:\d[^\n]*\n)?PASS[ \t]", r"(\S{4,})"),
            # Routers and switches; SNMP: communities, and the two of an account of version 3 (RFC 3414)
            rule(
                r"(?i)(?:(?:\bpassword|\bsecret|\bkey-string|\bpre-shared-key|\bkey)[ \t](?:level[ \t]\d+[ \t])?[05-9]"
                r"|\b(?:tacacs|radius)(?:-server)?(?:[ \t]host[ \t]\S+)?[ \t]key|\bisakmp[ \t]key|\bauthentication-key"
                r"|\bneighbor[ \t]\S+[ \t]password|\bset[ \t]psksecret|\bikev1[ \t]pre-shared-key"
                r"|\b(?:password|community[ \t](?:read|write)|key|secret)[ \t](?:simple|(?:irreversible-)?cipher|plaintext)"
                r"|(?:aaa-server|radius|tacacs)[^\n]*\n(?:[ \t]+[^\n]*\n){0,4}?[ \t]+key)[ \t]",
                judge=believed,
            ),
            rule(r"(?i)\bcommunity[ \t]", BARE + r"[ \t](?i:ro|rw|view|authorization)\b", believed),
            rule(r"(?i)\b(?:auth[ \t](?:md5|sha[\d\-]*)|priv[ \t](?:3?des|aes)(?:[ \t\-]\d+)?)[ \t]"),
            # Lines of daemons' configuration, each a word and its value; ipsec.secrets(5)
            rule(
                r"(?m)^[ \t]*(?:requirepass|masterauth|bindpw|rootbindpw|rootpw(?:[ \t]+--plaintext)?"
                r"|AUTH[ \t]+(?:PLAIN|LOGIN|default)[ \t]|stats[ \t]+auth[ \t]+[\w.\-]+:|user[ \t]+\w+[ \t]+on[ \t]+>"
                r"|cache_peer[ \t][^\n]*\slogin=[\w.\-]+:|register[ \t]*=>[ \t]*[\w.\-]+:|PASSWORD[ \t]\w+[ \t]=)[ \t]*",
                r"([^\s\"'@]{4,})",
            ),
            rule(
                r"(?:^|\s):[ \t]*(?:PSK|EAP|XAUTH|NTLM|PIN|(?:RSA|ECDSA|P12|PKCS8)[ \t]+\S+)[ \t]+",
                rf"(?:{QUOTED}|(0[sx][A-Za-z0-9+/=]{{8,}}))",
                believed,
            ),
            # Standard input as the password: `echo … | docker login --password-stdin`
            rule(
                r"\becho[ \t](?:-n?e?[ \t])?[\"']?(?:[a-z_][\w\-]*:)?",
                r"([^\s\"'|:]{4,})[\"']?[ \t]*\|(?:[^\n|]*\s--(?:password-stdin|with-token|stdin|passphrase-fd)\b"
                r"|[ \t]*sudo[ \t]+(?:-\w[ \t]+)*-S\b|[ \t]*(?:sudo[ \t]+)?(?:chpasswd|kinit|smbpasswd|passwd|cryptsetup)\b)",
                believed,
                gate=r"\|(?:[^\n|]*\s--(?:password-stdin|with-token|stdin|passphrase-fd)\b|[ \t]*sudo[ \t]"
                r"|[ \t]*(?:chpasswd|kinit|smbpasswd|passwd|cryptsetup)\b)",
            ),
            # Accounts that are made or used by name
            rule(
                rf"(?i)(?:\brabbitmqctl{_B}(?:add_user|change_password){_B}\S+|\bnet[ \t]user{_B}[^\s/]\S*"
                rf"|\bhttp-basic\.\S+{_B}\S+|\bnickserv{_B}identify(?:{_B}\S+)??|(?m:^)\w{{1,8}}[ \t](?-i:LOGIN)[ \t]\S+"
                rf"|\bmc[ \t](?:alias[ \t]set|config[ \t]host[ \t]add)[ \t]\S+[ \t]\S+[ \t]\S+){_B}",
                r"([^\s\"'/\-]\S{3,})",
            ),
            rule(
                rf"(?i)\b(?:net use\s[^\n]*/user:[ ]?\S+|reg{_B}add[ \t][^\n]*/v{_B}\"?\w*passw(?:or)?d\"?(?:{_B}/t{_B}\w+)?"
                rf"{_B}/d){_B}",
                r"\"?([^\s\"/*\-][^\s\"]{3,})",
                believed,
            ),
            rule(rf"(?i)\bnet use\s(?:\S+{_B})?(?:\\\\|https?:)\S+{_B}", r"([^\s/*]\S{3,})[ \t]+/user:", believed),
            rule(
                rf"(?i)\bjdbc:oracle:\w+:|\b(?:sqlplus|sqlcl|(?:imp|exp)(?:dp)?|sqlldr|rman){_B}"
                rf"(?:-\w{_B}|userid=|target{_B})?",
                r"([\w.$#]+/[^\s@/\"'<>]{3,})@",
                lambda value, quoted: believed(value.partition("/")[2], quoted),
                gate=rf"(?i)\bjdbc:oracle:\w+:[\w.$#]+/|\b(?:sqlplus|sqlcl|impd?p?|expd?p?|sqlldr|rman){_B}[^\n]*/[^\n]*@",
            ),
            # Terraform, and elements of XML with attributes
            rule(
                r"(?i)\bvariable\s+\"[\w\-]*(?:passw(?:or)?d|pwd|secret|token|key)\"\s*\{[^{}]*?\bdefault\s*=\s*",
                r"\"([^\"\r\n]{4,})\"",
            ),
            rule(rf"(?i)<[\w:.\-]*{_PASSWORD}[ \t][^<>\n]*>\s*", r"([^\s<>]{4,})\s*</"),
        ),
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
