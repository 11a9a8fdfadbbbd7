import re

from mitmproxy.tools.web.app import handlers

from addons.patches.mitmweb_page import HANDLERS, applicable
from tests.e2e.test_mitmweb_access import ADDRESSES


def test_each_replaced_address_is_one_of_mitmweb_s() -> None:
    theirs = [address for address in ADDRESSES if any(re.fullmatch(pattern, address) for pattern, _ in handlers)]
    for pattern, _ in HANDLERS:
        assert pattern.startswith("/gateway/") or any(re.fullmatch(pattern, address) for address in theirs), pattern


def test_an_option_that_operators_cannot_change_is_not_theirs_to_see() -> None:
    assert applicable({"mode": 1, "web_columns": 2, "ssl_insecure": 3}) == {"web_columns": 2}
