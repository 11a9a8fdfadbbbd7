"""Commands that send to an untrusted destination, known by their programs. The words of a command are read by `shlex`."""

import re
import shlex
from collections.abc import Iterator, Sequence

from gateway.guard.regex_search import expression, holds
from gateway.guard.untrusted_destinations import UntrustedDestinations, is_file_name


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# By what their words without an option are: a host each; first a host, then what it is sent; `host:path`; mailboxes.
_HOSTS = _words(
    """
    curl curlie wget wget2 aria2c axel http https httpie xh lynx w3m elinks websocat wscat grpcurl iwr irm ab wrk hey siege
    invoke-webrequest invoke-restmethod start-bitstransfer xdg-open nslookup dig host ping ping6 fping traceroute tracepath
    tracert mtr drill kdig whois finger hping3 resolvectl getent resolve-dnsname test-connection bitsadmin certutil
    """
)
_FIRST = _words(
    "nc ncat netcat telnet ssh slogin mosh autossh ssh-copy-id sftp rsh rlogin ftp tftp lftp ncftp mongo mongosh cqlsh"
)
_COPIES = _words("scp rcp rsync sshfs borg unison rclone aws gsutil s3cmd mc")
_MAILS = _words("mail mailx mutt neomutt sendmail msmtp ssmtp swaks send-mailmessage")
_IMAGES = _words("docker podman nerdctl skopeo buildah oras")
_CLIENTS = _words(
    """
    psql pg_dump pg_restore mysql mariadb mysqldump redis-cli mosquitto_pub clickhouse-client influx sqlcmd ldapsearch
    ldapmodify ldapadd kubectl oc helm etcdctl vault consul gcloud az logger npm yarn pnpm twine svn hg kcat nats snmptrap
    openssl socat smbclient git
    """
)
_PROGRAMS = _HOSTS | _FIRST | _COPIES | _MAILS | _IMAGES | _CLIENTS
# Words of a language, too: programs only where a command begins.
_AMBIGUOUS = _words(
    "host mail http https finger hey mc dig ping nc ssh ftp xh lynx ab drill az oc vault consul influx nats helm git"
)
_STARTERS = _words(
    """
    sudo doas env nohup time nice timeout xargs exec command builtin busybox stdbuf setsid watch sshpass torify proxychains
    unbuffer parallel find chroot su docker podman kubectl ssh coproc eval do then else while until if ! {
    """
)
# Programs that show, keep or look for what they are given.
_LOCAL = _words("echo printf cat grep rg sed awk jq tee test [ export set git gh mkdir touch cp mv ls cd pip uv npm")
_HOST_OPTIONS = _words(
    """
    h H S b s x J host hostname server endpoint endpoint-url url registry proxy remote connect connect-to resolve addr broker
    address brokers bootstrap-server repository-url relay uri master socks5 preproxy jump-host image uri to
    """
)
_VALUE_OPTIONS = re.compile(r"-[oiFfKEcXDLw]|--(?:output|output-document|exclude|include|name|config|cert|key|user-agent)")
_LEADING = re.compile(
    r"(?:\w+_proxy|docker_host|container_host|pghost(?:addr)?|mysql_host|aws_endpoint_url\w*|kubernetes_master)=(.*)", re.I
)
_REGISTRIES = _words("docker.io ghcr.io quay.io gcr.io mcr.microsoft.com registry.k8s.io public.ecr.aws nvcr.io")
_PULLING = _words("run create pull build")
_NO_FILES = (".sh", ".py", ".md", ".rs", ".zip", ".bz", ".name")

_MENTIONED = expression(
    rf"(?:^|[^\w.-])(?:{'|'.join(map(re.escape, sorted(_PROGRAMS)))})(?:\.exe)?(?:$|[\s$<>|;&)`\"'}}])|/dev/(?:tcp|udp)/"
    r"|(?:_proxy|_host|pghost|pghostaddr|endpoint_url|_master)="
)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_VARIABLE = re.compile(r"(?<![\w.-])([A-Za-z_]\w*)=(\"[^\"$`\n]{1,200}\"|'[^'\n]{1,200}'|[^\s;|&()<>\"'`$]{1,200})")
_EXPANDED = re.compile(r"\$\{(\w{1,80})(?:(?::?[-=+?])([^}]{0,200})|[^}]{0,200})\}|\$(\w{1,80})")
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*+)'")
_ESCAPE = re.compile(r"\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|([0-7]{1,3}))")
_IFS = re.compile(r"\$\{?IFS\b(?:[^}\s]{0,20}\})?")
_INNER = re.compile(r"[$<>]\(([^()]*)\)|`([^`]*)`")
_FOUND = re.compile(r"\s*(?:which|command -v|type -p)\s+(\S+)\s*\Z")
_HOST = re.compile(r"(?:(?:[a-z][\w+.-]*:)?[/\\]{2})?(?:[^/@\s]*@)?(\[[^\]]*\]|[^:/\s,=]+)(?::|/|,|\Z)", re.I)
_REMOTE = re.compile(r"(?:[^/@:\s]*@)?(\[[^\]]*\]|[^/:\s]+):", re.I)
_WHOLE_URL = re.compile(r"(?:[a-z][\w+.-]{1,20}:)?//\S+\Z", re.I)
_CONNECTION = re.compile(r"(?:\b(?:host|hostaddr|server)\s*=\s*'?|\b(?:tcp|udp|ssl|openssl)\d?(?:-connect)?:)([^\s'&:,]+)", re.I)
_SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)")
_PUNCTUATION = frozenset("();<>|&")
_DEEPEST = 4


def mentioned(text: str) -> bool:
    """Whether a text has a word that a shell could take for a program that sends. Cheap."""
    return holds(_MENTIONED, re.sub(r"\\\n|['\"\\]", "", text)) or "$" in text


def is_program(word: str) -> bool:
    """Whether a word is the name of a program that sends, with its folder or without."""
    return len(word) <= 200 and _name(word) in _PROGRAMS


class Commands:
    """Asks of the commands of one text whether they send to an untrusted destination."""

    def __init__(self, text: str, untrusted: UntrustedDestinations, *, any_program: bool = False) -> None:
        self._untrusted = untrusted
        self._any_program = any_program
        self._variables = {name: value.strip("'\"") for name, value in _VARIABLE.findall(text)}
        self._aliases = "alias " in text
        self.takes_everything = False
        """Whether a command leads all that the others say or ask to one: a proxy, a socket that stays open."""

    def send(self, text: str) -> bool:
        """Whether a command in a statement does."""
        return any([self.sends(words, any_program=any_program) for words, any_program in self._read(text, _DEEPEST)])

    def sends(self, words: Sequence[str], *, any_program: bool = False) -> bool:
        """Whether one command does, whose words are read already."""
        sends = any(self._is_host(host) for word in words for host in _SOCKET.findall(word))
        led = any((match := _LEADING.match(word)) and self._is_host(match[1]) for word in words)
        begin = next((index for index, word in enumerate(words) if not _ASSIGNED.match(word)), len(words))
        first = _name(words[begin]) if begin < len(words) else ""
        is_known = False
        for index in range(begin, len(words)):
            name = _name(words[index])
            begins = index == begin or (first in _STARTERS and not words[index - 1].startswith("-"))
            if name in _PROGRAMS and (begins or name not in _AMBIGUOUS):
                is_known = True
                sends = sends or self._sends(name, words[index + 1 :])
        if any_program and not is_known and first and first not in _LOCAL:
            sends = sends or any(_WHOLE_URL.match(word) and self._untrusted.url(word) for word in words[begin + 1 :])
        self.takes_everything |= led or (sends and first in ("exec", "coproc"))
        return sends or led

    def _sends(self, name: str, arguments: Sequence[str]) -> bool:
        if name == "git" and not {"push", "remote", "send-email"} & set(arguments):
            return False
        last = next((index for index, word in reversed([*enumerate(arguments)]) if not word.startswith("-")), -1)
        before = ""
        for index, word in enumerate(arguments):
            option, before = before if before.startswith("-") else "", word
            if word.startswith("-"):
                key, _, value = word.lstrip("-").partition("=")
                if (key in _HOST_OPTIONS and self._is_host(value)) or (word[:2] in ("-h", "-H") and self._is_host(word[2:])):
                    return True
            elif (option.lstrip("-") in _HOST_OPTIONS and any(map(self._is_host, (word, *word.split(":"))))) or any(map(self._is_host, _CONNECTION.findall(word))):
                return True
            elif _WHOLE_URL.match(word.replace("\\", "/")):
                if (name not in _COPIES or index == last) and self._untrusted.url(word.replace("\\", "/")):
                    return True
            elif _VALUE_OPTIONS.fullmatch(option) or (word.isdigit() and (option or len(word) < 8)):
                continue
            elif name in _HOSTS or name in _FIRST:
                if self._is_host(word):
                    return True
                if name in _FIRST:
                    return False
            elif name in _MAILS:
                if self._untrusted.mailbox(word):
                    return True
            elif name in _IMAGES:
                host, slash, _ = word.partition("/")
                is_pulled = not _PULLING.isdisjoint(arguments)
                if (slash or "login" in arguments) and not (is_pulled and host in _REGISTRIES) and self._is_host(host):
                    return True
            elif (name == "git" or (name in _COPIES and index == last)) and (remote := _REMOTE.match(word)):
                if self._is_host(remote[1]):
                    return True
        return False

    def _is_host(self, word: str) -> bool:
        match = _HOST.match(word)
        return (
            match is not None
            and (match[1].endswith(_NO_FILES) or not is_file_name(match[1]))
            and self._untrusted.host(match[1])
        )

    def _read(self, text: str, depth: int) -> Iterator[tuple[list[str], bool]]:
        """The commands of a text: words without their quotes, variables filled in."""
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
        for token in (*_tokens(text), ";"):
            if not _PUNCTUATION.issuperset(token) or not token:
                words.append(token)
            elif words and token[0] not in "<>":
                if self._aliases:
                    words[:1] = self._variables.get(words[0], words[0]).split()
                yield words, any_program
                words = []
        if depth:
            for each in (*inner, *(token for token in _tokens(text) if " " in token)):
                yield from self._read(each, depth - 1)

    def _value(self, match: re.Match[str]) -> str:
        name = match[1] or match[3]
        return self._variables.get(name, match[2] or f"${{{name}}}")


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
    return found[1] if found else "${}"


def _name(word: str) -> str:
    name = word.rpartition("/")[2].removesuffix(".exe")
    return name.lower() if "-" in name else name


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16) if code else int(match[3], 8))
