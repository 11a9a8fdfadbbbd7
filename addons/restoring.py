"""The answer on its way to the client: collected, restored, handed on, while the flow keeps what the upstream sent."""

import logging
from collections.abc import Callable, Sequence

from gateway.codings import decode
from gateway.errors import GatewayError

_log = logging.getLogger(__name__)


class AnswerStream:
    """Given to mitmproxy as `flow.response.stream`: called with each chunk, and with b"" at the end.

    It never raises, since that would cut the answer short. What cannot be restored, or is too long to hold, goes to
    the client as the upstream sent it: protected. Only a compressed answer that does not decode ends empty.
    `received` is the answer as the upstream sent it, its content coding undone.
    """

    def __init__(
        self, restore: Callable[[bytes], bytes], coding: str | None, limit: int, secrets: Sequence[bytes] = ()
    ) -> None:
        self._restore = restore
        self._coding = coding
        self._limit = limit
        self._secrets = secrets
        self._held: list[bytes] = []
        self._size = 0
        self._overflowed = False
        self.received = b""

    def __call__(self, chunk: bytes) -> bytes | list[bytes]:
        if chunk:
            return self._take(chunk)
        held = b"".join(self._held)
        self._held.clear()
        if self._overflowed or not held:
            return b""
        try:
            self.received = decode(held, self._coding, self._limit)
            for secret in self._secrets:
                # Some upstreams quote the key they refuse; neither the client nor an operator is to read it.
                self.received = self.received.replace(secret, b"[credential]")
        except GatewayError as error:
            _log.warning("an answer could not be decoded: %s", error.code)
            return b""
        try:
            return self._restore(self.received)
        except Exception as error:  # noqa: BLE001 - never raises: the protected answer is the safe one
            _log.error("restoring an answer failed: %s", type(error).__name__)
            return self.received

    def _take(self, chunk: bytes) -> bytes | list[bytes]:
        if self._overflowed:
            return b"" if self._coding else chunk
        self._held.append(chunk)
        self._size += len(chunk)
        if self._size <= self._limit:
            return []
        self._overflowed = True
        held = b"".join(self._held)
        self._held.clear()
        return b"" if self._coding else held
