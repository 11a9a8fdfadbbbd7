"""URLs (RFC 3986): plain ones, which a policy may keep, and those that contain a credential, which it should hide."""

from collections.abc import Iterator, Sequence

from gateway.detection.alphabet import LETTERS
from gateway.detection.entropy import entropy, word_set
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import (
    EntityType,
    Example,
    FunctionRecognizer,
    Match,
    Pattern,
    PatternRecognizer,
    compile_pattern,
)
from gateway.detection.recognizers._samples import HEX, sample

URL = EntityType("URL", "network", "The address of a web page or service, or a domain name.")
URL_WITH_CREDENTIALS = EntityType(
    "URL_WITH_CREDENTIALS", "secret", "A URL that contains a password, token or signature."
)
CONNECTION_STRING = EntityType("CONNECTION_STRING", "secret", "The address of a database or queue with its password.")

_STOP = r"\s<>\"'`{}|\\^"
_REST = rf"[^{_STOP}]*[^{_STOP}.,;:!?)\]]"
_TOP = (
    "com|org|net|edu|gov|mil|info|biz|app|dev|cloud|online|site|shop|store|tech|xyz|ai|io|co|me|tv|eu|de|uk|fr|es|it|nl|be|ch|at"
    "|dk|se|no|fi|pl|cz|pt|ie|ca|us|mx|br|ar|au|nz|jp|cn|in|kr|za|ru|il"
)
_PARAMETERS = (
    "access[_-]?token|auth[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|token|api[_-]?key|apikey|key|sig|signature"
    "|secret|client[_-]?secret|password|passwd|pwd|auth|x-amz-signature|x-goog-signature|subscription-key|code|session(?:_?id)?|sid"
)
_USERINFO = r"[^\s/@:<>\"'`]*:[^\s/@<>\"'`]+@"
_DATABASES = (
    r"(?:postgres(?:ql)?|mysql|mariadb|mssql|sqlserver|oracle|mongodb|redis|rediss|amqps?|kafka|clickhouse|cockroachdb|cassandra"
    r"|couchdb|elasticsearch|neo4j|bolt|ldaps?|smtps?|imaps?|nats|mqtts?|memcached|snowflake|redshift|trino|db2)(?:\+[a-z0-9]+)*"
)
_WEB = compile_pattern(rf"\b(?i:https?|wss?)://{_REST}")
_SECRET = compile_pattern(rf"[?&#;](?i:{_PARAMETERS})=([^{_STOP}&#]{{8,}})")
_PLACEHOLDER_WORDS = word_set("password pass pwd user username secret token xxx xxxx changeme example your_password")


def _real_password(value: str) -> bool | None:
    password = value.split("://", 1)[1].rpartition("@")[0].partition(":")[2]
    if password.strip("*xX.") == "" or password.lower() in _PLACEHOLDER_WORDS or password[:1] in "<${[%":
        return False
    return None


def _find_tokens(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for match in _WEB.finditer(data):
        if any(_real_token(secret[1].decode()) for secret in _SECRET.finditer(match[0])):
            yield Match(match.start(), match.end(), 0.9, URL_WITH_CREDENTIALS.name)


def _real_token(value: str) -> bool:
    return len(set(value)) >= 5 and any(char.isdigit() for char in value) and entropy(value) > 2.5


_token = sample(24, HEX)

RECOGNIZERS = (
    PatternRecognizer(
        "url.plain",
        URL,
        (
            Pattern(
                rf"\b(?i:https?|ftps?|wss?|sftp)://(?:\[[0-9A-Fa-f:.%]+\]|[^{_STOP}/?#.:]*[.:]){_REST}",
                0.6,
                prefilter=r"(?i)\b(?:http|ftp|ws|sftp)s?://",
            ),
            # A single-word host is internal: http://intranet/page
            Pattern(
                rf"\b(?i:https?|ftps?|wss?|sftp)://{_REST}",
                0.4,
                prefilter=r"(?i)\b(?:http|ftp|ws|sftp)s?://",
            ),
            Pattern(
                rf"\b(?i:www)\.(?:[{LETTERS}\d\-]+\.)+[{LETTERS}]{{2,}}(?:[/?#:]{_REST})?",
                0.6,
                prefilter=r"(?i)\bwww\.[^\s.]",
            ),
            Pattern(
                rf"\b(?:[{LETTERS}\d][{LETTERS}\d\-]*\.)+(?:{_TOP})\b(?:/{_REST})?",
                0.4,
                prefilter=rf"[A-Za-z0-9]\.(?:{_TOP})\b",
            ),
        ),
        blobs=True,
        examples=(
            Example("see https://www.UEarly.se/a?b=1#c.", "https://www.UEarly.se/a?b=1#c"),
            Example("at http://[2001:db8::1]:80/path", "http://[2001:db8::1]:80/path"),
            Example("our site acme.co.uk is down", "acme.co.uk", score=0.3),
            Example("the wiki at http://intranet/page", "http://intranet/page", score=0.3),
        ),
        counter_examples=("README.md and main.py", "http://", "e.g. this", "node.js"),
    ),
    PatternRecognizer(
        "url.userinfo",
        URL_WITH_CREDENTIALS,
        (
            Pattern(
                rf"\b(?i:https?|ftps?|sftp|ssh|wss?|git)://{_USERINFO}{_REST}",
                0.95,
                prefilter=r"://[^\s/@:]*:[^\s/@]+@",
            ),
        ),
        validator=_real_password,
        blobs=True,
        examples=(
            Example(
                "clone https://jo:" + "s3cr3t" + "@git.acme.org/x.git now",
                "https://jo:" + "s3cr3t" + "@git.acme.org/x.git",
            ),
        ),
        counter_examples=(
            "https://user:password@host/",
            "https://${USER}:${PASS}@host/x",
            "https://acme.org:8080/@jane",
        ),
    ),
    PatternRecognizer(
        "url.connection_string",
        CONNECTION_STRING,
        (Pattern(rf"\b(?:jdbc:)?(?i:{_DATABASES})://{_USERINFO}{_REST}", 0.95, prefilter=r"://[^\s/@:]*:[^\s/@]+@"),),
        validator=_real_password,
        blobs=True,
        examples=(
            Example(
                "DB=postgresql+psycopg://app:" + "hunter2" + "@db:5432/x",
                "postgresql+psycopg://app:" + "hunter2" + "@db:5432/x",
            ),
            Example("redis://:" + "p4ss" + "@cache:6379/0", "redis://:" + "p4ss" + "@cache:6379/0"),
        ),
        counter_examples=("postgres://localhost:5432/x", "mysql://user:password@localhost/db"),
    ),
    FunctionRecognizer(
        "url.token",
        (URL_WITH_CREDENTIALS,),
        (rf"(?i)[?&#;](?:{_PARAMETERS})=[^\s&#]",),
        _find_tokens,
        examples=(
            Example(
                f"GET https://a.io/x?id=7&api_key={_token}&lang=en ok",
                f"https://a.io/x?id=7&api_key={_token}&lang=en",
            ),
        ),
        counter_examples=("https://a.io/x?key=subscription", "https://a.io/?code=abcdefgh"),
    ),
)
