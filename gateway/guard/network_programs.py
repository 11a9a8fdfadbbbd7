"""Programs that send, by name: which of their arguments say where to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from gateway.guard.regex_search import expression
from gateway.guard.untrusted_destinations import Strangers, is_file_name


class _Takes(Enum):
    """What the arguments without an option are to a program."""

    HOSTS = auto()
    FIRST = auto()
    """The first is a host; the others are for that one."""
    PATHS = auto()
    """`host:path`, or a path of this machine."""
    IMAGES = auto()
    """`host/name`, or a name."""
    MAILBOXES = auto()
    SOCKETS = auto()
    """`TCP:host:port`."""
    LINKS = auto()
    """Only what is a link."""


@dataclass(frozen=True, slots=True)
class _Program:
    """`hosts` and `valued` are the letters of options whose values are hosts, or anything else."""

    takes: _Takes
    hosts: str = ""
    valued: str = ""


def _table(*rows: tuple[str, _Program]) -> Mapping[str, _Program]:
    return {name: program for names, program in rows for name in names.split()}


_PROGRAMS = _table(
    ("curl curlie", _Program(_Takes.HOSTS, "x", "AbcCdDeEFHhKmoPQrTtuUwXyYz")),
    ("wget wget2 aria2c axel", _Program(_Takes.HOSTS, "", "oOaPtTwQUedlDIRXAs")),
    ("http https httpie xh lynx w3m elinks websocat wscat grpcurl iwr irm", _Program(_Takes.HOSTS, "", "doHAapsv")),
    ("invoke-webrequest invoke-restmethod ab wrk siege hey xdg-open", _Program(_Takes.HOSTS, "", "cntHdmTpuAC")),
    (
        "nslookup dig host ping ping6 fping traceroute tracepath tracert mtr drill kdig whois finger nmap hping3",
        _Program(_Takes.HOSTS, "h", "cisWwtpqbIkmMQx"),
    ),
    ("resolvectl getent arping delv dog resolve-dnsname test-connection", _Program(_Takes.HOSTS, "", "cIw")),
    ("nc ncat netcat telnet", _Program(_Takes.FIRST, "x", "wpsXqiITGce")),
    ("ssh slogin mosh autossh ssh-copy-id sftp rsh rlogin", _Program(_Takes.FIRST, "JW", "BbcDEeFIiLlmOopQRSsPw")),
    ("ftp tftp", _Program(_Takes.FIRST)),
    ("lftp ncftp mongo mongosh cqlsh", _Program(_Takes.FIRST, "", "ePpuc")),
    ("scp rcp rsync mount sshfs borg unison", _Program(_Takes.PATHS, "J", "cFiloPSDXeftTMBp")),
    (
        "psql pg_dump pg_restore createdb mysql mariadb mysqldump mysqlimport",
        _Program(_Takes.LINKS, "h", "UdpcfPuevDo"),
    ),
    ("redis-cli mosquitto_pub clickhouse-client influx sqlcmd", _Program(_Takes.LINKS, "hS", "pantmufPdqQU")),
    ("ldapsearch ldapmodify ldapadd ldapwhoami", _Program(_Takes.LINKS, "hH", "DwbsfyY")),
    ("kubectl oc helm etcdctl vault consul", _Program(_Takes.LINKS, "s", "nfolc")),
    (
        "aws gsutil gcloud az s3cmd mc rclone smbclient logger npm yarn pnpm twine svn hg",
        _Program(_Takes.LINKS, "n", "cUmp"),
    ),
    ("kcat kafkacat nats amqp-publish snmptrap", _Program(_Takes.LINKS, "bs", "tpkKv")),
    ("docker podman nerdctl skopeo buildah oras", _Program(_Takes.IMAGES, "H", "evpulwfnthc")),
    ("mail mailx mutt neomutt sendmail msmtp ssmtp swaks", _Program(_Takes.MAILBOXES, "", "saHicFfrSq")),
    ("socat", _Program(_Takes.SOCKETS)),
    ("openssl git", _Program(_Takes.LINKS)),
)
_NAMES = "|".join(map(re.escape, _PROGRAMS))
_LONGEST = 200
# Domains of the highest level that end files, too.
_NO_FILES = (".sh", ".py", ".md", ".rs", ".zip", ".bz", ".name")
_HOSTED = "|".join(name for name, program in _PROGRAMS.items() if program.takes in (_Takes.HOSTS, _Takes.FIRST))
LIKE_A_FILE = rf"\b(?:{_HOSTED})\s[^\n;|&]*(?:{'|'.join(map(re.escape, _NO_FILES))})(?:\W|$)"
# Cheap: without one of these no command of a text sends.
MENTIONED = expression(rf"(?:^|[^\w.-])(?:{_NAMES})(?:\.exe)?(?:$|[\s$<>|;&)`}}])|/dev/(?:tcp|udp)/")
_HOST_OPTIONS = frozenset(
    """
    host hostname server endpoint endpoint-url url registry proxy remote connect connect-to resolve addr address broker
    bootstrap-server brokers repository-url relay to from-host uri master socks5 socks5-hostname preproxy jump-host
    """.split()
)
_VALUED = frozenset(
    """
    data data-raw data-binary data-urlencode data-ascii json form form-string header user user-agent output cookie
    cookie-jar request max-time connect-timeout cert key cacert range referer write-out upload-file retry retry-delay
    limit-rate max-filesize max-redirs speed-limit post-data post-file body-data body-file output-document password
    timeout tries wait build-arg env label name network volume tag platform workdir entrypoint env-file file mount
    from-literal from-file set set-string set-file namespace exclude include filter rsh bwlimit subject command dbname
    username execute method body message region profile content-type metadata acl
    """.split()
)
_STARTERS = re.compile(
    r"sudo|doas|env|nohup|time|nice|ionice|timeout|xargs|exec|command|builtin|busybox|stdbuf|setsid|watch|sshpass|torsocks"
    r"|torify|proxychains4?|unbuffer|parallel|find|chroot|su|docker|podman|kubectl|ssh|coproc|eval|for"
)
_AMBIGUOUS = frozenset(("host", "mail", "http", "https", "finger", "mount", "mc", "hey", "dog"))
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
# Variables that say to programs where to send.
_LEADING = re.compile(
    r"(?:\w+_proxy|docker_host|container_host|pghost(?:addr)?|mysql_host|aws_endpoint_url\w*|kubernetes_master)=(.*)",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?:(?:[a-z][\w+.-]*:)?[/\\]{2})?(?:[^/@\s]*@)?(\[[^\]]*\]|[^:/\s,]+)", re.IGNORECASE)
_REMOTE = re.compile(r"(?:[^/@:\s]*@)?(\[[^\]]*\]|[^/:\s]+):", re.IGNORECASE)
_SOCKET = re.compile(r"[a-z][\w-]*:(?:[^:@]*@)?(\[[^\]]*\]|[^:,\s]+):", re.IGNORECASE)
_CONNECTION = re.compile(r"\bhost(?:addr)?\s*=\s*'?([^\s'&]+)")
_REGISTRIES = frozenset(
    ("docker.io", "ghcr.io", "quay.io", "gcr.io", "mcr.microsoft.com", "registry.k8s.io", "public.ecr.aws", "nvcr.io")
)


def is_sender(word: str) -> bool:
    """Whether a word is the name of a program that sends, with its folder or without."""
    return len(word) <= _LONGEST and _name(word) in _PROGRAMS


class Programs:
    """Asks of commands whether they send to somebody the request did not name."""

    def __init__(self, strangers: Strangers) -> None:
        self._strangers = strangers
        self._remotes: dict[str, bool] = {}

    def abroad(self, words: Sequence[str]) -> bool:
        """Whether a command sends to a stranger. `words` are without quotes, variables filled in."""
        return any(self._sends(name, args) for name, args in _named(words))

    def leads(self, word: str) -> bool:
        """Whether an assignment leads the programs that come to a stranger, as that of a proxy does."""
        match = _LEADING.match(word)
        return match is not None and self._host(match[1])

    def knows(self, words: Sequence[str]) -> bool:
        """Whether a command sends at all."""
        return any(True for _ in _named(words))

    def _sends(self, name: str, args: Sequence[str]) -> bool:
        if name == "git":
            return self._git(args)
        program = _PROGRAMS[name]
        publishes = program.takes is _Takes.IMAGES and not {"run", "create", "pull", "build"}.isdisjoint(args)
        number = 0
        for option, value in _arguments(args, program):
            if option is not None:
                is_host = option in program.hosts if len(option) == 1 else option in _HOST_OPTIONS
                routes = value.split(":") if option in ("resolve", "connect-to") else [value]
                if is_host and (any(map(self._host, routes)) or self._strangers.url(value)):
                    return True
            else:
                if self._is_abroad(value, program.takes, number, publishes):
                    return True
                number += 1
        return False

    def _is_abroad(self, word: str, takes: _Takes, number: int, pulls: bool) -> bool:
        plain = word.replace("\\", "/")
        if "//" in plain and self._strangers.url(plain):
            return True
        match takes:
            case _Takes.HOSTS:
                return self._host(word)
            case _Takes.FIRST:
                return number == 0 and self._host(word)
            case _Takes.PATHS:
                return self._matched(_REMOTE, word)
            case _Takes.SOCKETS:
                return self._matched(_SOCKET, word)
            case _Takes.MAILBOXES:
                return self._strangers.mailbox(word)
            case _Takes.IMAGES:
                host, slash, _ = word.partition("/")
                login = number == 1 and not pulls
                return (slash != "" or login) and not (pulls and host in _REGISTRIES) and self._host(host)
            case _Takes.LINKS:
                return any(self._host(host) for host in _CONNECTION.findall(word))

    def _matched(self, wanted: re.Pattern[str], word: str) -> bool:
        match = wanted.match(word)
        return match is not None and self._host(match[1])

    def _host(self, word: str) -> bool:
        match = _HOST.match(word)
        if match is None:
            return False
        host = match[1]
        return (host.endswith(_NO_FILES) or not is_file_name(host)) and self._strangers.host(host)

    def _git(self, args: Sequence[str]) -> bool:
        """Where a push goes. Remotes are those of the repository unless the text adds or moves one."""
        plain = [word for before, word in zip(["", *args], args, strict=False) if before not in ("-C", "-c", "-o")]
        words = [word for word in plain if not word.startswith("-")]
        match words:
            case ["remote", "add" | "set-url", name, address, *_]:
                self._remotes[name] = self._is_remote(address)
            case ["push", *rest]:
                target = rest[0] if rest else "origin"
                return self._remotes[target] if target in self._remotes else self._is_remote(target)
            case ["config", name, address, *_] if name.startswith("remote.") and "url" in name:
                self._remotes[name.split(".")[1]] = self._is_remote(address)
            case ["send-email", *_]:
                return any(map(self._strangers.mailbox, args))
            case _:
                pass
        return False

    def _is_remote(self, address: str) -> bool:
        return self._strangers.url(address) if "//" in address else self._matched(_REMOTE, address)


def _name(word: str) -> str:
    return word.rpartition("/")[2].lower().removesuffix(".exe")


def runs(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The words of a command that can be programs: the first, and behind one that starts others, all. With places."""
    begin = next((index for index, word in enumerate(words) if not _ASSIGNED.match(word)), len(words))
    starts = begin < len(words) and _STARTERS.fullmatch(_name(words[begin])) is not None
    for index in range(begin, len(words) if starts else min(begin + 1, len(words))):
        yield index, _name(words[index])


def _named(words: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """The programs that a command runs, itself or through another one, with their arguments."""
    for index, name in runs(words):
        # Behind an option such a word is most often its value.
        is_value = name in _AMBIGUOUS and index > 0 and words[index - 1].startswith("-")
        if name in _PROGRAMS and not is_value:
            yield name, words[index + 1 :]


def _arguments(args: Sequence[str], program: _Program) -> Iterator[tuple[str | None, str]]:
    """Options by name or letter, with their values; None for what is no option."""
    index = 0
    while index < len(args):
        word = args[index]
        index += 1
        if not word.startswith("-") or word in ("-", "--"):
            yield None, word
            continue
        name, is_given, value = word.lstrip("-").partition("=")
        is_known = name in _HOST_OPTIONS or name in _VALUED
        if word.startswith("--") or (is_known and len(name) > 2):
            if not is_given and is_known and index < len(args):
                value, index = args[index], index + 1
            yield name, value
            continue
        letters = word[1:]
        for at, letter in enumerate(letters):
            if letter in program.hosts or letter in program.valued:
                value = letters[at + 1 :]
                if not value and index < len(args):
                    value, index = args[index], index + 1
                yield letter, value
                break
