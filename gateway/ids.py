"""Identifiers with a prefix that says what they name: `req_`, `vs_`, `key_`."""

import itertools
import os
from hashlib import blake2b
from secrets import token_bytes

# A keyed counter: as unique and as hard to guess as random bits, without asking the system for them each time.
_key = token_bytes(32)
_COUNT = itertools.count()


def _renew() -> None:
    """A forked process must not go on with the ids of its parent."""
    global _key  # noqa: PLW0603 - the one place
    _key = token_bytes(32)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def new_request_id() -> str:
    """A fresh request id: `req_` and 128 bits in hex."""
    return "req_" + blake2b(next(_COUNT).to_bytes(8), key=_key, digest_size=16).hexdigest()
