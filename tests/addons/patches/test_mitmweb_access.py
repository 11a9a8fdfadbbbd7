import re

from mitmproxy.tools.web.app import handlers

from tests.e2e.test_mitmweb_access import ADDRESSES


def test_every_address_of_mitmweb_is_tried_without_the_token() -> None:
    missing = [pattern for pattern, _ in handlers if not any(re.fullmatch(pattern, each) for each in ADDRESSES)]
    assert missing == []
