"""Credentials cross and are seen nowhere: not in what mitmweb, dumps and HAR files read of a flow."""

import pytest
from mitmproxy import flow as mitm_flow
from mitmproxy import http
from mitmproxy.addons.savehar import SaveHar
from mitmproxy.net.http.http1 import assemble_request_head
from mitmproxy.test import tflow
from mitmproxy.tools.web.app import flow_to_json

from addons.credentials import scrub, seal
from addons.forwarding import was_sent
from gateway.auth.credentials import CREDENTIAL_HEADERS, SCRUBBED
from gateway.http.header_names import TOKENS

# Put together, so that no scanner of this repository takes it for a live one.
SECRET = b"Bearer " + b"sk-canary-" + b"4711" * 8


def headers(name: str) -> http.Headers:
    return http.Headers([(b"Host", b"api.example"), (name.title().encode(), SECRET), (b"X-Other", b"plain")])


@pytest.mark.parametrize("name", sorted(name.decode() for name in CREDENTIAL_HEADERS | TOKENS))
def test_a_sealed_credential_is_written_to_the_wire_only_and_a_scrubbed_one_nowhere(name: str) -> None:
    sealed, scrubbed = seal(headers(name)), scrub(headers(name.upper()))
    assert not sealed.written
    assert bytes(sealed).count(SECRET) == 1
    assert sealed.written
    assert sealed[name] == SCRUBBED.decode()
    assert b"canary" not in b"".join(part for field in sealed.fields for part in field)
    assert "canary" not in repr(sealed) + repr(sealed.get_state())
    assert sealed["x-other"] == "plain"
    assert b"canary" not in bytes(scrubbed)
    assert [field for field, _ in scrubbed.fields] == [field for field, _ in headers(name).fields]


def test_operators_cannot_look_at_it() -> None:
    flow = tflow.tflow(resp=True)
    flow.request.headers = seal(headers("authorization"))
    assert flow.response is not None
    flow.response.headers = seal(http.Headers([(b"Set-Cookie", SECRET), (b"Set-Cookie", SECRET)]))
    assert b"canary" in assemble_request_head(flow.request)
    flow.request.headers = seal(headers("authorization"))
    seen: list[object] = [flow.get_state(), flow_to_json(flow), SaveHar().make_har([flow]), flow.copy().get_state()]
    assert not was_sent(flow.request)
    restored = mitm_flow.Flow.from_state(flow.get_state())
    seen.append(restored.get_state())
    assert "canary" not in repr(seen)
    assemble_request_head(flow.request)
    assert was_sent(flow.request)


def test_a_change_of_another_header_is_written_and_every_credential_still_is() -> None:
    sealed = seal(http.Headers([*headers("x-api-key").fields, (b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2")]))
    sealed["x-other"] = "changed"
    del sealed["host"]
    written = b"X-Api-Key: " + SECRET + b"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
    assert sorted(bytes(sealed).splitlines()) == sorted((b"X-Other: changed\r\n" + written).splitlines())
