"""The world's numbering plans, asked quickly: phonenumbers' own patterns, put together for each calling code.

Parsing a number with phonenumbers costs about seventy microseconds; matching its digits here costs one. A plan is
built when a text first has a number of that code. Answers are those of `phonenumbers.is_valid_number`.
"""

from collections.abc import Iterable
from functools import cache

import re2
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

_WORLD = "001"
"""What phonenumbers calls the region of codes that belong to no country, such as +800."""
_KINDS = tuple("fixed_line mobile toll_free premium_rate shared_cost personal_number voip pager uan voicemail".split())


def _one_of(patterns: Iterable[str]) -> "re2.Set":
    """What matches a whole number that fits one of the patterns: a set costs less to ask than an expression."""
    asked = re2.Set.FullMatchSet(re2.Options())
    for pattern in patterns:
        asked.Add(pattern)
    asked.Compile()
    return asked


class _Plan:
    """Numbers behind one calling code: `valid` matches those given out, `lengths` are those of any."""

    def __init__(self, code: int) -> None:
        patterns: set[str] = set()
        lengths: set[int] = set()
        for region in COUNTRY_CODE_TO_REGION_CODE[code]:
            data = (
                PhoneMetadata.metadata_for_nongeo_region(code)
                if region == _WORLD
                else PhoneMetadata.metadata_for_region(region)
            )
            kinds = (getattr(data, kind) for kind in _KINDS)
            described = [one for one in kinds if one is not None and one.national_number_pattern]
            patterns.update(one.national_number_pattern for one in described)
            lengths.update(length for one in described for length in one.possible_length)
        self.patterns = tuple(sorted(patterns))
        self.valid = _one_of(self.patterns)
        self.lengths = frozenset(lengths)


@cache
def _plan(code: int) -> _Plan | None:
    return _Plan(code) if code in COUNTRY_CODE_TO_REGION_CODE else None


def _split(digits: str) -> tuple[_Plan, str] | None:
    """The plan of an international number, and the rest of it. No calling code begins with another."""
    for length in (1, 2, 3):
        plan = _plan(int(digits[:length]))
        if plan is not None:
            return plan, digits[length:]
    return None


def is_valid(digits: str) -> bool:
    """Whether digits from the calling code on are a number that is given out. People leave the zero in that
    stands before the area at home.
    """
    found = _split(digits)
    if found is None:
        return False
    plan, rest = found
    return bool(plan.valid.Match(rest) or (rest[:1] == "0" and plan.valid.Match(rest[1:])))


def is_possible(digits: str) -> bool:
    """Whether digits from the calling code on have a length that numbers of that code have."""
    found = _split(digits)
    if found is None:
        return False
    plan, rest = found
    return len(rest) in plan.lengths or len(rest.removeprefix("0")) in plan.lengths


@cache
def _national(codes: tuple[int, ...]) -> "re2.Set":
    """Numbers as dialled within any of the countries: with the zero that stands before the area there."""
    plans = [plan for code in codes if (plan := _plan(code)) is not None]
    return _one_of(f"0?(?:{pattern})" for plan in plans for pattern in plan.patterns)


def is_national(digits: str, codes: tuple[int, ...]) -> bool:
    """Whether digits that begin with a zero are a number within one of the countries of `codes`."""
    return digits[:1] == "0" and bool(_national(codes).Match(digits))
