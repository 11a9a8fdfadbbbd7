"""Signs requests with AWS credentials (Signature Version 4).

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import quote, urlsplit

from gateway.http.types import Field

_ALGORITHM = "AWS4-HMAC-SHA256"
_PORTS = {"http": 80, "https": 443}
# Also of endpoints in a VPC.
_HOST = re.compile(r"(?:[\w-]+\.)?bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:(?:vpce\.)?amazonaws\.com|api\.aws)\Z")


def region_of(host: str) -> str | None:
    """Returns the region that the name of one of Bedrock's hosts says."""
    match = _HOST.match(host)
    return match[1] if match is not None else None


@dataclass(frozen=True, slots=True)
class AwsSigner:
    """AWS credentials, and the region and service that they sign for."""

    access_key_id: str = field(repr=False)
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(repr=False)
    region: str
    service: str = "bedrock"

    def signed(self, url: str, fields: Iterable[Field], body: bytes, now: datetime | None = None) -> list[Field]:
        """Returns the header fields of a POST request with a signature of the body, the host and what is AWS's own."""
        time = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
        sent = [*fields, (b"x-amz-date", time.encode())]
        if self.session_token is not None:
            sent.append((b"x-amz-security-token", self.session_token.encode()))
        place = urlsplit(url)
        own = [(name.lower().decode(), value.decode("latin-1").strip()) for name, value in sent]
        signed = sorted(
            [("host", _host(url)), *(each for each in own if each[0].startswith(("content-type", "x-amz")))]
        )
        names = ";".join(name for name, _ in signed)
        request = [
            "POST",
            quote(place.path or "/", safe="/~"),
            "&".join(sorted(place.query.split("&"))),
            *(f"{name}:{' '.join(value.split())}" for name, value in signed),
            "",
            names,
            sha256(body).hexdigest(),
        ]
        scope = f"{time[:8]}/{self.region}/{self.service}/aws4_request"
        text = "\n".join((_ALGORITHM, time, scope, sha256("\n".join(request).encode()).hexdigest()))
        signature = _chained(f"AWS4{self.secret_access_key}".encode(), (*scope.split("/"), text)).hex()
        credential = f"{_ALGORITHM} Credential={self.access_key_id}/{scope}"
        return [*sent, (b"authorization", f"{credential}, SignedHeaders={names}, Signature={signature}".encode())]


def _host(url: str) -> str:
    """Returns the field `Host` of a request to a URL."""
    place = urlsplit(url)
    name = place.hostname or ""
    name = f"[{name}]" if ":" in name else name
    return name if place.port in {None, _PORTS[place.scheme]} else f"{name}:{place.port}"


def _chained(key: bytes, texts: Sequence[str]) -> bytes:
    for text in texts:
        key = hmac.digest(key, text.encode(), "sha256")
    return key
