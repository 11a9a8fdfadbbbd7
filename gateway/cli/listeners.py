"""Finds out whether the gateway answers on its ports."""

import ssl
from collections.abc import Callable
from enum import Enum

import httpx
from cryptography.hazmat.primitives.serialization import Encoding

from gateway.cli.client_variables import port_of, reachable_host
from gateway.config.contained_programs import CONTAINED_ADDRESS, CONTAINED_CODE
from gateway.config.listener_addresses import ListenerName, listener_url
from gateway.config.listener_urls import address_of
from gateway.config.server_certificate import certificates_in
from gateway.config.settings import Settings
from gateway.http.upstream_failures import Fault, of_exception

_SECONDS = 5
_UNTRUSTED = {Fault.UNTRUSTED, Fault.EXPIRED}


class Answer(Enum):
    """The program that answers on a port."""

    NOTHING = "no program listens"
    OURS = "the gateway listens"
    OTHERS = "another program listens"
    UNTRUSTED = "a program listens whose certificate is expired or not the one in tls_certificate"


def gateway_answers(settings: Settings) -> Answer:
    """Asks the gateway's listener for its health. Raises SettingsError if its port is 0."""
    return _answer(settings, "gateway", "/healthz", _is_health)


def operations_answers(settings: Settings) -> Answer:
    """Asks the operations listener for its health. Raises SettingsError if its port is 0."""
    return _answer(settings, "operations", "/livez", _is_health)


def gateway_problem(settings: Settings) -> str | None:
    """Asks the gateway's listener for its health. Returns what is wrong: its answer, or why there was none.

    Raises SettingsError if its port is 0.
    """
    try:
        with _client(settings, "gateway") as client:
            reply = client.get("/healthz")
        body = reply.json()
        if reply.is_success and body["status"] == "ok":
            return None
        return f"{reply.status_code} {body['error']['code']}"
    except httpx.TimeoutException:
        return f"no answer within {_SECONDS} seconds"
    except httpx.ConnectError as error:
        return _unconnected(error).value
    except (httpx.HTTPError, ValueError, LookupError, TypeError):
        return Answer.OTHERS.value


def proxy_answers(settings: Settings) -> Answer:
    """Asks the proxy for its own address, which it refuses as no other program does. Raises SettingsError."""
    return _answer(settings, "proxy", "/", lambda reply: "x-svc-request-id" in reply.headers)


def holds_contained(settings: Settings, listener: ListenerName) -> bool:
    """Tells whether a listener refuses a contained program what others may ask for. Raises SettingsError."""
    try:
        with _client(settings, listener, CONTAINED_ADDRESS) as client:
            error = client.get("/").json()["error"]
    except (httpx.HTTPError, ValueError, LookupError, TypeError):
        return False
    return bool(error["code"] == CONTAINED_CODE)


def mitmweb_answers(settings: Settings) -> Answer:
    """Asks mitmweb for its page, which it refuses without a token. Raises SettingsError if its port is 0."""
    return _answer(settings, "web", "/", lambda reply: reply.headers.get("server", "").startswith("mitmproxy"))


def _answer(settings: Settings, listener: ListenerName, path: str, is_ours: Callable[[httpx.Response], bool]) -> Answer:
    try:
        with _client(settings, listener) as client:
            return Answer.OURS if is_ours(client.get(path)) else Answer.OTHERS
    except httpx.ConnectError as error:
        return _unconnected(error)
    except httpx.HTTPError:
        return Answer.OTHERS


def _is_health(reply: httpx.Response) -> bool:
    try:
        body = reply.json()
    except ValueError:
        return False
    # A gateway that is not healthy answers with an error of its own.
    return isinstance(body, dict) and ({"status", "version"} <= body.keys() or {"error", "request_id"} <= body.keys())


def _unconnected(error: httpx.ConnectError) -> Answer:
    fault = of_exception(error)
    return Answer.UNTRUSTED if fault in _UNTRUSTED else Answer.OTHERS if fault is Fault.NO_TLS else Answer.NOTHING


def _client(settings: Settings, listener: ListenerName, from_address: str | None = None) -> httpx.Client:
    """Returns a client of a listener, which may come from an address of its own.

    Raises SettingsError if it is switched off, or its port is 0."""
    host, port = reachable_host(address_of(settings, listener)), port_of(settings, listener)
    url, trust = listener_url(host, port, tls=settings.speaks_tls(listener)), _trust(settings, listener)
    transport = httpx.HTTPTransport(verify=trust, trust_env=False, local_address=from_address)
    return httpx.Client(base_url=url, transport=transport, timeout=_SECONDS)


def _trust(settings: Settings, listener: ListenerName) -> ssl.SSLContext:
    """Returns what accepts the configured certificate, and others that the system trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # The address of this machine need not be in the certificate.
    context.check_hostname = False
    if settings.tls_certificate is None or not settings.speaks_tls(listener):
        # Loading authorities takes a while, and plain HTTP needs none.
        return context
    context.load_default_certs()
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    known = b"".join(each.public_bytes(Encoding.DER) for each in certificates_in(settings.tls_certificate))
    if known:
        context.load_verify_locations(cadata=known)
    return context
