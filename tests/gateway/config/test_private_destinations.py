"""Private addresses are recognized in every spelling, and a setting permits some of them."""

import pytest

from gateway.config.host_patterns import check_host_pattern
from gateway.config.private_destinations import (
    ContainedDestinations,
    PermittedDestinations,
    address_of,
    check_destination,
    is_private,
)
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


@pytest.mark.parametrize(
    ("listed", "host", "address", "permitted"),
    [
        ("git.corp.test:443", "git.corp.test", "10.0.0.5", True),
        ("git.corp.test", "GIT.corp.test.", "fd00::5", True),
        ("*.corp.test", "git.corp.test", "10.0.0.5", False),
        ("g*.corp.test", "git.corp.test", "10.0.0.5", False),
        ("git.corp.test:80", "git.corp.test", "10.0.0.5", False),
        ("git.corp.test", "evil.test", "10.0.0.5", False),
        # A name leads where the owner of its zone wants.
        ("git.corp.test", "git.corp.test", "127.0.0.1", False),
        ("git.corp.test", "git.corp.test", "::1", False),
        ("git.corp.test", "git.corp.test", "10.0.0.9", False),
        ("git.corp.test", "git.corp.test", "64:ff9b::10.0.0.9", False),
        ("git.corp.test", "git.corp.test", "64:ff9b::10.0.0.5", True),
        ("git.corp.test", "git.corp.test", "169.254.169.254", False),
        ("git.corp.test", "git.corp.test", "fd00:ec2::254", False),
        ("git.corp.test", "git.corp.test", "100.100.100.200", False),
        ("localhost:443", "localhost", "127.0.0.1", True),
        ("localhost", "localhost", "::1", True),
        ("localhost", "localhost", "10.0.0.5", False),
        ("127.0.0.1:443", "127.0.0.1", "127.0.0.1", True),
        ("[fd00:ec2::254]", "fd00:ec2::254", "fd00:ec2::254", True),
        ("127.0.0.1:443", "127.0.0.2", "127.0.0.2", False),
    ],
)
def test_contained_programs_reach_what_is_listed_itself(listed: str, host: str, address: str, permitted: bool) -> None:
    found = address_of(address)
    assert found is not None
    own = ContainedDestinations([check_host_pattern(listed)], lambda each: each in map(address_of, ("10.0.0.9", "::1")))
    assert own.has(host, 443, found) is permitted


def test_nothing_is_permitted_by_default() -> None:
    found = address_of("127.0.0.1")
    assert found is not None
    assert not PermittedDestinations([]).has("localhost", 80, found)
