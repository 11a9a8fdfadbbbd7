"""Ids that programs draw are told from numbers and text."""

import pytest

from gateway.text.uuids import is_drawn, is_hash, without_uuids

DRAWN = "01a222eb-712a-7d82-a729-03b2fab1fc16"


@pytest.mark.parametrize("text", [DRAWN, DRAWN.upper(), f"{DRAWN}:0", f"{DRAWN}########12"])
def test_a_uuid_is_drawn(text: str) -> None:
    assert is_drawn(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"x{DRAWN}",
        f"{DRAWN} and more",
        f"{DRAWN}0",
        f"{DRAWN}\n",
        DRAWN.replace("-", ""),
        # A card number with hyphens, and digits alone: no version and no letter.
        "45395787-6362-1486-0000-00000000000a",
        "45395787-6362-4486-8000-000000000000",
        "4539578763621486",
        DRAWN.replace("a", "\u0430"),
    ],
)
def test_other_texts_are_not(text: str) -> None:
    assert not is_drawn(text)


def test_a_hash_is_a_hash_and_digits_are_not() -> None:
    assert is_hash("9f86d081884c7d65" * 4)
    assert [
        is_hash(text) for text in ("1" * 64, "9F86D081884C7D65" * 4, "9f86" * 15, "9f86d081884c7d65" * 4 + "\n")
    ] == [False] * 4


def test_uuids_are_taken_out_of_a_text() -> None:
    assert without_uuids(f"window={DRAWN}:0; mail=anna@acme.test") == "window=id:0; mail=anna@acme.test"
    assert without_uuids(f"a{DRAWN}") == f"a{DRAWN}"
