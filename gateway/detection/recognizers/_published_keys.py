"""Keys that vendors publish in documentation and SDK sources, and that protect nothing. Stored as digests, so that
secret scanners do not report this file.

- Google: the keys in the tests of the Firebase SDK for Android, as listed by gitleaks (rule `gcp-api-key`,
  https://github.com/gitleaks/gitleaks/pull/1635).
- Stripe: the secret and publishable keys in its API reference, https://docs.stripe.com/api.
- Microsoft: the fixed keys of the Azure Storage and Cosmos DB emulators,
  https://learn.microsoft.com/azure/storage/common/storage-use-azurite and
  https://learn.microsoft.com/azure/cosmos-db/emulator.
"""

from hashlib import sha256

_DIGESTS = frozenset(
    """
    f56e323494a6ffc2 2037abcaffb2b777 3f370c9dd8225c63 e4a5542bb7fd7b67 a19f89ab3555eac1 0b476bdf9acf2123
    eb540d2b6ee2a0a4 37f8f09bdf12c2f2 8731261cb72d8626 49f777db995e8260 27a9a42931dff7eb dc0fcf046c61640c
    4c98242dcadc8b29 ea9bb1082cf95663 3a8b61d0f636b007 a6c814bc555ae62c
    2cafc0970149a84f b1471f544ceeea31
    0011cc25eb432071 aa6547439583c3a2
    """.split()
)
"""The first 16 digits of SHA-256, in hexadecimal."""
_LENGTHS = frozenset((32, 39, 88))
_LONGEST = max(_LENGTHS)


def is_published(value: str) -> bool:
    """Returns whether a value is a published key, with or without a preceding `AccountKey=`."""
    key = value[-_LONGEST:]
    return len(key) in _LENGTHS and sha256(key.encode()).hexdigest()[:16] in _DIGESTS
