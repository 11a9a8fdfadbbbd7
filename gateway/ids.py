"""Makes request ids, which start with `req_`."""

import itertools
import os
from hashlib import blake2b
from secrets import token_bytes

# Hashing a counter with a random key gives ids as unique and unguessable as random bits, without a system call each.
_key = token_bytes(32)
_COUNT = itertools.count()


def _renew() -> None:
    """Changes the key in a forked process, which would otherwise repeat its parent's ids."""
    global _key  # noqa: PLW0603 - the only writer
    _key = token_bytes(32)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def new_request_id() -> str:
    """Returns a new request id: `req_` and 128 bits in hex."""
    return "req_" + blake2b(next(_COUNT).to_bytes(8), key=_key, digest_size=16).hexdigest()
