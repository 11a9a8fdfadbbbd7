"""Assigns units to compartments so that few identifiers of a person share one.

The linkage model: two identifiers of different kinds in one compartment may belong to one person, the more likely the
closer they are in the source. Identifiers that are kept link more than hidden ones. The linkage of a layout is the sum
over all pairs. The units are assigned in order, each where it adds least, with a small penalty for leaving the
compartment of the previous unit (compartments should read like texts) and for filling one early. Identifiers within one
unit cannot be separated and do not count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.sharding.units import Unit

_CLEAR, _HIDDEN = 2.0, 1.0
"""The weight of an identifier in a pair. A kept identifier can be looked up elsewhere, a placeholder cannot."""
_NEAR = 8.0
"""The distance in units at which a pair counts half."""
_LEAVING = 1.0
_FILLING = 0.5
_EVEN = 1.15
"""A compartment may exceed its even share by this factor while another has room."""
_JOINT = 2.5
"""Tokens of the blank line between two pieces of a compartment."""

_WORTH = 0.67
"""Each further compartment must reduce the linkage to less than this share."""
_LEAST_TOKENS = 40
"""Tokens that compartments must hold on average before another is added only to reduce the linkage."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`places[i]` is the compartment of unit i; every compartment from 0 to `count` - 1 has at least one."""

    places: tuple[int, ...]
    count: int
    linkage: float


type Kinds = Sequence[Mapping[str, bool]]
"""Per unit: the kinds of identifiers in it, and whether one of that kind stays in clear."""


def spread(units: Sequence[Unit], kinds: Kinds, bound: float, most: int) -> Layout | None:
    """Returns the best layout of 2 to `most` compartments of at most `bound` tokens; None if there is none.

    Uses as few compartments as the bound allows, and more only while each reduces the linkage substantially.
    """
    total = sum(unit.tokens for unit in units)
    best: Layout | None = None
    least = 0.0
    for count in range(max(2, int(total // bound)), min(most, len(units)) + 1):
        if best is not None and (best.linkage == 0 or total / count < _LEAST_TOKENS):
            break
        layout = _fill(units, kinds, bound, count)
        if layout is None:
            continue
        price = layout.linkage * float(_WORTH**-count)
        if best is None or price < least:
            best, least = layout, price
    if best is None:
        # Spreading costs blank lines. If they do not fit, neighbouring units stay together.
        return _fill(units, [{}] * len(units), bound, min(most, len(units)))
    return best


def _fill(units: Sequence[Unit], kinds: Kinds, bound: float, count: int) -> Layout | None:
    share = sum(unit.tokens for unit in units) / count
    loads = [0.0] * count
    last: list[dict[str, tuple[int, float]]] = [{} for _ in range(count)]
    places: list[int] = []
    before = 0
    total = 0.0
    for index, (unit, own) in enumerate(zip(units, kinds, strict=True)):
        chosen, price, added = -1, 0.0, 0.0
        for place in range(count):
            load = loads[place] + unit.tokens + (0 if place == before else _JOINT)
            if load > bound:
                continue
            link = _added(index, own, last[place])
            over = max(0.0, load / share - _EVEN) * 100 if loads[place] else 0.0
            cost = 10 * link + over + _FILLING * load / share + (0 if place == before else _LEAVING)
            if chosen < 0 or cost < price:
                chosen, price, added = place, cost, link
        if chosen < 0:
            return None
        loads[chosen] += unit.tokens + (0 if chosen == before else _JOINT)
        _note(index, own, last[chosen])
        total += added
        places.append(chosen)
        before = chosen
    return _without_gaps(places, count, total)


def _added(index: int, own: Mapping[str, bool], last: Mapping[str, tuple[int, float]]) -> float:
    """Returns the linkage that unit `index` adds. `last` holds the last unit of each kind, and its weight."""
    total = 0.0
    for kind, clear in own.items():
        weight = _CLEAR if clear else _HIDDEN
        for other, (where, other_weight) in last.items():
            if other != kind:
                total += weight * other_weight / (1 + (index - where) / _NEAR)
    return total


def _note(index: int, own: Mapping[str, bool], last: dict[str, tuple[int, float]]) -> None:
    for kind, clear in own.items():
        last[kind] = (index, _CLEAR if clear else _HIDDEN)


def _without_gaps(places: list[int], count: int, total: float) -> Layout | None:
    """Numbers the compartments in the order of the text. Returns None if one is empty."""
    numbers: dict[int, int] = {}
    for place in places:
        numbers.setdefault(place, len(numbers))
    if len(numbers) < count:
        return None
    return Layout(tuple(numbers[place] for place in places), count, total)
