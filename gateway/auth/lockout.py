"""Slows down addresses that guess keys.

It never concerns a valid key, so a client locks out no other one behind the same address. Generated keys are 256 random
bits, which nobody guesses; a lock-out tells programs that send nonsense to stop, and spares the gateway their requests.
"""

import ipaddress
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from gateway.errors import TooManyRequests
from gateway.http.types import Address

_FREE = 20
"""Guesses without consequence: clients are configured wrongly, too."""
_LONGEST_SECONDS = 900.0
_SECONDS_TO_FORGIVE = 10.0
"""How long an address has to send no other wrong key for one to be forgiven."""
_MOST_ADDRESSES = 10_000
_IPV6_NETWORK = 64


@dataclass(slots=True)
class _Guesses:
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=_FREE))
    count: int = 0
    latest: float = 0.0
    locked_until: float = 0.0


class Lockout:
    """The guesses of each address. A wrong key that is sent again is no other guess, and is refused as the first time.

    Each guess beyond the free ones locks the address out for twice as long as the one before. Thread-safe.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guesses: OrderedDict[str, _Guesses] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, client: Address, secret: str) -> None:
        """Counts a wrong key. Raises TooManyRequests while the address is locked out, without counting."""
        now = self._clock()
        with self._lock:
            guesses = self._of(_network(client), now)
            # Python's hash is keyed anew in each process, so what is remembered says nothing about the secret.
            guess = hash(secret)
            if guess in guesses.recent:
                guesses.recent.remove(guess)
                guesses.recent.append(guess)
                return
            if now < guesses.locked_until:
                raise TooManyRequests(
                    "Too many invalid keys came from this address. Send a valid key, or wait.",
                    code="locked_out",
                    retry_after=math.ceil(guesses.locked_until - now),
                )
            guesses.recent.append(guess)
            guesses.count, guesses.latest = guesses.count + 1, now
            if guesses.count > _FREE:
                guesses.locked_until = now + min(2.0 ** min(guesses.count - _FREE - 1, 64), _LONGEST_SECONDS)

    def _of(self, network: str, now: float) -> _Guesses:
        guesses = self._guesses.pop(network, None) or _Guesses()
        idle = now - max(guesses.latest, guesses.locked_until)
        if (forgiven := int(idle / _SECONDS_TO_FORGIVE)) > 0:
            guesses.count = max(0, guesses.count - forgiven)
            guesses.latest = now
        self._guesses[network] = guesses
        if len(self._guesses) > _MOST_ADDRESSES:
            self._guesses.popitem(last=False)
        return guesses

    def __len__(self) -> int:
        """Returns how many addresses it remembers."""
        return len(self._guesses)


def _network(client: Address) -> str:
    """Returns the address, or for IPv6 the network, all of whose addresses one client may have."""
    host = client[0].partition("%")[0] if client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    if address.version == 6 and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return host if address.version == 4 else str(ipaddress.ip_network((address, _IPV6_NETWORK), strict=False))
