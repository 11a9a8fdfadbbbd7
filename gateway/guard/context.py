"""Facts by which the guard judges an answer: the session, the request, and recognizers' findings in the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from gateway.destinations.trust import Source, UntrustedDestinations
from gateway.detection import EntityType
from gateway.guard.session_values import SessionValues
from gateway.models import Entity
from gateway.placeholders import Placeholders, RestoreScope


@dataclass(frozen=True)
class GuardContext:
    """The request of an answer. `request` is its text as sent to the provider: protected, JSON or plain text.

    `entities[i]` are the recognizers' candidates in the text of part i, found once and passed in; without them new
    sensitive values are not searched for.
    """

    placeholders: Placeholders
    scope: RestoreScope
    request: bytes = field(default=b"", repr=False)
    types: Mapping[str, EntityType] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    entities: Sequence[Sequence[Entity]] = field(default=(), repr=False)

    @cached_property
    def source(self) -> Source:
        return Source(self.request)

    @cached_property
    def untrusted(self) -> UntrustedDestinations:
        """Destinations in the text of an answer."""
        return UntrustedDestinations(Source(self.request, named_for=frozenset()), by_name=True)

    @cached_property
    def values(self) -> SessionValues:
        return SessionValues(self.placeholders, self.types)
