"""Addresses of any scheme with a user and a password in them (RFC 3986, section 3.2.1). Those of the web and of the
databases are found as what they are; this is for all the others.
"""

from gateway.detection.recognizer import Example, Pattern, PatternRecognizer
from gateway.detection.recognizers.secrets._value_classifier import is_stand_in, is_strong
from gateway.detection.recognizers.url import CONNECTION_STRING

_STOP = r"\s<>\"'`{}|\\^"


def _has_password(value: str) -> bool | None:
    user, _, password = value.partition("://")[2].rpartition("@")[0].partition(":")
    if is_stand_in(password) or password == user or "/" in user:
        return False
    return None


def _opens_host(value: str) -> bool | None:
    user, _, password = value.rpartition("@")[0].partition(":")
    if "(" in value:
        return False if is_stand_in(password) or password == user else None
    return None if is_strong(password) else False


RECOGNIZERS = (
    PatternRecognizer(
        "connection.no_scheme",
        CONNECTION_STRING,
        (
            Pattern(
                rf"\b[\w.\-]+:[^\s:/\"'`<>]+@(?:tcp|udp|unix)\([^{_STOP}()]*\)(?:/[^{_STOP}]*)?",
                0.9,
                gate=r":[^\s/@:]+@(?:tcp|udp|unix)\(",
            ),
            # Of a proxy, or without its scheme: `jane:…@host:8080`.
            Pattern(
                r"\b[\w.\-]+:[^\s:/@\"'`<>]+@[\w\-]+(?:\.[\w\-]+)*:\d{2,5}\b", 0.85, gate=r":[^\s/@:]+@[\w.\-]+:\d\d"
            ),
        ),
        validator=_opens_host,
        blobs=True,
        examples=(
            Example('sql.Open("mysql", "jane:' + 'Wat3rfall@tcp(db:3306)/shop")', "jane:Wat3rfall@tcp(db:3306)/shop"),
        ),
        counter_examples=("user:password@tcp(db:1)/x", "%s:%s@tcp(%s)/%s", "web:v1.2@sha256:12ab", "to:jane@a.io:25"),
    ),
    PatternRecognizer(
        "connection.any_scheme",
        CONNECTION_STRING,
        (
            Pattern(
                rf"\b[A-Za-z][A-Za-z0-9+.\-]{{1,24}}://[^{_STOP}/@:]{{0,128}}"
                rf":[^\s/\"'`<>]{{1,256}}@[^{_STOP}]*[^{_STOP}.,;:!?)\]]",
                0.9,
                gate=r"://[^\s/@:]*:[^\s/]+@",
            ),
        ),
        validator=_has_password,
        blobs=True,
        examples=(
            Example("mount smb://jane:" + "Wat3rfall@nas/share now", "smb://jane:" + "Wat3rfall@nas/share"),
            Example("x = 'foo+tls://:" + "Wat3rfall@host:99/1'", "foo+tls://:" + "Wat3rfall@host:99/1"),
        ),
        counter_examples=(
            "redis://user:password@host",
            "proto://${USER}:${PASS}@host",
            "http://localhost:8080/@jane",
            "urn://a:b",
        ),
    ),
)
