"""The URLs by which clients reach the listeners, as the settings and the certificate have them."""

from gateway.config.listener_addresses import ListenerName, listener_url
from gateway.config.server_certificate import certified_name
from gateway.config.settings import Settings


def address_of(settings: Settings, listener: ListenerName) -> str:
    """Returns the name or address that a listener is bound to."""
    hosts = {"gateway": settings.host, "proxy": settings.proxy_host, "web": settings.web_host}
    return (hosts | {"operations": settings.operations_host})[listener]


def name_of(settings: Settings, listener: ListenerName, host: str) -> str:
    """Returns the name by which clients reach a listener on `host`: with a certificate, one that it is for."""
    if settings.tls_certificate is None or not settings.speaks_tls(listener):
        return host
    return certified_name(settings.tls_certificate, host)


def url_of(
    settings: Settings, listener: ListenerName, port: int | str, key: str = "", *, host: str | None = None
) -> str:
    """Returns the URL of a listener on its own address or, as clients reach it, on `host`.

    A `key` becomes the password in it. It must be quoted for URLs.
    """
    name = name_of(settings, listener, host or address_of(settings, listener))
    return listener_url(name, port, key, tls=settings.speaks_tls(listener))
