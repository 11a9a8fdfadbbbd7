"""Which of several addresses is the client's: `X-Forwarded-For` counts only from a trusted proxy."""

from ipaddress import ip_network

import pytest

from gateway.http.client_address import client_address

TRUSTED = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("198.51.100.7", (), "198.51.100.7"),
        ("198.51.100.7", ("203.0.113.9",), "198.51.100.7"),
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.9",), "203.0.113.9"),
        ("10.0.0.1", ("192.0.2.1, 203.0.113.9",), "203.0.113.9"),
        ("10.0.0.1", ("192.0.2.1", "203.0.113.9, 10.0.0.2"), "203.0.113.9"),
        ("10.0.0.1", ("10.0.0.3, 10.0.0.2",), "10.0.0.3"),
        ("10.0.0.1", ("canary words",), "10.0.0.1"),
        ("10.0.0.1", ("canary, 203.0.113.9:4711",), "203.0.113.9"),
        ("fd00::1", ("[2001:db8::7]:4711",), "2001:db8::7"),
        ("::ffff:10.0.0.1", ("2001:DB8::7",), "2001:db8::7"),
        ("fe80::1%eth0", (), "fe80::1"),
        ("/run/socket", (), None),
    ],
)
def test_the_last_address_that_no_trusted_proxy_vouches_for(
    peer: str, forwarded: tuple[str, ...], found: str | None
) -> None:
    fields = [(b"X-Forwarded-For", value.encode()) for value in forwarded]
    assert client_address((peer, 4711), fields, TRUSTED) == found


def test_unknown_peer() -> None:
    assert client_address(None, [], TRUSTED) is None
