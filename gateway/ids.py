"""Makes request ids, which start with `req_`."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from secrets import token_bytes

# Hashing a counter with a random key gives ids as unique and unguessable as random bits, without a system call each.
_key = token_bytes(32)
_COUNT = itertools.count()
_current: ContextVar[str | None] = ContextVar("_current", default=None)


def _renew() -> None:
    """Changes the key in a forked process, which would otherwise repeat its parent's ids."""
    global _key  # noqa: PLW0603 - the only writer
    _key = token_bytes(32)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def new_request_id() -> str:
    """Returns a new request id: `req_` and 128 bits in hex."""
    return "req_" + blake2b(next(_COUNT).to_bytes(8), key=_key, digest_size=16).hexdigest()


@contextmanager
def serving(request_id: str) -> Iterator[None]:
    """Makes `request_id` the id of the request that the current task serves."""
    token = _current.set(request_id)
    try:
        yield
    finally:
        _current.reset(token)


def current_request_id() -> str:
    """Returns the id of the request that the current task serves; a new one outside of requests."""
    return _current.get() or new_request_id()
