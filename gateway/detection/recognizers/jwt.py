"""JSON Web Tokens and JSON Web Encryption in compact form (RFC 7519, 7515, 7516). The header must decode."""

import base64
import binascii
import json

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

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


RECOGNIZERS = pattern_table(__file__, (JWT,), {"header_decodes": _header_decodes})
