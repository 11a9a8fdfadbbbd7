"""Which addresses are private, in every spelling, and which of them a setting permits."""

import pytest

from gateway.config.private_destinations import PermittedDestinations, address_of, check_destination, is_private

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


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Intranet.Example.", "intranet.example"),
        (" intranet.example:8443 ", "intranet.example:8443"),
        ("*.intranet.example", "*.intranet.example"),
        ("10.0.0.5", "10.0.0.5/32"),
        ("10.0.0.5:443", "10.0.0.5/32:443"),
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("10.0.0.0/8:443", "10.0.0.0/8:443"),
        ("FD00::/8", "fd00::/8"),
        ("::1", "::1/128"),
        ("[::1]", "::1/128"),
        ("[::1]:8080", "[::1/128]:8080"),
        ("[fd00::/8]:443", "[fd00::/8]:443"),
    ],
)
def test_a_destination_is_normalized(given: str, kept: str) -> None:
    assert check_destination(given) == kept
    assert check_destination(kept) == kept


@pytest.mark.parametrize(
    "given",
    [
        "",
        "10.0.0.5/8",
        "10.0.0.0/33",
        "fd00::1/8",
        "[fd00::1/8]:443",
        "http://intranet.example",
        "intranet.example/",
        "10.0.0.5:0",
        "10.0.0.5:65536",
        "[::1]:99999",
        "[::g]",
        "*.example",
        "*",
    ],
)
def test_a_malformed_destination_is_refused_without_being_repeated(given: str) -> None:
    with pytest.raises(ValueError, match=r"^[a-z]") as refused:
        check_destination(given)
    assert len(given) < 3 or given not in str(refused.value)


@pytest.mark.parametrize(
    ("entry", "host", "port", "address", "permitted"),
    [
        ("intranet.example", "intranet.example", 443, "10.0.0.5", True),
        ("intranet.example", "INTRANET.example.", 443, "10.0.0.5", True),
        ("intranet.example", "other.example", 443, "10.0.0.5", False),
        ("intranet.example", "intranet.example.evil.example", 443, "10.0.0.5", False),
        ("intranet.example:443", "intranet.example", 8443, "10.0.0.5", False),
        ("10.0.0.5", "anything.example", 443, "10.0.0.5", True),
        ("10.0.0.5", "10.0.0.5", 22, "10.0.0.5", True),
        ("10.0.0.5:443", "10.0.0.5", 22, "10.0.0.5", False),
        ("10.0.0.5", "10.0.0.6", 443, "10.0.0.6", False),
        ("10.0.0.0/8", "a.example", 443, "10.255.0.1", True),
        ("10.0.0.0/8", "a.example", 443, "::ffff:10.255.0.1", True),
        ("10.0.0.0/8", "a.example", 443, "64:ff9b::10.255.0.1", True),
        ("10.0.0.0/8", "a.example", 443, "11.0.0.1", False),
        ("10.0.0.0/8:443", "a.example", 443, "10.1.2.3", True),
        ("10.0.0.0/8:443", "a.example", 80, "10.1.2.3", False),
        ("fd00::/8", "a.example", 443, "fd12::1", True),
        ("fd00::/8", "a.example", 443, "fe80::1", False),
        ("[::1]:8080", "localhost", 8080, "::1", True),
        ("[::1]:8080", "localhost", 8080, "127.0.0.1", False),
        ("0.0.0.0/0", "a.example", 443, "::1", False),
    ],
)
def test_what_an_entry_permits(entry: str, host: str, port: int, address: str, permitted: bool) -> None:
    found = address_of(address)
    assert found is not None
    assert PermittedDestinations([check_destination(entry)]).has(host, port, found) is permitted


def test_nothing_is_permitted_by_default() -> None:
    found = address_of("127.0.0.1")
    assert found is not None
    assert not PermittedDestinations([]).has("localhost", 80, found)
