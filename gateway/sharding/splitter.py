"""Divides a text into protected compartments and an outline. Deterministic: the same key gives the same bytes."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.assessment import weight_of
from gateway.detection import EntityType, group_of
from gateway.errors import Unavailable, Unprocessable
from gateway.models import Action, Entity, PrivacyMode
from gateway.placeholders import Known, Placeholders
from gateway.policy.model import Policy
from gateway.protection.operators import apply_action
from gateway.sharding.assignment import Layout, spread
from gateway.sharding.outline import PIECE_BREAK, Heading, Outline, Piece, instructions
from gateway.sharding.rendering import Renderer
from gateway.sharding.units import Title, Unit, units_of
from gateway.text.fields import Span
from gateway.text.token_estimate import estimate

LEAST_COMPARTMENTS, MOST_COMPARTMENTS = 2, 8
DEFAULT_BOUND = 8000
"""Tokens of a compartment if the policy sets no `route.shard_tokens`."""

_SURE = 0.5
_LEAST_BOND = 0.2
"""Types with a smaller bond, such as a plain date or a web address, are not spread."""
_ROUNDS = 8
_WORST_TAG = "7K2Q4"
"""A tag with the highest token estimate that a tag can have."""


@dataclass(frozen=True, slots=True)
class Compartment:
    """One protected part. `entity_counts` by type of what is hidden in it; `tokens` of the text, estimated."""

    index: int
    protected_text: str
    entity_counts: Mapping[str, int]
    tokens: int


@dataclass(frozen=True, slots=True)
class Sharded:
    """The compartments, the outline for reassembling the text, and the values for the session that restores it."""

    compartments: tuple[Compartment, ...]
    outline: Outline
    entries: tuple[Known, ...] = field(repr=False)


def compartment_key(session_key: bytes, index: int) -> bytes:
    """Derives the 32-byte placeholder key of a compartment (HKDF-SHA256, RFC 5869). The keys cannot be linked."""
    info = b"privacy-gateway compartment v1\x00" + bytes([index])
    return HKDF(SHA256(), 32, salt=None, info=info).derive(session_key)


def shard(
    text: str,
    spans: Sequence[Span],
    kept: Iterable[Entity] = (),
    *,
    types: Mapping[str, EntityType],
    policy: Policy,
    mode: PrivacyMode,
    session_key: bytes,
    max_compartments: int = MOST_COMPARTMENTS,
    token_bound: int | None = None,
) -> Sharded:
    """Divides `text` into 2 to `max_compartments` protected compartments of at most `token_bound` tokens each.

    `spans` are the entities that the policy hides, sorted and disjoint; `kept` are those it keeps. `token_bound`
    defaults to the policy's `route.shard_tokens`. Raises Unprocessable with the field if the text has fewer than two
    sentences or does not fit, or if a limit is invalid.
    """
    if not LEAST_COMPARTMENTS <= max_compartments <= MOST_COMPARTMENTS:
        message = f"`max_compartments` must be from {LEAST_COMPARTMENTS} to {MOST_COMPARTMENTS}."
        raise Unprocessable(message, param="max_compartments")
    bound = token_bound or policy.route.most_tokens or DEFAULT_BOUND

    def one_way(span: Span, value: str, compartment: int) -> str:
        rule = policy.rule_for(span.type, group_of(span.type, types), mode)
        # The key differs by compartment, so that hashes link nothing.
        return apply_action(rule, span.type, value, key=compartment_key(session_key, compartment))

    def nominal(span: Span, value: str) -> str:
        return f"[{span.type}_{_WORST_TAG}]" if span.action is Action.PLACEHOLDER else one_way(span, value, 0)

    weigh = Renderer(text, spans, nominal).weigh
    for slack in (0.0, 0.02, 0.05, 0.1):
        # Rounding, and tags made longer for a collision, can make a compartment a little longer than planned.
        capacity = bound * (1 - slack) - 1
        units, titles = units_of(text, spans, weigh, capacity)
        if len(units) < 2:
            raise Unprocessable(
                "The text has fewer than two sentences, so it cannot be divided; use /v1/protect.", param="text"
            )
        kinds = _kinds(units, spans, kept, types)
        layout = spread(units, kinds, capacity, max_compartments)
        if layout is None:
            raise _too_long(units, capacity, bound, max_compartments)
        done = _build(text, spans, units, titles, layout, session_key, one_way)
        if all(one.tokens <= bound for one in done.compartments):
            return done
    raise _too_long(units, capacity, bound, max_compartments)


def _unit_at(units: Sequence[Unit], start: int) -> int:
    """The index of the unit that holds the position `start`."""
    return max(0, bisect_right(units, start, key=lambda unit: unit.start) - 1)


def _kinds(
    units: Sequence[Unit], spans: Sequence[Span], kept: Iterable[Entity], types: Mapping[str, EntityType]
) -> list[dict[str, bool]]:
    """Returns for each unit the kinds of identifiers in it, and whether one of that kind is kept."""
    found = [(span.start, span.type, False) for span in spans]
    found += [(one.start, one.type, True) for one in kept if one.score >= _SURE]
    kinds: list[dict[str, bool]] = [{} for _ in units]
    for start, type, clear in sorted(found):
        if weight_of(type, group_of(type, types)).bond >= _LEAST_BOND:
            own = kinds[_unit_at(units, start)]
            own[type] = own.get(type, False) or clear
    return kinds


def _too_long(units: Sequence[Unit], capacity: float, bound: int, most: int) -> Unprocessable:
    if any(unit.tokens > capacity for unit in units):
        message = f"A single sentence of the text exceeds the limit of a compartment ({bound} tokens); shorten it."
        return Unprocessable(message, param="text")
    message = f"The text does not fit in {most} compartments of at most {bound} tokens."
    return Unprocessable(message, param="text" if most == MOST_COMPARTMENTS else "max_compartments")


def _build(
    text: str,
    spans: Sequence[Span],
    units: Sequence[Unit],
    titles: Sequence[Title],
    layout: Layout,
    session_key: bytes,
    one_way: Callable[[Span, str, int], str],
) -> Sharded:
    runs = _runs(units, layout)
    homes = {span.start: layout.places[_unit_at(units, span.start)] for span in spans}
    names, entries = _minted(text, spans, homes, layout.count, session_key)

    def piece(span: Span, value: str) -> str:
        return names.get(span.start) or one_way(span, value, homes[span.start])

    renderer = Renderer(text, spans, piece)
    texts = [""] * layout.count
    order: list[Piece] = []
    headings: list[Heading] = []
    joins = [text[: units[0].start]]
    for number, (place, first, last) in enumerate(runs):
        start, end = units[first].start, units[last].end
        offset = len(texts[place]) + (len(PIECE_BREAK) if texts[place] else 0)
        rendered = renderer.render(start, end)
        texts[place] += (PIECE_BREAK if texts[place] else "") + rendered
        while len(headings) < len(titles) and titles[len(headings)].start < end:
            title = titles[len(headings)]
            before, own = renderer.render_parts(start, title.start, title.end)
            at = offset + len(before)
            headings.append(Heading(title.level, place, at, at + len(own), own))
        order.append(Piece(place, offset, offset + len(rendered), units[first].title))
        joins.append(text[end : units[runs[number + 1][1]].start if number + 1 < len(runs) else len(text)])
    counts: list[Counter[str]] = [Counter() for _ in texts]
    for span in spans:
        counts[homes[span.start]][span.type] += 1
    compartments = tuple(
        Compartment(index, one, dict(sorted(counts[index].items())), estimate(one)) for index, one in enumerate(texts)
    )
    told = instructions(layout.count, len(order), len(headings))
    return Sharded(compartments, Outline(tuple(order), tuple(headings), tuple(joins), told), entries)


def _runs(units: Sequence[Unit], layout: Layout) -> list[tuple[int, int, int]]:
    """Returns compartment, first and last unit of each run of neighbours. A heading begins a new run."""
    runs: list[tuple[int, int, int]] = []
    for index, place in enumerate(layout.places):
        if runs and runs[-1][0] == place and units[index].title == units[index - 1].title:
            runs[-1] = (place, runs[-1][1], index)
        else:
            runs.append((place, index, index))
    return runs


def _minted(
    text: str, spans: Sequence[Span], homes: Mapping[int, int], count: int, session_key: bytes
) -> tuple[dict[int, str], tuple[Known, ...]]:
    """Returns the placeholder of each span by the span's start, and all values.

    No placeholder is in two compartments, and none occurs literally in the text (law 4).
    """
    keys = [compartment_key(session_key, index) for index in range(count)]
    avoid: set[str] = set()
    for _ in range(_ROUNDS):
        sets = [Placeholders(key) for key in keys]
        owner: dict[str, int] = {}
        names: dict[int, str] = {}
        for span in spans:
            if span.action is not Action.PLACEHOLDER:
                continue
            home = homes[span.start]
            own = sets[home]
            name = own.mint(span.type, text[span.start : span.end])
            while name in avoid or owner.get(name, home) != home:
                name = own.reissue(name)
            owner[name] = home
            names[span.start] = name
        entries = tuple(entry for one in sets for entry in one.entries())
        literal = _literals(text, spans, Placeholders(session_key, entries))
        if not literal:
            return names, entries
        avoid |= literal
    raise Unavailable(
        "The text contains too many strings that look like placeholders; remove them.", code="detection_failed"
    )


def _literals(text: str, spans: Sequence[Span], all_values: Placeholders) -> set[str]:
    """Returns placeholders that occur literally in the source, outside of hidden spans."""
    found: set[str] = set()
    for hit in all_values.find(text):
        last = bisect_right(spans, hit.start, key=lambda span: span.start) - 1
        if last < 0 or spans[last].end < hit.end:
            found.add(hit.placeholder)
    return found
