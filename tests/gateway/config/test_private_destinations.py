"""Private addresses are recognized in every spelling, and a setting permits some of them."""

import pytest

from gateway.config.private_destinations import PermittedDestinations, address_of, check_destination, is_private
from tests.conftest import vectors

CASES = vectors("hosts/private_destinations")


@pytest.mark.parametrize("kind", ["private", "global"])
def test_an_address_that_is_not_global_is_private(kind: str) -> None:
    for text in vectors("hosts/addresses")[kind]:
        address = address_of(text)
        assert address is not None
        assert is_private(address) is (kind == "private"), text


@pytest.mark.parametrize("text", ["localhost", "127.1", "0x7f000001", "2130706433", "[::1]", "", "10.0.0.0/8"])
def test_a_name_is_no_address(text: str) -> None:
    """The spellings of the system's resolver are resolved before they are judged."""
    assert address_of(text) is None


@pytest.mark.parametrize(("given", "kept"), CASES["normalized"])
def test_a_destination_is_normalized(given: str, kept: str) -> None:
    assert check_destination(given) == kept
    assert check_destination(kept) == kept


@pytest.mark.parametrize("given", CASES["refused"])
def test_a_malformed_destination_is_refused_without_being_repeated(given: str) -> None:
    with pytest.raises(ValueError, match=r"^[a-z]") as refused:
        check_destination(given)
    assert len(given) < 3 or given not in str(refused.value)


@pytest.mark.parametrize(("entry", "host", "port", "address", "permitted"), CASES["permits"])
def test_an_entry_permits_its_addresses_alone(entry: str, host: str, port: int, address: str, permitted: bool) -> None:
    found = address_of(address)
    assert found is not None
    assert PermittedDestinations([check_destination(entry)]).has(host, port, found) is permitted


def test_nothing_is_permitted_by_default() -> None:
    found = address_of("127.0.0.1")
    assert found is not None
    assert not PermittedDestinations([]).has("localhost", 80, found)
