"""Sharding through its public face: fifty documents, and what must never happen."""

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.detection import EntityType, builtin_detector
from gateway.errors import Unprocessable
from gateway.models import Action, Entity, PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope, looks_like_placeholder
from gateway.placeholders.grammar import encode_tag
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.sharding.outline import rejoin
from gateway.sharding.splitter import Sharded, compartment_key, shard
from gateway.text.fields import Span
from gateway.text.token_estimate import estimate
from tests.gateway.sharding.documents import Document, documents

POLICIES = Path(__file__).parents[3] / "policies"
KEY = bytes(range(32))
GROUPS = {"PERSON": "person", "DATE_OF_BIRTH": "person", "EMAIL_ADDRESS": "contact", "PHONE_NUMBER": "contact"}
GROUPS |= {"IBAN_CODE": "financial", "LOCATION": "address"}
TYPES = {name: EntityType(name, group, "") for name, group in GROUPS.items()}
OPEN = RestoreScope("always", frozenset())
DOCUMENTS = list(documents())
ALL = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)


@cache
def policy(name: str = "default") -> Policy:
    return PolicyRegistry(POLICIES).get(name)


def divide(text: str, spans: list[Span], kept: list[Entity] | None = None, *, key: bytes = KEY, **more: Any) -> Sharded:
    settings: dict[str, Any] = {"types": TYPES, "policy": policy(), "mode": PrivacyMode.STANDARD}
    return shard(text, spans, kept or [], **settings, session_key=key, **more)


@cache
def divided(index: int) -> Sharded:
    document = DOCUMENTS[index]
    return divide(document.text, document.spans, document.kept, token_bound=document.bound)


def of(document: Document) -> Sharded:
    return divided(DOCUMENTS.index(document))


def restored(done: Sharded, text: str, key: bytes = KEY) -> str:
    return Placeholders(key, done.entries).restore(text, rules=OPEN).text


def whole(done: Sharded) -> str:
    return rejoin(done.outline, [one.protected_text for one in done.compartments])


def found(text: str, type: str, value: str, action: Action = Action.PLACEHOLDER) -> list[Span]:
    return [Span(m.start(), m.end(), type, action, 0.9, "test") for m in re.finditer(re.escape(value), text)]


@ALL
def test_rejoined_and_restored_it_is_the_source_byte_for_byte(document: Document) -> None:
    done = of(document)
    assert restored(done, whole(done)).encode() == document.text.encode()


@ALL
def test_the_bounds_are_kept(document: Document) -> None:
    done = of(document)
    assert 2 <= len(done.compartments) <= 8
    for index, one in enumerate(done.compartments):
        assert one.index == index
        assert one.tokens == estimate(one.protected_text) <= document.bound
        assert one.protected_text.strip()


@ALL
def test_no_sentence_table_or_code_is_cut(document: Document) -> None:
    done = of(document)
    pieces = [
        restored(done, done.compartments[piece.compartment].protected_text[piece.start : piece.end])
        for piece in done.outline.order
    ]
    borders = set()
    position = 0
    for join, piece in zip(done.outline.joins, pieces, strict=False):
        position += len(join)
        borders |= {position, position + len(piece)}
        position += len(piece)
    cut = [
        (start, end)
        for start, end in document.sentences + document.whole
        if any(start < border < end for border in borders)
    ]
    assert cut == []


@ALL
def test_no_placeholder_is_shared(document: Document) -> None:
    done = of(document)
    names = [{hit.placeholder for hit in looks_like_placeholder(one.protected_text)} for one in done.compartments]
    assert sum(map(len, names)) == len(done.entries) > 0
    assert [a & b for a, b in combinations(names, 2) if a & b] == []


@ALL
def test_nothing_hidden_is_in_clear(document: Document) -> None:
    done = of(document)
    for span in document.spans:
        value = document.text[span.start : span.end]
        assert not any(value in one.protected_text for one in done.compartments)
    counts = [sum(one.entity_counts.values()) for one in done.compartments]
    assert sum(counts) == len(document.spans)
    for one, count in zip(done.compartments, counts, strict=True):
        assert len(looks_like_placeholder(one.protected_text)) == count


@ALL
def test_headings_are_listed_before_their_section(document: Document) -> None:
    done = of(document)
    texts = [restored(done, heading.text) for heading in done.outline.headings]
    assert [text for text in texts if text in document.headings] == document.headings
    for heading in done.outline.headings:
        own = done.compartments[heading.compartment].protected_text
        assert own[heading.start : heading.end] == heading.text
        number = done.outline.headings.index(heading)
        home = next(
            at
            for at, piece in enumerate(done.outline.order)
            if piece.compartment == heading.compartment and piece.start <= heading.start < piece.end
        )
        own_pieces = [at for at, piece in enumerate(done.outline.order) if piece.heading == number]
        assert min(own_pieces, default=home) == home


@pytest.mark.slow
@ALL
def test_it_is_the_same_for_the_same_key_and_all_different_for_another(document: Document) -> None:
    done = of(document)
    again = divide(document.text, document.spans, document.kept, token_bound=document.bound)
    assert again == done
    other = divide(document.text, document.spans, document.kept, token_bound=document.bound, key=bytes(32))
    assert other.outline.joins == done.outline.joins
    assert {entry.placeholder for entry in other.entries}.isdisjoint(entry.placeholder for entry in done.entries)


@ALL
def test_a_synthesis_that_mixes_compartments_is_restored(document: Document) -> None:
    done = of(document)
    words = [
        hit.placeholder
        for one in reversed(done.compartments)
        for hit in reversed(looks_like_placeholder(one.protected_text))
    ]
    values = {entry.placeholder: entry.value for entry in done.entries}
    synthesis = "; ".join(f"**{word.lower()}**" if index % 3 else word for index, word in enumerate(words))
    expected = "; ".join(f"**{values[word]}**" if index % 3 else values[word] for index, word in enumerate(words))
    assert restored(done, synthesis) == expected


def test_compartments_open_only_what_is_theirs() -> None:
    """The key of one compartment cannot make the placeholders of another."""
    text = "Call Anna Berg today. Then call Anna Berg tomorrow."
    done = divide(text, found(text, "PERSON", "Anna Berg"))
    names = [Placeholders(compartment_key(KEY, index)).mint("PERSON", "Anna Berg") for index in range(2)]
    assert [names[index] in one.protected_text for index, one in enumerate(done.compartments)] == [True, True]
    assert names[0] != names[1]


def test_identifiers_of_one_person_are_parted() -> None:
    text = "The tenant is Anna Berg. She was born on 1.2.1980. She pays from DE89. She lives in Bonn."
    spans = [
        *found(text, "PERSON", "Anna Berg"),
        *found(text, "DATE_OF_BIRTH", "1.2.1980"),
        *found(text, "IBAN_CODE", "DE89"),
    ]
    at = text.index("Bonn")
    kept = [Entity("LOCATION", at, at + 4, 0.85, "test")]
    done = divide(text, spans, kept, max_compartments=2)
    home = {type: one.index for one in done.compartments for type in one.entity_counts}
    assert len(done.compartments) == 2
    assert home["PERSON"] != home["DATE_OF_BIRTH"]
    long = text.replace(
        ". ", ". Nothing is to be said about this." + " And nothing will be said, today or later." * 4 + " "
    )
    moved = [
        span
        for type, value in (("PERSON", "Anna Berg"), ("DATE_OF_BIRTH", "1.2.1980"), ("IBAN_CODE", "DE89"))
        for span in found(long, type, value)
    ]
    at = long.index("Bonn")
    done = divide(long, moved, [Entity("LOCATION", at, at + 4, 0.85, "test")])
    assert all(len(one.entity_counts) <= 1 for one in done.compartments)


def test_spreading_links_less_than_cutting_in_order() -> None:
    """Against the plain way: the same number of compartments, filled one after the other."""
    better = 0
    for index, document in enumerate(DOCUMENTS):
        done = divided(index)
        home: list[int] = []
        kinds: list[dict[str, bool]] = []
        for number, (start, end) in enumerate(document.sentences):
            kinds.append({span.type: False for span in document.spans if start <= span.start < end})
            home.append(number * len(done.compartments) // len(document.sentences))
        ours = sum(len(one.entity_counts) * (len(one.entity_counts) - 1) for one in done.compartments)
        plain = 0
        for place in range(len(done.compartments)):
            together = {kind for at, own in zip(home, kinds, strict=True) if at == place for kind in own}
            plain += len(together) * (len(together) - 1)
        better += ours <= plain
    assert better >= 45


def test_a_literal_is_never_taken_for_a_value() -> None:
    text = "Call Anna Berg today. Then go home."
    name = Placeholders(compartment_key(KEY, 0)).mint("PERSON", "Anna Berg")
    held = f"{text} The text holds {name} already."
    done = divide(held, found(held, "PERSON", "Anna Berg"))
    assert [entry.placeholder for entry in done.entries] != [name]
    assert restored(done, whole(done)) == held


def test_a_tag_that_two_compartments_would_share_becomes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gateway.placeholders.session.encode_tag", lambda digest, length: ("00000" + encode_tag(digest, 26))[:length]
    )
    text = "Call Anna Berg today. Then call Anna Berg tomorrow."
    done = divide(text, found(text, "PERSON", "Anna Berg"))
    names = [entry.placeholder for entry in done.entries]
    assert names[0] == "[PERSON_00000]"
    assert re.fullmatch(r"\[PERSON_00000\w]", names[1])
    assert restored(done, whole(done)) == text


def test_a_finding_over_a_border_is_not_cut() -> None:
    text = "The key is as follows. AAAA. BBBB. CCCC. It was lost."
    done = divide(text, found(text, "PERSON", "AAAA. BBBB. CCCC."))
    assert restored(done, whole(done)) == text
    assert len(done.entries) == 1


def test_hashes_of_one_value_differ_between_compartments(tmp_path: Path) -> None:
    rules = '[rules.PERSON]\naction = "hash"\n[rules.IBAN_CODE]\naction = "redact"\n'
    document = 'id = "hashing"\nversion = 1\ntitle = "t"\nextends = "default"\n' + rules
    (tmp_path / "hashing.toml").write_text(document)
    hashing = PolicyRegistry(POLICIES, more=[tmp_path]).get("hashing")
    text = "Ask Anna Berg about DE89 first. Then ask Anna Berg about DE89 again."
    spans = sorted(
        found(text, "PERSON", "Anna Berg", Action.HASH) + found(text, "IBAN_CODE", "DE89", Action.REDACT),
        key=lambda span: span.start,
    )
    done = shard(text, spans, types=TYPES, policy=hashing, mode=PrivacyMode.STANDARD, session_key=KEY)
    hashes = [re.findall(r"PERSON:\w+", one.protected_text) for one in done.compartments]
    assert [len(own) for own in hashes] == [1, 1]
    assert hashes[0] != hashes[1]
    assert done.entries == ()
    assert all("DE89" not in one.protected_text for one in done.compartments)


@pytest.mark.parametrize("text", ["", "  \n ", "One sentence only.", "| a | b |\n|---|---|\n| 1 | 2 |", "word"])
def test_an_indivisible_text_is_refused(text: str) -> None:
    with pytest.raises(Unprocessable) as caught:
        divide(text, [])
    assert caught.value.param == "text"


@pytest.mark.parametrize("count", [-1, 0, 1, 9])
def test_two_to_eight(count: int) -> None:
    with pytest.raises(Unprocessable) as caught:
        divide("One. Two. Three.", [], max_compartments=count)
    assert caught.value.param == "max_compartments"


def test_a_text_beyond_the_bounds_is_refused_with_the_field() -> None:
    text = "This is a sentence of some ten words or so. " * 60
    with pytest.raises(Unprocessable) as caught:
        divide(text, [], token_bound=40)
    assert caught.value.param == "text"
    with pytest.raises(Unprocessable) as caught:
        divide(text, [], token_bound=200, max_compartments=2)
    assert caught.value.param == "max_compartments"
    assert 2 < len(divide(text, [], token_bound=200).compartments) <= 8
    with pytest.raises(Unprocessable, match="single sentence") as caught:
        divide("Short one. " + "word " * 300 + ". Short.", [], token_bound=100)
    assert caught.value.param == "text"


def test_a_full_text_is_divided_in_stretches() -> None:
    text = "Ask Anna Berg first. Then call 555 0100 and wait. " * 40
    spans = sorted(
        found(text, "PERSON", "Anna Berg") + found(text, "PHONE_NUMBER", "555 0100"), key=lambda span: span.start
    )
    roomy = divide(text, spans, token_bound=300)
    assert len(roomy.outline.order) > 8
    tight = divide(text, spans, token_bound=164)
    assert len(tight.outline.order) == len(tight.compartments) == 8
    assert restored(tight, whole(tight)) == text


@pytest.mark.parametrize("fence", ["| {0} | {0} |\n", "{0};{0};{0}\n"])
def test_a_table_too_long_for_a_compartment_is_cut_at_its_rows(fence: str) -> None:
    rows = [fence.format(f"value{number}") for number in range(60)]
    done = divide("".join(rows), [], token_bound=300)
    pieces = [
        done.compartments[piece.compartment].protected_text[piece.start : piece.end] for piece in done.outline.order
    ]
    assert [row for piece in pieces for row in piece.splitlines()] == [row.strip() for row in rows]


def test_the_outline_contains_no_word_of_the_text() -> None:
    text = "# Bericht Zebra\n\nZebra one is here. Zebra two is there.\n\n# Ende\n\nZebra three."
    done = divide(text, [])
    assert "Zebra" not in done.outline.instructions
    assert str(len(done.compartments)) in done.outline.instructions
    wire = done.outline.as_dict()
    assert set(wire) == {"order", "headings", "joins", "instructions"}
    assert len(wire["joins"]) == len(wire["order"]) + 1
    assert all(join.strip() == "" for join in wire["joins"])
    assert "Zebra" not in repr(divide(text, found(text, "PERSON", "Zebra")).entries)


def test_with_the_real_detector() -> None:
    text = (
        "My name is Anna Berg and I write about my account. Please use anna.berg@mail.example for answers.\n"
        "The refund goes to DE89 3704 0044 0532 0130 00. My date of birth is 12.03.1980."
    )
    detector = builtin_detector()
    candidates = [one for one in detector.detect(text) if one.score >= 0.5]
    spans = [
        Span(one.start, one.end, one.type, Action.PLACEHOLDER, one.score, one.recognizer)
        for one in candidates
        if not any(o is not one and o.start <= one.start and one.end <= o.end for o in candidates)
    ]
    done = shard(text, spans, types=detector.types, policy=policy(), mode=PrivacyMode.STANDARD, session_key=KEY)
    assert restored(done, whole(done)) == text
    assert len(done.entries) >= 3


@settings(max_examples=150)
@given(
    text=st.text(alphabet=st.sampled_from("ab.A !?\n\r\t|#-`1:。「」　é,;\u2028"), max_size=200),
    cuts=st.lists(st.integers(0, 200), max_size=8, unique=True),
)
def test_any_text_comes_back(text: str, cuts: list[int]) -> None:
    edges = sorted(cut for cut in cuts if cut <= len(text))
    spans = [
        Span(start, end, "PERSON", Action.PLACEHOLDER, 0.9, "test")
        for start, end in zip(edges[::2], edges[1::2], strict=False)
    ]
    try:
        done = divide(text, spans, token_bound=400)
    except Unprocessable:
        return
    assert restored(done, whole(done)) == text
    assert all(one.tokens <= 400 for one in done.compartments)
