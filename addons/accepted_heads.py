"""Remembers whose heads the gateway has accepted, so that not every large body needs a call to its process before it.

`open` checks each request again: a key that was revoked meanwhile can have a body read, and nothing done with it.
"""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from secrets import token_bytes
from time import monotonic

from gateway.auth.credentials import CREDENTIAL_HEADERS
from gateway.auth.query_key import take_keys
from gateway.exchange.messages import Call
from gateway.models import Caller


class AcceptedHeads:
    """Holds at most `most` accepted heads, each for `seconds`, under a keyed hash of the credentials."""

    def __init__(self, *, seconds: float = 60.0, most: int = 1024, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._key = token_bytes(32)
        self._heads: OrderedDict[bytes, tuple[float, Caller]] = OrderedDict()

    def find(self, call: Call) -> Caller | None:
        """Returns the caller, if the head was accepted."""
        until, caller = self._heads.get(self._name(call), (0.0, None))
        return caller if self._clock() < until else None

    def add(self, call: Call, caller: Caller | None) -> None:
        """Remembers a head, unless it belongs to no caller: public pages have a limit of their own."""
        if caller is None:
            return
        name = self._name(call)
        self._heads.pop(name, None)
        self._heads[name] = (self._clock() + self._seconds, caller)
        if len(self._heads) > self._most:
            self._heads.popitem(last=False)

    def _name(self, call: Call) -> bytes:
        credentials = sorted((name.lower(), value) for name, value in call.fields if name.lower() in CREDENTIAL_HEADERS)
        _, in_query = take_keys(call.path.partition("?")[2])
        needs_key = bool(call.wire) or call.path.startswith("/v1/")
        known = repr((call.listener.value, needs_key, credentials, in_query)).encode()
        return blake2b(known, digest_size=16, key=self._key).digest()
