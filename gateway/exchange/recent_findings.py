"""Remembers for minutes where something was hidden in recent requests, so that their callers can ask why.

Holds types, offsets, placeholders and what the reasons follow from, never text. What callers get are positions in the
protected body, without the length of any value.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple

from gateway.errors import GatewayError, NotFound
from gateway.models import Action, Caller, Transformation
from gateway.protection.applied_corrections import counted_as
from gateway.protection.protector import Protected
from gateway.protection.reasons import Reason, reason_of
from gateway.text.fields import KeyField, Span
from gateway.text.pointers import LOST, Lost, Steps, pointer, steps_to, without_own_names

# Bytes that a finding, a field and a request take, about.
_FINDING, _FIELD, _REQUEST = 350, 400, 700


type _Field = tuple[object, Steps | Lost, int, Sequence[int | None] | None, bool]
"""A string with findings, or a name of a member: its key, the way to what has it, the first finding, where they start,
and whether it is a name. Without the starts, the findings say so themselves."""


class LocatedFinding(NamedTuple):
    """A finding of a request. `start` is in the protected string, or name of a member, that `pointer` is for.

    In a refused request, nothing was protected: there is no `start`, and a pointer ends before a name that may be
    private. Without a pointer, the text is not in the body.
    """

    type: str
    pointer: str | None
    at: str
    start: int | None
    placeholder: str | None
    action: Action
    reason: Reason


class RequestFindings(NamedTuple):
    """The findings of a request, and the code of its refusal. `complete` is false if they were too many to keep."""

    findings: Sequence[LocatedFinding]
    complete: bool
    refusal: str | None


@dataclass(frozen=True, slots=True, repr=False)
class _Kept:
    """The findings of a request: their fields in order, and what became of each."""

    fields: Sequence[_Field]
    done: Sequence[Transformation]
    spans: Sequence[Span]
    refusal: str | None
    complete: bool = True

    def size(self) -> int:
        """Returns the bytes that it takes, about."""
        names = 0
        for key, way, *_ in self.fields:
            names += len(key) if type(key) is str else 0
            steps = way if isinstance(way, tuple) else None
            while steps is not None:
                name, steps = steps
                names += len(name) if type(name) is str else 0
        return _REQUEST + _FIELD * len(self.fields) + _FINDING * len(self.spans) + names


@dataclass(kw_only=True, repr=False)
class RecentFindings:
    """Findings by key and request, in memory only, for `seconds`.

    A key has at most `requests` requests and `own_bytes`, and all keys together `all_bytes`, of which the oldest are
    forgotten first. A request with more than `request_bytes` is kept without findings, and nothing is for callers
    without a gateway key.
    """

    requests: int = 64
    request_bytes: int = 512 << 10
    own_bytes: int = 2 << 20
    all_bytes: int = 16 << 20
    seconds: float = 600
    clock: Callable[[], float] = monotonic
    _kept: OrderedDict[tuple[str, str], tuple[_Kept, float, int]] = field(default_factory=OrderedDict, init=False)
    _own: dict[str, OrderedDict[str, int]] = field(default_factory=dict, init=False)
    _size: int = field(default=0, init=False)

    def add(self, caller: Caller, request_id: str, protected: Protected, body: Any) -> None:
        """Remembers what was hidden in a request, whose protected body this is."""
        places, protected.places = protected.places, []
        if not caller.has_key:
            return
        ways = steps_to(body, {id(each.container) for each, _ in places}) if places else {}
        fields: list[_Field] = [
            (each.key, ways.get(id(each.container), LOST), first, each.starts, isinstance(each, KeyField))
            for each, first in places
        ]
        if keys := [each for each, _ in places if isinstance(each, KeyField)]:
            # Other fields still have the name that was hidden.
            names = {(id(each.container), each.key): each.protected()[0] for each in keys}
            own = [(id(each.container), each.key) for each, _ in places]
            fields = [(names.get(was, each[0]), *each[1:]) for was, each in zip(own, fields, strict=True)]
        self._keep(caller, request_id, _Kept(fields, protected.transformations, protected.replaced, None))

    def refuse(self, caller: Caller, request_id: str, error: GatewayError, body: Any) -> None:
        """Remembers what was found in a request that its policy does not let leave, whose body this is."""
        found, error.found_in = error.found_in, ()
        if not found or not caller.has_key:
            return
        ways = steps_to(body, {id(each.container) for each, _ in found})
        fields: list[_Field] = []
        spans: list[Span] = []
        for each, own in found:
            way = ways.get(id(each.container), LOST)
            if way is not LOST and (steps := without_own_names((each.key, way))) is not None:
                key, way = steps
                fields.append((key, way, len(spans), [None] * len(own), False))
            else:
                fields.append(("", LOST, len(spans), [None] * len(own), False))
            spans += own
        self._keep(caller, request_id, _Kept(fields, (), spans, error.code))

    def get(self, caller: Caller, request_id: str) -> RequestFindings:
        """Returns the findings of one of the caller's own requests. Raises NotFound for any other."""
        self._forget()
        entry = self._kept.get((caller.key_id, request_id)) if caller.has_key else None
        if entry is None:
            message = "No findings of such a request are known. Ask within minutes, with the key that sent it."
            raise NotFound(message, code="findings_not_found")
        return RequestFindings([*_shown(entry[0])], entry[0].complete, entry[0].refusal)

    def _keep(self, caller: Caller, request_id: str, kept: _Kept) -> None:
        owner, size = caller.key_id, kept.size()
        if size > self.request_bytes:
            kept, size = _Kept((), (), (), kept.refusal, complete=False), _REQUEST
        self._drop(owner, request_id)
        self._kept[owner, request_id] = kept, self.clock() + self.seconds, size
        own = self._own.setdefault(owner, OrderedDict())
        own[request_id] = size
        self._size += size
        while len(own) > self.requests or sum(own.values()) > self.own_bytes:
            self._drop(owner, next(iter(own)))
        self._forget()

    def _forget(self) -> None:
        now = self.clock()
        while self._kept:
            (owner, request_id), (_, until, _) = next(iter(self._kept.items()))
            if until > now and self._size <= self.all_bytes:
                return
            self._drop(owner, request_id)

    def _drop(self, owner: str, request_id: str) -> None:
        if (entry := self._kept.pop((owner, request_id), None)) is not None:
            self._size -= entry[2]
            del self._own[owner][request_id]
            if not self._own[owner]:
                del self._own[owner]


def counted_reasons(protected: Protected) -> Sequence[tuple[str, str, int]]:
    """Returns how often a type was hidden for a reason. Types that only the caller knows are counted as one."""
    found = Counter((counted_as(one.type, protected.own_types), reason_of(one).value) for one in protected.hidden)
    return [(type, reason, count) for (type, reason), count in sorted(found.items())]


def _shown(kept: _Kept) -> Iterator[LocatedFinding]:
    ends = [*(each[2] for each in kept.fields), len(kept.spans)][1:]
    for (key, way, first, starts, in_name), end in zip(kept.fields, ends, strict=True):
        where = None if way is LOST else pointer((key, way))
        for number in range(first, end):
            span, done = kept.spans[number], kept.done[number] if kept.done else None
            start = starts[number - first] if starts is not None else done.protected_start if done else None
            placeholder = done.placeholder if done else None
            at = "name" if in_name else "value"
            yield LocatedFinding(span.type, where, at, start, placeholder, span.action, reason_of(span))
