"""Host patterns mean the servers that mitmproxy would match: the expressions are searched in `host:port`."""

import re

import pytest

from gateway.config.host_patterns import WELL_KNOWN_HOSTS, check_host_name, check_host_pattern, host_regexes
from tests.conftest import vectors

CASES = vectors("hosts/host_patterns")


def matches(pattern: str, target: str) -> bool:
    return any(re.search(each, target, re.IGNORECASE) for each in host_regexes([check_host_pattern(pattern)]))


@pytest.mark.parametrize(("pattern", "target"), CASES["meant"])
def test_the_host_is_meant(pattern: str, target: str) -> None:
    assert matches(pattern, target)


@pytest.mark.parametrize(("pattern", "target"), CASES["not_meant"])
def test_another_host_is_not_meant(pattern: str, target: str) -> None:
    assert not matches(pattern, target)


@pytest.mark.parametrize("pattern", CASES["refused"])
def test_a_malformed_or_too_wide_pattern_is_refused_without_repeating_it(pattern: str) -> None:
    with pytest.raises(ValueError, match=r".") as refusal:
        check_host_pattern(pattern)
    assert len(pattern) < 4 or pattern not in str(refusal.value)
    assert "nonsense" not in str(refusal.value)


@pytest.mark.parametrize("name", ["Web.Acme.Test.", "localhost", "10.1.2.3", "[2001:DB8::1]"])
def test_a_name_alone_is_taken_in_its_one_form(name: str) -> None:
    assert check_host_name(name) == name.lower().removesuffix(".")


@pytest.mark.parametrize("name", ["http://web.test", "web.test:443", "*.web.test", "web.test/x", "2001:db8::1", ""])
def test_more_than_a_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="write a host"):
        check_host_name(name)


def test_the_well_known_hosts_are_written_in_their_one_form() -> None:
    assert [check_host_pattern(each) for each in WELL_KNOWN_HOSTS] == list(WELL_KNOWN_HOSTS)
    assert len(set(WELL_KNOWN_HOSTS)) == len(WELL_KNOWN_HOSTS)
