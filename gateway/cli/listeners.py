"""Finds out whether the gateway answers on its ports."""

from collections.abc import Callable
from enum import Enum

import httpx

from gateway.cli.client_variables import base_of
from gateway.config.listener_addresses import listener_url
from gateway.config.settings import Settings

_SECONDS = 5


class Answer(Enum):
    """The program that answers on a port."""

    NOTHING = "no program listens"
    OURS = "the gateway listens"
    OTHERS = "another program listens"


def gateway_answers(settings: Settings) -> Answer:
    """Asks the gateway's listener for its health. Raises SettingsError if its port is 0."""

    def is_ours(reply: httpx.Response) -> bool:
        try:
            body = reply.json()
        except ValueError:
            return False
        # A gateway that is not healthy answers with an error of its own.
        return isinstance(body, dict) and (
            {"status", "version"} <= body.keys() or {"error", "request_id"} <= body.keys()
        )

    return _answer(f"{base_of(settings, 'gateway')}/healthz", is_ours)


def gateway_problem(settings: Settings) -> str | None:
    """Asks the gateway's listener for its health. Returns what is wrong: its answer, or why there was none.

    Raises SettingsError if its port is 0.
    """
    try:
        with _client() as client:
            reply = client.get(f"{base_of(settings, 'gateway')}/healthz")
        body = reply.json()
        if reply.is_success and body["status"] == "ok":
            return None
        return f"{reply.status_code} {body['error']['code']}"
    except httpx.TimeoutException:
        return f"no answer within {_SECONDS} seconds"
    except httpx.ConnectError:
        return Answer.NOTHING.value
    except (httpx.HTTPError, ValueError, LookupError, TypeError):
        return Answer.OTHERS.value


def proxy_answers(settings: Settings) -> Answer:
    """Asks the proxy for its own address, which it refuses as no other program does. Raises SettingsError."""
    return _answer(f"{base_of(settings, 'proxy')}/", lambda reply: "x-svc-request-id" in reply.headers)


def mitmweb_answers(settings: Settings) -> Answer:
    """Asks mitmweb for its page, which it refuses without a token."""
    url = f"{listener_url(settings.web_host, settings.web_port)}/"
    return _answer(url, lambda reply: reply.headers.get("server", "").startswith("mitmproxy"))


def _answer(url: str, is_ours: Callable[[httpx.Response], bool]) -> Answer:
    try:
        with _client() as client:
            return Answer.OURS if is_ours(client.get(url)) else Answer.OTHERS
    except httpx.ConnectError:
        return Answer.NOTHING
    except httpx.HTTPError:
        return Answer.OTHERS


def _client() -> httpx.Client:
    # Loading authorities takes a while, and plain HTTP needs none.
    return httpx.Client(trust_env=False, verify=False, timeout=_SECONDS)  # noqa: S501  # nosec B501
