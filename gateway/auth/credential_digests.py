"""Digests of providers' credentials, which tell operators which credential made which calls, without the credential."""

import hmac
from collections.abc import Mapping

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.auth.signatures import is_signature

LONGEST_CREDENTIAL = 16_384
"""Characters of a credential to digest. A token may be long."""

# The first one that a call has counts.
_HEADERS = (b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key")


class CredentialDigests:
    """Makes the digests of one installation (HMAC-SHA256 with a key of their own, derived by HKDF, RFC 5869)."""

    def __init__(self, installation_key: bytes) -> None:
        salt, info = b"privacy-gateway", b"provider credentials v1"
        key = HKDF(SHA256(), 32, salt=salt, info=info).derive(installation_key)
        self._keyed = hmac.new(key, digestmod="sha256")

    def digest(self, credential: bytes) -> str:
        """Returns the digest of a credential, with or without the scheme before it; empty for an empty one."""
        secret = credential.strip().rpartition(b" ")[2]
        if not secret:
            return ""
        mac = self._keyed.copy()
        mac.update(secret)
        return "cred_" + mac.hexdigest()[:16]

    def of_call(self, given: Mapping[bytes, bytes]) -> str:
        """Returns the digest of the credential among header fields, whose names are in lower case; empty without one.

        The signatures of AWS differ from request to request, and have none.
        """
        found = (given[name] for name in _HEADERS if name in given and not is_signature(given[name]))
        return next(filter(None, map(self.digest, found)), "")
