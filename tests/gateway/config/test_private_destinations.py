"""Which addresses are private, in every spelling, and which of them a setting permits."""

import json

import pytest

from gateway.config.private_destinations import PermittedDestinations, address_of, check_destination, is_private
from tests.conftest import ROOT

CASES = json.loads((ROOT / "tests" / "vectors" / "hosts" / "private_destinations.json").read_text(encoding="utf-8"))

PRIVATE = """
    127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.254 169.254.169.254 172.16.0.1
    172.31.255.254 192.0.0.1 192.0.2.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250
    240.0.0.1 255.255.255.255
    :: ::1 ::7f00:1 ::808:808 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 ff02::1 ff0e::1 100::1 2001::1
    2001:db8::1 5f00::1 64:ff9b:1::808:808
    ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 0:0:0:0:0:ffff:a9fe:a9fe
    64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b::a9fe:a9fe 64:ff9b::e000:1 ::ffff:0:127.0.0.1
    2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::
""".split()
GLOBAL = """
    8.8.8.8 1.1.1.1 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 169.253.0.1 192.169.0.1 11.0.0.1 223.255.255.254
    2606:4700::1111 2a00:1450:4001:82a::200e 2000::1 3ffe::1 ::ffff:8.8.8.8 64:ff9b::808:808
""".split()


@pytest.mark.parametrize("text", PRIVATE)
def test_an_address_that_is_not_global_is_private(text: str) -> None:
    address = address_of(text)
    assert address is not None
    assert is_private(address)


@pytest.mark.parametrize("text", GLOBAL)
def test_a_global_address_is_not_private(text: str) -> None:
    address = address_of(text)
    assert address is not None
    assert not is_private(address)


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
def test_what_an_entry_permits(entry: str, host: str, port: int, address: str, permitted: bool) -> None:
    found = address_of(address)
    assert found is not None
    assert PermittedDestinations([check_destination(entry)]).has(host, port, found) is permitted


def test_nothing_is_permitted_by_default() -> None:
    found = address_of("127.0.0.1")
    assert found is not None
    assert not PermittedDestinations([]).has("localhost", 80, found)
