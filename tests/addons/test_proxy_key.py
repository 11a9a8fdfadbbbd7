"""Where the key of a proxy client is, and what becomes of a connection that has one or none."""

from base64 import b64encode
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mitmproxy import exceptions, http
from mitmproxy.proxy.layers.modes import Socks5AuthData
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.test import taddons, tflow, tutils

from addons.proxy_key import ProxyKey, chosen_key, key_in
from gateway.errors import Forbidden, TooManyRequests, Unauthorized

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
        ([f"Bearer {KEY}", f"Bearer {KEY}"], ""),
    ],
)
def test_the_key_of_a_header(values: list[str], key: str) -> None:
    assert key_in(values) == key


def test_of_two_keys_the_password_counts() -> None:
    assert chosen_key("svck_one", "svck_other") == "svck_other"


class Gateway:
    """Knows one key, and may refuse it as well."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def check_proxy_key(self, key: str) -> None:
        self.asked.append(key)
        if self.error:
            raise self.error
        if key != KEY:
            raise Unauthorized("The API key is missing or not valid.")


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


@pytest.fixture
def addon(gateway: Gateway) -> ProxyKey:
    return ProxyKey(cast(Any, gateway), cast(Any, SimpleNamespace(answer_at_once=lambda _: None)))


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


async def test_the_key_becomes_that_of_the_caller_and_leaves_the_header(addon: ProxyKey, gateway: Gateway) -> None:
    flow = flow_of(proxy_authorization=basic(f"x:{KEY}"))
    assert await status_of(addon, flow) == 200
    assert flow.request.headers.fields == ((b"x-svc-key", KEY.encode()),)
    assert gateway.asked == [KEY]


async def test_a_key_that_the_client_sends_itself_stays(addon: ProxyKey) -> None:
    flow = flow_of(proxy_authorization=basic(f"x:{KEY}"), x_svc_key="svck_of-its-own")
    assert await status_of(addon, flow) == 200
    assert flow.request.headers["x-svc-key"] == "svck_of-its-own"


async def test_a_tunnel_is_asked_once(addon: ProxyKey, gateway: Gateway) -> None:
    opening = flow_of(proxy_authorization=f"Bearer {KEY}")
    assert await status_of(addon, opening, "http_connect") == 200
    assert "proxy-authorization" not in opening.request.headers
    inside = flow_of()
    inside.client_conn = opening.client_conn
    assert await status_of(addon, inside) == 200
    assert inside.request.headers["x-svc-key"] == KEY
    assert len(gateway.asked) == 1


async def test_plain_http_is_asked_with_every_request(addon: ProxyKey) -> None:
    first = flow_of(proxy_authorization=f"Bearer {KEY}")
    assert await status_of(addon, first) == 200
    second = flow_of()
    second.client_conn = first.client_conn
    assert await status_of(addon, second) == 407


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
