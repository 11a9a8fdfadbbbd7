"""Digests of protected values, by which operators find the receipts of a value. No value can be read from one."""

import hmac
from collections.abc import Iterable, Sequence

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.protection.folding import folded
from gateway.receipt_log.value_search import SoughtValue
from gateway.store.rows import MORE_VALUES

MOST_VALUES = 256
"""Maximum number of values of a request that are digested: the last ones, since earlier turns' receipts have most of
the others.
"""

LONGEST_VALUE = 4096
"""Characters of a value to look for."""

_SIZE = 16


class ValueDigests:
    """Makes the digests of one installation (HMAC-SHA256 with a key of their own, derived by HKDF, RFC 5869)."""

    def __init__(self, installation_key: bytes) -> None:
        salt, info = b"privacy-gateway", b"receipts find v1"
        key = HKDF(SHA256(), 32, salt=salt, info=info).derive(installation_key)
        # Not `hmac.digest`, which gives up the interpreter lock for each value and then waits for it.
        self._keyed = hmac.new(key, digestmod="sha256")
        self.mark = self._digest(b"mark")
        """Tells this key from others."""

    def digest(self, value: str) -> bytes:
        """Returns the digest of a value, the same in every spelling that `folded` makes the same."""
        return self._digest(b"value\0" + folded(value).encode())

    def of_all(self, owner: str, kind: str, values: Iterable[Iterable[str]]) -> str:
        """Returns one digest, in hex, of the corrections of a kind that had an effect on a request of `owner`."""
        members = [owner, kind, *(member for value in values for member in value)]
        parts = (member.encode() for member in members)
        return self._digest(b"corrections\0" + b"".join(len(part).to_bytes(4) + part for part in parts)).hex()

    def sought(self, value: str) -> SoughtValue:
        """Returns what finds the receipts of a value."""
        return SoughtValue(self.digest(value), self.mark)

    def digests(self, values: Sequence[str]) -> list[bytes]:
        """Returns the digests of the last `MOST_VALUES` values, and `MORE_VALUES` if there are more."""
        found = {self.digest(value) for value in values[-MOST_VALUES:]}
        if len(values) > MOST_VALUES:
            found.add(MORE_VALUES)
        return sorted(found)

    def _digest(self, content: bytes) -> bytes:
        mac = self._keyed.copy()
        mac.update(content)
        return mac.digest()[:_SIZE]
