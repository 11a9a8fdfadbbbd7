"""URLs (RFC 3986): plain ones, which a policy may keep, and those that contain a credential, which it should hide."""

from collections.abc import Iterator, Sequence

from gateway.detection.entropy import entropy, word_set
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._pattern_table import pattern_table
from gateway.detection.recognizers._samples import HEX, sample

URL = EntityType("URL", "network", "The address of a web page or service, or a domain name.")
URL_WITH_CREDENTIALS = EntityType(
    "URL_WITH_CREDENTIALS", "secret", "A URL that contains a password, token or signature."
)
CONNECTION_STRING = EntityType("CONNECTION_STRING", "secret", "The address of a database or queue with its password.")

_STOP = r"\s<>\"'`{}|\\^"
_REST = rf"[^{_STOP}]*[^{_STOP}.,;:!?)\]]"
_PARAMETERS = (
    "access[_-]?token|auth[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|token|api[_-]?key|apikey|key|sig|signature"
    "|secret|client[_-]?secret|password|passwd|pwd|auth|x-amz-signature|x-goog-signature|subscription-key|code|session(?:_?id)?|sid"
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
    *pattern_table(
        __file__,
        (URL, URL_WITH_CREDENTIALS, CONNECTION_STRING),
        {"real_password": _real_password},
        stop=_STOP,
        rest=_REST,
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
