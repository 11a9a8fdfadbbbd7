"""Commands that send to an untrusted destination, known by their programs. `shlex` reads the words."""

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gateway.guard.regex_search import expression, holds, matches
from gateway.guard.untrusted_destinations import UntrustedDestinations, is_file_name


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PROGRAMS = _set(
    """
    curl curlie wget wget2 aria2c axel http https httpie xh lynx w3m elinks websocat wscat grpcurl iwr irm ab wrk
    siege invoke-webrequest invoke-restmethod start-bitstransfer send-mailmessage resolve-dnsname test-connection
    bitsadmin certutil nslookup dig host ping ping6 fping traceroute tracepath tracert mtr drill kdig whois finger
    resolvectl getent xdg-open nc ncat netcat telnet socat openssl ssh slogin mosh autossh ssh-copy-id sftp rsh rlogin
    ftp tftp lftp ncftp smbclient scp rcp rsync sshfs borg unison rclone aws gsutil s3cmd mc mail mailx mutt neomutt
    sendmail msmtp ssmtp swaks git svn hg psql pg_dump pg_restore mysql mariadb mysqldump redis-cli mongo mongosh
    cqlsh mosquitto_pub clickhouse-client influx sqlcmd ldapsearch ldapmodify ldapadd kubectl oc helm etcdctl vault
    consul gcloud az logger npm yarn pnpm twine kcat nats snmptrap docker podman nerdctl skopeo buildah oras
    """
)
# Of these only the first argument is a host; copies go to the last one; images are pulled from public registries.
_FIRST = _set(
    "nc ncat netcat telnet ssh slogin mosh autossh ssh-copy-id sftp rsh rlogin ftp tftp lftp ncftp mongo mongosh"
)
_COPIES = _set("scp rcp rsync sshfs borg unison rclone aws gsutil s3cmd mc")
_PULLING = _set("run create pull build")
_REGISTRIES = (
    "docker.io/",
    "ghcr.io/",
    "quay.io/",
    "gcr.io/",
    "mcr.microsoft.com/",
    "registry.k8s.io/",
    "public.ecr.aws/",
)
# Words of a language, too: programs only where a command begins.
_AMBIGUOUS = _set(
    "host mail http https finger mc dig ping nc ssh ftp xh lynx ab drill az oc vault consul influx nats helm git"
)
_STARTERS = _set(
    """
    sudo doas env nohup time nice timeout xargs exec command builtin busybox stdbuf setsid watch sshpass torify
    unbuffer parallel find chroot su docker podman kubectl ssh coproc eval do then else while until if ! {
    """
)
# Programs that show, keep or look for what they are given.
_LOCAL = _set("echo printf cat grep rg sed awk jq tee test [ export set git gh mkdir touch cp mv ls cd pip uv npm")
_VALUE_OPTIONS = re.compile(r"-[oiFfKEcXDLw]|--(?:output|output-document|exclude|include|name|config|cert|key)")
_LEADING = re.compile(
    r"(?:\w+_proxy|\w+_host|pghost(?:addr)?|aws_endpoint_url\w*|kubernetes_master)=(.*)", re.IGNORECASE
)
_NO_FILES = (".sh", ".py", ".md", ".rs", ".zip", ".bz", ".name")

_MENTIONED = expression(
    rf"(?:^|[^\w.-])(?:{'|'.join(map(re.escape, sorted(_PROGRAMS)))})(?:\.exe)?(?:$|[\s$<>|;&)`\"'}}])"
    r"|/dev/(?:tcp|udp)/|(?:_proxy|_host|pghost|pghostaddr|endpoint_url|_master)="
)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_VARIABLE = re.compile(r"(?<![\w.-])([A-Za-z_]\w*)=(\"[^\"$`\n]{1,200}\"|'[^'\n]{1,200}'|[^\s;|&()<>\"'`$]{1,200})")
_EXPANDED = re.compile(r"\$\{(\w{1,80})(?:(?::?[-=+?])([^}]{0,200})|[^}]{0,200})\}|\$(\w{1,80})")
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*+)'")
_ESCAPE = re.compile(r"\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|([0-7]{1,3}))")
_IFS = re.compile(r"\$\{?IFS\b(?:[^}\s]{0,20}\})?")
_INNER = re.compile(r"[$<>]\(([^()]*)\)|`([^`]*)`")
_FOUND = re.compile(r"\s*(?:which|command -v|type -p)\s+(\S+)\s*\Z")
_HOST = re.compile(r"(?:[^/@\s]*@)?(\[[^\]]*\]|[^:/\s,=]+)(?::|/|,|\Z)")
_WHOLE_URL = re.compile(r"(?:[a-z][\w+.-]{1,20}:)?//\S+\Z", re.I)
_CONNECTION = re.compile(
    r"(?:\b(?:host(?:addr)?|server)\s*=\s*'?|\b(?:tcp|udp|ssl|openssl)\d?(?:-connect)?:)([^\s'&:,]+)", re.I
)
_SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)")
_PUNCTUATION = frozenset("();<>|&")
_DEEPEST = 4
_SHORTEST_NUMBER, _SHORTEST_COMMAND = 8, 5


def mentioned(text: str) -> bool:
    """Whether a text has a word that a shell could take for a program that sends. Cheap."""
    return holds(_MENTIONED, re.sub(r"\\\n|['\"\\]", "", text)) or "$" in text


def first_mention(text: str) -> int:
    """Where the first of such words stands, if it is spelled plainly."""
    return next((at for at, _ in matches(_MENTIONED, text)), 0)


def is_program(word: str) -> bool:
    """Whether a word is the name of a program that sends, with its folder or without."""
    return len(word) <= 200 and _name(word) in _PROGRAMS


class Commands:
    """Asks of the commands of one text whether they send to an untrusted destination."""

    def __init__(self, text: str, untrusted: UntrustedDestinations, *, any_program: bool = False) -> None:
        self._untrusted = untrusted
        self._any_program = any_program
        self._variables: dict[str, str] = {name: value.strip("'\"") for name, value in _VARIABLE.findall(text)}
        self._aliases = "alias " in text
        self.takes_everything = False
        """Whether a command leads all that the others say or ask to one: a proxy, a socket that stays open."""

    def send(self, text: str) -> bool:
        """Whether a command in a statement does."""
        found = [self.sends(words, any_program=any_program) for words, any_program in self._read(text, _DEEPEST)]
        return any(found)

    def sends(self, words: Sequence[str], *, any_program: bool = False) -> bool:
        """Whether one command does, whose words are read already."""
        sends = any(self._is_host(host) for word in words for host in _SOCKET.findall(word))
        led = any((match := _LEADING.match(word)) and self._is_destination(match[1]) for word in words)
        begin = next((index for index, word in enumerate(words) if not _ASSIGNED.match(word)), len(words))
        first = _name(words[begin]) if begin < len(words) else ""
        known = [index for index in range(begin, len(words)) if self._is_program(words, index, begin, first)]
        for index, behind in pairwise([*known, len(words)]):
            sends = sends or self._leads_out(_name(words[index]), words[index + 1 : behind])
        if any_program and not known and first and first not in _LOCAL:
            sends = sends or any(_WHOLE_URL.match(word) and self._untrusted.url(word) for word in words[begin + 1 :])
        self.takes_everything |= led or (sends and first in ("exec", "coproc"))
        return sends or led

    @staticmethod
    def _is_program(words: Sequence[str], index: int, begin: int, first: str) -> bool:
        begins = index == begin or (first in _STARTERS and not words[index - 1].startswith("-"))
        name = _name(words[index])
        return name in _PROGRAMS and (begins or name not in _AMBIGUOUS)

    def _leads_out(self, name: str, arguments: Sequence[str]) -> bool:
        """Whether one of the arguments of a program is an untrusted destination."""
        if name == "git" and not {"push", "send-email"} & set(arguments):
            return False
        if name in _COPIES:
            plain = [word for word in arguments if not word.startswith("-")]
            arguments = [*(word for word in arguments if word.startswith("-")), *plain[-1:]]
        before = ""
        for word in arguments:
            option, before = before if before.startswith("-") and name not in _COPIES else "", word
            if word.startswith("-"):
                # `--host=x`, `-hx`
                value = word.partition("=")[2] or (word[2:] if word[1:2] in "hH" else "")
                if not value.isdigit() and self._is_destination(value):
                    return True
            elif any(map(self._is_host, _CONNECTION.findall(word))):
                return True
            elif option in ("--resolve", "--connect-to"):
                if any(map(self._is_host, word.split(":"))):
                    return True
            elif (
                _VALUE_OPTIONS.fullmatch(option)
                or (word.isdigit() and (option or len(word) < _SHORTEST_NUMBER))
                or (word.startswith(_REGISTRIES) and not _PULLING.isdisjoint(arguments))
            ):
                continue
            elif self._is_destination(word):
                return True
            elif name in _FIRST and not option:
                return False
        return False

    def _is_destination(self, word: str) -> bool:
        """Whether a word is a URL, a host with what may stand around it, or a mailbox."""
        plain = word.replace("\\", "/")
        if _WHOLE_URL.match(plain):
            return self._untrusted.url(plain)
        return " " not in word and (self._is_host(word) or ("@" in word and self._untrusted.mailbox(word)))

    def _is_host(self, word: str) -> bool:
        match = _HOST.match(word)
        return (
            match is not None
            and (match[1].endswith(_NO_FILES) or not is_file_name(match[1]))
            and self._untrusted.host(match[1])
        )

    def _read(self, text: str, depth: int) -> Iterator[tuple[list[str], bool]]:
        """The commands of a text: words without their quotes, variables filled in."""
        if len(text) < _SHORTEST_COMMAND:
            return
        any_program = self._any_program and depth == _DEEPEST and "//" in text
        if not (any_program or self._aliases or mentioned(text)):
            return
        text = _IFS.sub(" ", _ANSI.sub(lambda match: _ESCAPE.sub(_unescaped, match[0][1:]), text.replace("\\\n", "")))
        if "$" in text and len(filled := _EXPANDED.sub(self._value, text)) <= 4 * len(text) + 1000:
            text = filled
        inner: list[str] = []
        for _ in range(_DEEPEST):
            text, count = _INNER.subn(lambda match: _put_aside(match, inner), text)
            if not count:
                break
        words: list[str] = []
        tokens = _tokens(text)
        for token in (*tokens, ";"):
            if not _PUNCTUATION.issuperset(token) or not token:
                words.append(token)
            elif words and token[0] not in "<>":
                if self._aliases:
                    words[:1] = self._variables.get(words[0], words[0]).split()
                yield words, any_program
                words = []
        if depth:
            for each in (*inner, *(token for token in tokens if " " in token)):
                yield from self._read(each, depth - 1)

    def _value(self, match: re.Match[str]) -> str:
        name: str = match[1] or match[3]
        default: str = match[2] or f"${{{name}}}"
        return self._variables.get(name, default)


def _tokens(text: str) -> list[str]:
    """Words and signs; where quotes are not closed, without regard to quotes."""
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        return list(reader)
    except ValueError:
        return re.sub(r"['\"\\]", "", text).split()


def _put_aside(match: re.Match[str], inner: list[str]) -> str:
    """Stands in a word for what a command in it says."""
    inner.append(match[1] or match[2] or "")
    found = _FOUND.match(inner[-1])
    return str(found[1]) if found else "${}"


def _name(word: str) -> str:
    name = word.rpartition("/")[2].removesuffix(".exe")
    return name.lower() if "-" in name else name


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16) if code else int(match[3], 8))
