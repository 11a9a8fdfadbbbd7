"""JSON Web Tokens and JSON Web Encryption in compact form (RFC 7519, 7515, 7516). The header must decode."""

import base64
import binascii
import json

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._samples import URL_SAFE, sample

JWT = EntityType("JWT", "secret", "A JSON Web Token.")


_LONG_ENOUGH = 17


def _header_decodes(value: str) -> bool | None:
    header, _, rest = value.partition(".")
    try:
        decoded = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (binascii.Error, ValueError):
        # A token with a copying error still reveals its content.
        payload, _, signature = rest.partition(".")
        whole = payload.startswith("ey") and min(len(header), len(payload)) > _LONG_ENOUGH and len(signature) >= 5
        return None if whole else False
    return isinstance(decoded, dict) and bool({"alg", "typ", "enc"} & decoded.keys())


_head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
_token = f"{_head}.{sample(40, URL_SAFE)}.{sample(43, URL_SAFE)}"

RECOGNIZERS = (
    PatternRecognizer(
        "jwt",
        JWT,
        (
            Pattern(
                r"\bey[A-Z][A-Za-z0-9_\-]{8,}={0,2}\.[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]*){0,3}={0,2}",
                0.9,
                prefilter=r"\bey[A-Z][A-Za-z0-9_\-]{8}",
            ),
        ),
        validator=_header_decodes,
        blobs=True,
        examples=(Example(f"Bearer {_token} is it", _token, score=1.0),),
        counter_examples=("eyJhbGciOiJIUzI1.", "eyJub3RoaW5n.eyJub3RoaW5n.abc", f"{_head} alone"),
    ),
)
