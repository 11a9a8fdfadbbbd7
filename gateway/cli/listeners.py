"""Finds out whether the gateway answers on its ports."""

from enum import Enum

import httpx

from gateway.cli.client_variables import base_of
from gateway.config.listener_addresses import listener_url
from gateway.config.settings import Settings

_SECONDS = 5


class Answer(Enum):
    """Who answers on a port."""

    NOBODY = "nobody listens"
    OURS = "the gateway listens"
    OTHERS = "another program listens"


def gateway_answers(settings: Settings) -> Answer:
    """Asks the gateway's listener for its health. Raises SettingsError if its port is 0."""
    reply = _get(f"{base_of(settings, 'gateway')}/healthz")
    if not isinstance(reply, httpx.Response):
        return reply
    members = _members(reply)
    # A gateway that is not healthy answers with an error of its own.
    return Answer.OURS if {"status", "version"} <= members or {"error", "request_id"} <= members else Answer.OTHERS


def proxy_answers(settings: Settings) -> Answer:
    """Asks the proxy for its own address, which it refuses as no other program does. Raises SettingsError."""
    reply = _get(f"{base_of(settings, 'proxy')}/")
    if not isinstance(reply, httpx.Response):
        return reply
    return Answer.OURS if "x-svc-request-id" in reply.headers else Answer.OTHERS


def mitmweb_answers(settings: Settings) -> Answer:
    """Asks mitmweb for its page, which it refuses without a token."""
    reply = _get(f"{listener_url(settings.web_host, settings.web_port)}/")
    if not isinstance(reply, httpx.Response):
        return reply
    return Answer.OURS if reply.headers.get("server", "").startswith("mitmproxy") else Answer.OTHERS


def _get(url: str) -> httpx.Response | Answer:
    try:
        # Loading authorities takes a while, and plain HTTP needs none.
        with httpx.Client(trust_env=False, verify=False, timeout=_SECONDS) as client:  # noqa: S501  # nosec B501
            return client.get(url)
    except httpx.ConnectError:
        return Answer.NOBODY
    except httpx.HTTPError:
        return Answer.OTHERS


def _members(reply: httpx.Response) -> frozenset[str]:
    try:
        body = reply.json()
    except ValueError:
        return frozenset()
    return frozenset(body) if isinstance(body, dict) else frozenset()
