"""Recognizes requests with an AWS signature (SigV4 or SigV4A), which a change of the body or of a header breaks."""

from collections.abc import Iterable
from urllib.parse import unquote_plus

from gateway.errors import BadRequest
from gateway.http.types import Field

_SCHEMES = (b"aws4-hmac-sha256", b"aws4-ecdsa-p256-sha256")
# Parameters of a URL that is itself signed.
_PARAMETERS = frozenset({"x-amz-signature", "x-amz-algorithm"})
_MESSAGE = (
    "Requests with an AWS signature cannot be protected, since hiding private text breaks the signature; nothing was "
    "sent. Use a Bedrock API key instead (set `AWS_BEARER_TOKEN_BEDROCK`), or have the operator give the gateway AWS "
    "credentials for an upstream with this host (`aws_access_key_id`), or take the host out of `intercept_hosts`: then "
    "nothing that is sent there is protected."
)


def is_signature(authorization: bytes) -> bool:
    """Tells whether a value of `Authorization` is a signature."""
    return authorization.strip().lower().startswith(_SCHEMES)


def is_signed(fields: Iterable[Field]) -> bool:
    """Tells whether a request is signed in a header."""
    return any(name.lower() == b"authorization" and is_signature(value) for name, value in fields)


def refuse_signed(fields: Iterable[Field], query: str, *, signs_anew: bool = False) -> None:
    """Raises BadRequest (`signature_not_supported`) for a request that is signed in a header or in its query.

    With `signs_anew`, its destination decides about a signature in a header.
    """
    signed = not signs_anew and is_signed(fields)
    if not signed and query:
        names = (unquote_plus(part.partition("=")[0]).lower() for part in query.split("&"))
        signed = any(name in _PARAMETERS for name in names)
    if signed:
        raise not_supported()


def not_supported() -> BadRequest:
    """Returns the error for a signed request that nothing signs anew."""
    return BadRequest(_MESSAGE, code="signature_not_supported", param="Authorization")
