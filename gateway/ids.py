"""Identifiers with a prefix that says what they name: `req_`, `vs_`, `key_`."""

import itertools
from hashlib import blake2b
from secrets import token_bytes

# A keyed counter: as unique and as hard to guess as random bits, without asking the system for them each time.
_KEY = token_bytes(32)
_COUNT = itertools.count()


def new_request_id() -> str:
    """A fresh request id: `req_` and 128 bits in hex."""
    return "req_" + blake2b(next(_COUNT).to_bytes(8), key=_KEY, digest_size=16).hexdigest()
