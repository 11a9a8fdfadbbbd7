"""URLs (RFC 3986), which a policy may keep, and the credentials in them: `user:password@`, and values of parameters."""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table
from gateway.detection.recognizers.secrets._value_classifier import is_made, is_stand_in, is_strong

URL = EntityType("URL", "network", "The address of a web page or service, or a domain name.")
URL_WITH_CREDENTIALS = EntityType(
    "URL_WITH_CREDENTIALS", "secret", "A password, token or signature in a URL, with its user."
)
CONNECTION_STRING = EntityType(
    "CONNECTION_STRING", "secret", "User and password in the address of a database, a queue or another service."
)

_STOP = r"\s<>\"'`{}|\\^"


def _pair(value: str) -> bool | None:
    user, colon, password = value.partition(":")
    return False if is_stand_in(password if colon else user) or password == user or "/" in user else None


def _strong_pair(value: str) -> bool | None:
    return None if is_strong(value.partition(":")[2]) else False


def _made(value: str) -> bool | None:
    return None if is_made(value) else False


RECOGNIZERS = pattern_table(
    __file__,
    (URL, URL_WITH_CREDENTIALS, CONNECTION_STRING),
    {"pair": _pair, "strong_pair": _strong_pair, "made": _made},
    stop=_STOP,
    rest=rf"[^{_STOP}]*[^{_STOP}.,;:!?)\]]",
)
