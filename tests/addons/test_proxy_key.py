"""The key of a proxy client is found wherever it is, and a connection without one is refused."""

from base64 import b64encode
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mitmproxy import exceptions, http
from mitmproxy.proxy.layers.modes import Socks5AuthData
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.test import taddons, tflow, tutils

from addons.proxy_key import ProxyKey, key_in
from addons.request_log import RequestLog
from gateway.errors import Forbidden, TooManyRequests, Unauthorized
from gateway.models import Caller, Scope

KEY = "svck_" + "key-of-a-proxy-client" * 2


def basic(pair: str) -> str:
    return "Basic " + b64encode(pair.encode()).decode()


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ([f"Bearer {KEY}"], KEY),
        ([f"bearer  {KEY} "], KEY),
        ([basic(f"x:{KEY}")], KEY),
        ([basic(f":{KEY}")], KEY),
        ([basic(f"{KEY}:")], KEY),
        ([basic(f"{KEY}:x")], KEY),
        ([basic(KEY)], KEY),
        ([basic("x:a:b")], "a:b"),
        ([basic("own-key:")], "own-key"),
        (["BASIC" + basic(f"x:{KEY}")[5:]], KEY),
        ([], ""),
        ([""], ""),
        (["Basic"], ""),
        (["Basic %%%"], ""),
        (["Basic YQ"], ""),
        (["Negotiate YQ=="], ""),
        ([basic("svck_one:svck_other")], "svck_other"),
        ([f"Bearer {KEY}", f"Bearer {KEY}"], ""),
    ],
)
def test_the_key_of_a_header(values: list[str], key: str) -> None:
    assert key_in(values) == key


class Gateway:
    """Knows one key, and may refuse it as well."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def check_proxy_key(self, key: str) -> Caller:
        self.asked.append(key)
        if self.error:
            raise self.error
        if key != KEY:
            raise Unauthorized("The API key is missing or not valid.")
        return Caller("key_1", Scope.CHAT)


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


@pytest.fixture
def addon(gateway: Gateway) -> ProxyKey:
    return ProxyKey(cast(Any, gateway), cast(Any, SimpleNamespace(answer_at_once=lambda _: None)), RequestLog())


def flow_of(mode: str = "regular", **headers: str) -> http.HTTPFlow:
    fields = http.Headers([(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()])
    flow = tflow.tflow(req=tutils.treq(headers=fields))
    flow.live = True
    flow.client_conn.proxy_mode = ProxyMode.parse(mode)
    return flow


async def status_of(addon: ProxyKey, flow: http.HTTPFlow, hook: str = "requestheaders") -> int:
    """Returns 200 for a request that may go on."""
    with taddons.context():
        try:
            await getattr(addon, hook)(flow)
        except exceptions.AddonHalt:
            assert flow.response is not None
            return flow.response.status_code
    return 200


@pytest.mark.parametrize("hook", ["http_connect", "requestheaders"])
@pytest.mark.parametrize("mode", ["regular", "socks5", "upstream:http://a.test", "transparent", "wireguard"])
async def test_without_a_valid_key_nothing_passes(addon: ProxyKey, hook: str, mode: str) -> None:
    for headers in ({}, {"proxy_authorization": basic("x:svck_wrong")}, {"x_svc_key": KEY}, {"authorization": KEY}):
        flow = flow_of(mode, **headers)
        assert await status_of(addon, flow, hook) == 407
        assert flow.response is not None
        assert flow.response.headers["proxy-authenticate"].startswith("Basic ")
        assert flow.response.headers["connection"] == "close"
        assert b"svck_" not in (flow.response.content or b"")
        assert flow.request.host == "unprotected.invalid"


@pytest.mark.parametrize("own", [None, "svck_of-its-own"])
async def test_the_key_becomes_that_of_the_caller_unless_it_sends_one_itself(
    addon: ProxyKey, gateway: Gateway, own: str | None
) -> None:
    flow = flow_of(proxy_authorization=basic(f"x:{KEY}"), **({"x_svc_key": own} if own else {}))
    assert await status_of(addon, flow) == 200
    assert flow.request.headers.fields == ((b"x-svc-key", (own or KEY).encode()),)
    assert gateway.asked == [KEY]


@pytest.mark.parametrize(("hook", "status"), [("http_connect", 200), ("requestheaders", 407)])
async def test_a_tunnel_is_asked_once_and_plain_http_with_every_request(
    addon: ProxyKey, gateway: Gateway, hook: str, status: int
) -> None:
    first, second = flow_of(proxy_authorization=f"Bearer {KEY}"), flow_of()
    second.client_conn = first.client_conn
    assert await status_of(addon, first, hook) == 200
    assert "proxy-authorization" not in first.request.headers
    assert await status_of(addon, second) == status
    assert second.request.headers.get("x-svc-key") == (KEY if status == 200 else None)
    assert len(gateway.asked) == 1


@pytest.mark.parametrize("mode", ["reverse:http://gateway.invalid:1", "local:program"])
async def test_the_gateways_listener_and_this_machines_programs_are_not_asked(addon: ProxyKey, mode: str) -> None:
    flow = flow_of(mode)
    assert await status_of(addon, flow) == 200
    assert not flow.request.headers.fields


@pytest.mark.parametrize(
    ("error", "status"),
    [(Forbidden("No."), 403), (TooManyRequests("No.", code="rate_limited", retry_after=9), 429), (RuntimeError(), 500)],
)
async def test_other_refusals_keep_their_status(
    addon: ProxyKey, gateway: Gateway, error: Exception, status: int
) -> None:
    gateway.error = error
    assert await status_of(addon, flow_of(proxy_authorization=f"Bearer {KEY}")) == status


async def test_socks5(addon: ProxyKey, gateway: Gateway) -> None:
    client = tflow.tclient_conn()
    for user, password, valid in (("x", KEY, True), (KEY, "", True), ("x", "y", False), ("", "", False)):
        data = Socks5AuthData(client, user, password)
        with taddons.context():
            await addon.socks5_auth(data)
        assert data.valid is valid
    gateway.error = TooManyRequests("No.")
    data = Socks5AuthData(tflow.tclient_conn(), "x", KEY)
    await addon.socks5_auth(data)
    assert not data.valid
