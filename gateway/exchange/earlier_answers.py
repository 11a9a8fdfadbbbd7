"""Remembers the placeholders of answers that a later request may continue without sending their texts again."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

from gateway.errors import NotFound
from gateway.models import Caller
from gateway.placeholders import Known

_LONGEST_NAME = 256
_MOST_CALLERS = 1_000


@dataclass(frozen=True, slots=True, repr=False)
class Earlier:
    """The values of an answer's session, and the protected forms of the URLs in its source texts.

    `key` is the placeholder key of the conversation, if later turns are to have the same.
    """

    known: tuple[Known, ...] = ()
    urls: frozenset[str] = frozenset()
    until: float = 0
    key: bytes = b""

    def __repr__(self) -> str:
        return f"Earlier({len(self.known)} values)"


NOTHING = Earlier()


@dataclass(kw_only=True, repr=False)
class EarlierAnswers:
    """Holds values in memory only, for `seconds`, under the caller, the provider and the name of the answer.

    A caller has at most `answers` answers with `values` values, of which the oldest is forgotten first, and loses none
    to others. Nothing is kept for callers that cannot be told apart. Invented provider credentials can replace each
    other, but no gateway key.
    """

    answers: int = 256
    values: int = 10_000
    seconds: float = 3600
    clock: Callable[[], float] = monotonic
    _kinds: dict[str, OrderedDict[str, OrderedDict[tuple[str, str], Earlier]]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def remember(
        self, caller: Caller, provider: str, names: Iterable[str], known: tuple[Known, ...], urls: frozenset[str]
    ) -> None:
        """Remembers the values of an answer under each of its names."""
        owner = caller.remembered_as
        if owner is None or len(known) > self.values:
            return
        with self._lock:
            now = self.clock()
            self._forget(now)
            callers = self._kinds.setdefault(owner.partition("_")[0], OrderedDict())
            own = callers.pop(owner, OrderedDict())
            if len(callers) >= _MOST_CALLERS:
                callers.popitem(last=False)
            callers[owner] = own
            for name in names:
                if len(name) <= _LONGEST_NAME:
                    own.pop((provider, name), None)
                    own[provider, name] = Earlier(known, urls, now + self.seconds)
            while len(own) > self.answers or sum(len(each.known) for each in own.values()) > self.values:
                own.popitem(last=False)

    def get(self, caller: Caller, provider: str, name: str, *, needed: bool = False) -> Earlier:
        """Returns what is remembered of an answer, which may be nothing.

        Raises NotFound (`thread_not_found`) instead of nothing if it is `needed`.
        """
        if not name:
            return NOTHING
        with self._lock:
            self._forget(self.clock())
            found = self._of(caller).get((provider, name), NOTHING)
        if needed and found is NOTHING:
            message = "The gateway does not remember this thread; send the whole conversation again, as a new thread."
            raise NotFound(message, code="thread_not_found", param="thread")
        return found

    def provider(self, caller: Caller, name: str) -> str:
        """Returns who gave an answer, if it is remembered, else an empty string."""
        with self._lock:
            self._forget(self.clock())
            return next((provider for provider, known in reversed(self._of(caller)) if known == name), "")

    def _of(self, caller: Caller) -> OrderedDict[tuple[str, str], Earlier]:
        owner = caller.remembered_as or ""
        return self._kinds.get(owner.partition("_")[0], OrderedDict()).get(owner, OrderedDict())

    def _forget(self, now: float) -> None:
        for callers in self._kinds.values():
            for owner, own in [*callers.items()]:
                while own and next(iter(own.values())).until <= now:
                    own.popitem(last=False)
                if not own:
                    del callers[owner]
