"""Tags: keyed, the same for the same value, longer where two would meet."""

import hashlib
import hmac
import pickle
import re

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.placeholders import NUMBER, Known, Placeholders, RestoreScope, conversation_key

from .conftest import KEY

ALWAYS = RestoreScope("always")


def test_shape() -> None:
    assert re.fullmatch(r"\[EMAIL_ADDRESS_[0-9A-HJKMNP-TV-Z]{5}\]", Placeholders(KEY).mint("EMAIL_ADDRESS", "a@b.test"))


def test_the_tag_is_an_hmac_of_what_the_value_is() -> None:
    """A second, slower way to the same tag."""
    message = b"".join(len(part).to_bytes(8) + part for part in (b"PERSON", "Ännä".encode())) + b"\xff" * 8
    digest = hmac.new(KEY, message, hashlib.sha256).digest()
    bits = "".join(f"{byte:08b}" for byte in digest)
    tag = "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[int(bits[at : at + 5], 2)] for at in range(0, 25, 5))
    assert Placeholders(KEY).mint("PERSON", "Ännä") == f"[PERSON_{tag}]"


def test_the_same_value_has_the_same_placeholder_in_any_order_and_object() -> None:
    one, two = Placeholders(KEY), Placeholders(KEY)
    values = [("PERSON", "Anna"), ("PERSON", "anna"), ("ORGANIZATION", "Anna"), ("PERSON", "Anna ")]
    first = [one.mint(*value) for value in values]
    assert [two.mint(*value) for value in reversed(values)] == first[::-1]
    assert [one.mint(*value) for value in values] == first
    assert len(set(first)) == len(values)
    assert len(one) == len(values)


def test_another_key_gives_another_tag() -> None:
    assert Placeholders(KEY).mint("PERSON", "Anna") != Placeholders(b"o" * 32).mint("PERSON", "Anna")


def test_a_spelling_of_its_own_has_a_placeholder_of_its_own() -> None:
    placeholders = Placeholders(KEY)
    names = {placeholders.mint("PERSON", "é", raw=raw) for raw in (None, r"\u00e9", r"\u00E9", NUMBER + "1")}
    assert len(names) == 4


def test_framing_keeps_type_and_value_apart() -> None:
    placeholders = Placeholders(KEY)
    tags = {placeholders.mint(*each).rpartition("_")[2] for each in (("A", "BC"), ("AB", "C"), ("A", "B"))}
    assert len(tags) == 3


def test_the_later_of_two_values_with_one_tag_gets_a_longer_one() -> None:
    free = Placeholders(KEY)
    name = free.mint("PERSON", "Anna")
    taken = Placeholders(KEY, [Known(name, "PERSON", "Berta")])
    longer = taken.mint("PERSON", "Anna")
    assert len(longer) == len(name) + 1
    assert longer.startswith(name[:-1])
    assert taken.restore(f"{name} {longer}", rules=ALWAYS).text == "Berta Anna"
    again = Placeholders(KEY, [Known(name, "PERSON", "Berta"), Known(longer, "PERSON", "Carla")])
    assert len(again.mint("PERSON", "Anna")) == len(name) + 2


def test_tags_grow_to_twenty_six_characters_and_then_end() -> None:
    placeholders = Placeholders(KEY)
    name = placeholders.mint("PERSON", "Anna")
    for _ in range(21):
        name = placeholders.reissue(name)
    assert len(name) == len("[PERSON_]") + 26
    assert placeholders.restore(name, rules=ALWAYS).text == "Anna"
    with pytest.raises(OverflowError) as refused:
        placeholders.reissue(name)
    assert "Anna" not in str(refused.value)


def test_a_reissued_value_leaves_its_first_placeholder_to_the_text() -> None:
    placeholders = Placeholders(KEY)
    first = placeholders.mint("PERSON", "Anna")
    second = placeholders.reissue(first)
    assert placeholders.mint("PERSON", "Anna") == second
    assert placeholders.restore(f"{first} {second}", rules=ALWAYS).text == f"{first} Anna"
    assert [entry.placeholder for entry in placeholders.fresh()] == [second]


def test_known_values_are_kept_and_are_not_fresh() -> None:
    earlier = Placeholders(KEY)
    earlier.mint("PERSON", "Anna")
    later = Placeholders(KEY, earlier.entries())
    assert later.mint("PERSON", "Anna") == earlier.entries()[0].placeholder
    assert later.fresh() == ()
    later.mint("PERSON", "Berta")
    assert [entry.value for entry in later.fresh()] == ["Berta"]
    assert [entry.value for entry in later.entries()] == ["Anna", "Berta"]


@pytest.mark.parametrize("kind", ["", "person", "PERSON_", "_PERSON", "A__B", "PERSON-X", "1A", "Ä", "A" * 65])
def test_a_type_is_an_upper_case_name(kind: str) -> None:
    with pytest.raises(ValueError, match="upper-case"):
        Placeholders(KEY).mint(kind, "value")


@pytest.mark.parametrize("value", ["", " ", "a\x00b", "\ud800", "😀", "x" * 100_000])
def test_any_value_can_be_minted(value: str) -> None:
    placeholders = Placeholders(KEY)
    assert placeholders.restore(placeholders.mint("X", value), rules=ALWAYS).text == value


def test_nothing_shows_a_value() -> None:
    placeholders = Placeholders(KEY)
    placeholders.mint("PERSON", "Anna Example")
    done = placeholders.restore("[PERSON_00000]", rules=ALWAYS)
    shown = f"{placeholders!r} {placeholders.entries()!r} {placeholders.vocabulary!r} {done!r}"
    assert "Anna" not in shown
    assert placeholders.entries()[0].placeholder in shown


def test_a_conversation_has_a_key_of_its_own() -> None:
    base = ("caller", "hello")
    keys = {
        conversation_key(b"i" * 32, *base),
        conversation_key(b"j" * 32, *base),
        conversation_key(b"i" * 32, "caller", "hello!"),
        conversation_key(b"i" * 32, "callerh", "ello"),
        conversation_key(b"i" * 32, "", "callerhello"),
    }
    assert len(keys) == 5
    assert all(len(key) == 32 for key in keys)
    assert conversation_key(b"i" * 32, *base) in keys
    assert len(conversation_key(b"i" * 32, "c", "\ud800")) == 32
    framed = b"".join(
        len(part).to_bytes(8) + part for part in (b"privacy-gateway conversation v1", b"caller", b"hello")
    )
    assert conversation_key(b"i" * 32, *base) == HKDF(SHA256(), 32, salt=None, info=framed).derive(b"i" * 32)


def test_the_first_blocks_of_a_conversation_may_have_a_key_of_their_own() -> None:
    def minted(opening_blocks: int, *blocks: int) -> str:
        session = Placeholders(KEY, opening_blocks=opening_blocks, opening_key=opening_key)
        for block in blocks:
            session.enter(block)
            name = session.mint("PERSON", "Anna")
        return name

    opening_key = b"o" * 32
    in_opening, later = Placeholders(opening_key).mint("PERSON", "Anna"), Placeholders(KEY).mint("PERSON", "Anna")
    assert [minted(2, block) for block in range(3)] == [in_opening, in_opening, later]
    assert minted(2, 0, 5) == in_opening
    assert minted(0, 0) == later


def test_a_longer_tag_is_made_by_the_same_key() -> None:
    """Also when it is asked for in a later block: an earlier turn, which has none, asked for the same."""
    names = set()
    for last in (0, 3):
        session = Placeholders(KEY, opening_blocks=1, opening_key=b"o" * 32)
        session.enter(0)
        name = session.mint("PERSON", "Anna")
        session.enter(last)
        names.add(session.reissue(name))
    assert len(names) == 1


def test_a_copy_in_another_process_restores_and_cannot_mint() -> None:
    session = Placeholders(b"a key that stays at home, always")
    minted = session.mint("PERSON", "Ada Beispiel")
    sent = pickle.dumps(session)
    assert b"stays at home" not in sent
    copy = pickle.loads(sent)
    assert copy.restore(f"Dear {minted}", rules=RestoreScope("source")).text == "Dear Ada Beispiel"
    assert copy.mint("PERSON", "Ada Beispiel") == minted
    with pytest.raises(ValueError, match="only restore"):
        copy.mint("PERSON", "Bo Beispiel")
