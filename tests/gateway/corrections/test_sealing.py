"""The stored form of corrections."""

from typing import Any

import pytest

from gateway.corrections.sealing import Sealing, unwrap, wrap
from gateway.store.rows import CorrectionRow

ROW = CorrectionRow("cor_1", "key_anna", "deny", "PROJECT", "2026-11-28T10:00:00Z", b"")
ONE, OTHER = b"1" * 32, b"2" * 32


def test_the_key_opens_under_its_installation_key_only() -> None:
    wrapped = wrap(ONE, b"installation")
    assert unwrap(wrapped, b"installation") == ONE
    assert unwrap(wrapped, b"another") is None
    assert unwrap(wrapped[:-1] + b"x", b"installation") is None
    assert unwrap(b"", b"installation") is None
    assert ONE not in wrapped


@pytest.mark.parametrize("value", ["Aurora", "x", "\U0001f600" * 200, "Zo\u00eb\n\0"])
def test_a_value_is_sealed_in_one_size(value: str) -> None:
    sealed = Sealing(ONE).seal(ROW, value)
    assert Sealing(ONE).open(sealed) == value
    assert len(sealed.content) == 12 + 1024 + 16
    assert sealed.content != Sealing(ONE).seal(ROW, value).content
    assert Sealing(OTHER).open(sealed) is None


@pytest.mark.parametrize("changed", [{"owner": ""}, {"type": "PERSON"}, {"kind": "allow"}, {"correction_id": "cor_2"}])
def test_an_altered_row_neither_opens_nor_verifies(changed: dict[str, Any]) -> None:
    sealing = Sealing(ONE)
    sealed = sealing.seal(ROW, "Aurora")
    assert sealing.open(sealed._replace(**changed)) is None
    assert sealing.mac(1, [sealed._replace(**changed)]) != sealing.mac(1, [sealed])


def test_the_mac_covers_all_rows_and_the_number_of_changes() -> None:
    sealing = Sealing(ONE)
    rows = [ROW._replace(correction_id=f"cor_{number}", content=b"digest") for number in range(3)]
    mac = sealing.mac(7, rows)
    assert mac == sealing.mac(7, rows[::-1])
    others = [sealing.mac(8, rows), sealing.mac(7, rows[:2]), sealing.mac(7, [*rows, ROW]), Sealing(OTHER).mac(7, rows)]
    assert mac not in others
    assert sealing.digests_of("key_anna").digest("Anna") != sealing.digests_of("").digest("Anna")
