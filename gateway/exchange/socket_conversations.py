"""Keeps the conversations of open WebSocket connections.

Clients name an earlier answer of their connection and send only what is new. What the model wrote is never sent again,
so its placeholders are restored from here, also if the provider stores nothing.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from gateway.exchange.earlier_answers import Earlier

_LONGEST_NAME = 256


@dataclass(repr=False)
class _Conversations:
    provider: str
    answers: OrderedDict[str, Earlier] = field(default_factory=OrderedDict)


@dataclass(kw_only=True, repr=False)
class SocketConversations:
    """Holds values in memory only, until their connection ends, under the name of the answer.

    A connection has at most `answers` answers with `values` values. The oldest is forgotten first; the newest stays.
    """

    connections: int = 100_000
    answers: int = 64
    values: int = 10_000
    _open: OrderedDict[str, _Conversations] = field(default_factory=OrderedDict, init=False)

    def begin(self, connection: str, provider: str) -> None:
        """Adds a connection, which only this provider answers."""
        self._open[connection] = _Conversations(provider)
        if len(self._open) > self.connections:
            self._open.popitem(last=False)

    def end(self, connection: str) -> None:
        """Forgets all of a connection. Does nothing for an unknown one."""
        self._open.pop(connection, None)

    def provider(self, connection: str) -> str | None:
        """Returns who answers on a connection; None for an unknown one."""
        known = self._open.get(connection)
        return known.provider if known is not None else None

    def remember(self, connection: str, names: Iterable[str], answer: Earlier) -> None:
        """Remembers an answer under each of its names, unless the connection has ended."""
        known = self._open.get(connection)
        if known is None:
            return
        for name in names:
            if len(name) <= _LONGEST_NAME:
                known.answers.pop(name, None)
                known.answers[name] = answer
        while len(known.answers) > 1 and (
            len(known.answers) > self.answers or sum(len(each.known) for each in known.answers.values()) > self.values
        ):
            known.answers.popitem(last=False)

    def get(self, connection: str, name: str) -> Earlier | None:
        """Returns an answer of a connection, if it is remembered."""
        known = self._open.get(connection)
        return known.answers.get(name) if known is not None else None
