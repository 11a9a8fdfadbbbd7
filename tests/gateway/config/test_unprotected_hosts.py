"""The list of hosts that cannot be protected, and how a host is found in it."""

import re

import pytest

from gateway.config.host_patterns import WELL_KNOWN_HOSTS, HostMatcher, host_regexes
from gateway.config.unprotected_hosts import UnprotectedHost, UnprotectedHosts, read_unprotected_hosts
from tests.conftest import vectors

CASES = vectors("hosts/unprotected_hosts")

LISTED = read_unprotected_hosts()
HOSTS = UnprotectedHosts(LISTED)


@pytest.mark.parametrize(("host", "clients"), CASES["listed"])
@pytest.mark.parametrize("port", [443, 80, 8443])
def test_a_listed_host_is_found_in_any_spelling(host: str, clients: str, port: int) -> None:
    found = HOSTS.find(host, port)
    assert found is not None
    assert found.clients.startswith(clients)


@pytest.mark.parametrize("host", CASES["other"])
def test_other_hosts_are_not_found(host: str) -> None:
    assert HOSTS.find(host, 443) is None


def test_each_entry_finds_its_own_patterns_and_says_what_to_do() -> None:
    for entry in LISTED:
        assert entry.clients
        assert not entry.instead.endswith(".")
        for pattern in entry.patterns:
            assert HOSTS.find(pattern.replace("*", "x"), 443) is entry


def test_intercepted_hosts_are_listed_only_for_clients_that_have_signed_in() -> None:
    """A setting that replaces the intercepted hosts must not let these pass."""
    intercepted = HostMatcher(host_regexes(WELL_KNOWN_HOSTS))
    for entry in LISTED:
        hosts = [pattern.replace("*", "x") for pattern in entry.patterns]
        assert {intercepted(host, 443) for host in hosts} == {"`intercept_also`" in entry.instead}
    found = {pattern: HOSTS.find(pattern.replace("*", "x"), 443) for pattern in WELL_KNOWN_HOSTS}
    assert all("`intercept_also`" in entry.instead for entry in found.values() if entry is not None)


def test_a_port_of_a_pattern_counts() -> None:
    hosts = UnprotectedHosts([UnprotectedHost(("a.test:8443",), "a", "b")])
    assert hosts.find("a.test", 8443)
    assert not hosts.find("a.test", 443)
    assert UnprotectedHosts(()).find("chatgpt.com", 443) is None


def test_no_pattern_has_a_group_of_its_own() -> None:
    """The number of the group that matched is that of the entry."""
    assert all(re.compile(regex).groups == 0 for entry in LISTED for regex in host_regexes(entry.patterns))
