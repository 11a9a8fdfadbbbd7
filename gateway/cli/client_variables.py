"""Defines the variables that lead a client to the gateway: through the proxy, by its base URL, or both."""

import argparse
import ipaddress
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from gateway.cli.java_options import VARIABLE, java_options
from gateway.config.listener_addresses import ListenerName
from gateway.config.listener_urls import address_of, name_of, url_of
from gateway.config.locations import bundle_of, certificate_of, command_for, trust_store_of
from gateway.config.settings import Settings, SettingsError

type Entrance = Literal["proxy", "gateway", "both"]

ENTRANCES: tuple[Entrance, ...] = ("proxy", "gateway", "both")
# Variables in which clients look for a key. Some clients prefer the second row to the first.
KEY_VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
OTHER_KEY_VARIABLES = ("ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY")

_ENTERED: tuple[Literal["gateway", "proxy"], ...] = ("gateway", "proxy")
_LOCAL = ("localhost", "127.0.0.1", "::1")
# Each replaces the authorities that a program trusts: Python, Go, Rust and OpenSSL; requests; curl; the AWS CLI; git;
# pip; cargo; Deno; gRPC; codex.
_BUNDLE_VARIABLES = (
    *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT"),
    *("CARGO_HTTP_CAINFO", "DENO_CERT", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "CODEX_CA_CERTIFICATE"),
)


@dataclass(frozen=True, slots=True)
class Files:
    """Paths of the proxy's certificate authority, as the client sees them."""

    certificate: str
    bundle: str


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say where the gateway listens, besides those of the settings, and the entrance."""
    add_ports(parser)
    parser.add_argument(
        "--through",
        choices=ENTRANCES,
        default="proxy",
        help="proxy: programs keep their provider's key (the default); gateway: base URLs, with a gateway key; or both",
    )


def add_ports(parser: argparse.ArgumentParser, names: Sequence[str] = ("gateway", "proxy")) -> None:
    """Adds the options with which `serve` may have been started."""
    parser.add_argument("--host", help="address that the gateway listens on")
    parser.add_argument("--proxy-host", metavar="HOST", help="address that the proxy listens on")
    for name in names:
        parser.add_argument(f"--{name}-port", type=int, metavar="PORT", help=f"port of the {name} listener")


def files_of(settings: Settings) -> Files:
    """Returns the full paths of the authority's files. Raises SettingsError if they do not exist yet."""
    certificate, bundle = certificate_of(settings.certs_dir), bundle_of(settings.certs_dir)
    if not certificate.is_file() or not bundle.is_file():
        raise SettingsError(
            f"certs_dir: the proxy's certificate authority is not in {settings.certs_dir.resolve()}. If the gateway has"
            " run, give this command the same settings: `--config FILE` or SVC_CONFIG, or `--certs-dir DIR` or"
            f" SVC_CERTS_DIR. If it never has, start it once, or run `{command_for('ca', 'certs', settings.certs_dir)}`"
        )
    # Node.js adds a file to its own authorities. The certificates of our listeners are in the bundle alone.
    own = certificate if settings.tls_certificate is None else bundle
    return Files(str(own.resolve()), str(bundle.resolve()))


def reachable_host(host: str) -> str:
    """Returns the address at which a client on this machine reaches a listener on `host`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return str(address)


def port_of(settings: Settings, listener: ListenerName) -> int:
    """Returns the port of a listener. Raises SettingsError if it is switched off, or any free one."""
    if listener == "proxy" and not settings.proxy:
        raise SettingsError("proxy: it is switched off; set it to true, or add `--through gateway`")
    ports = {"gateway": settings.gateway_port, "proxy": settings.proxy_port, "web": settings.web_port}
    port = (ports | {"operations": settings.operations_port})[listener]
    if not port:
        raise SettingsError(f"{listener}_port: it is 0, any free port; give the real one with `--{listener}-port PORT`")
    return port


def base_of(settings: Settings, listener: Literal["gateway", "proxy"], host: str | None = None, key: str = "") -> str:
    """Returns the URL of a listener, with a key if given.

    Raises SettingsError if it is switched off, or its port is only known to the running gateway.
    """
    port = port_of(settings, listener)
    return url_of(settings, listener, port, key, host=host or reachable_host(address_of(settings, listener)))


def proxy_for_clients(settings: Settings, key_variable: str | None, host: str | None = None) -> str:
    """Returns the URL of the proxy as clients need it: if it asks for a key, with the one that the variable holds.

    Raises SettingsError as `base_of` does, and if there is no key.
    """
    if not settings.proxy_key:
        return base_of(settings, "proxy", host)
    key = os.environ.get(key_variable) if key_variable else None
    if not key:
        raise SettingsError(
            "proxy_key: the proxy asks for a gateway key; name a variable that holds one with `--key-env VARIABLE`"
        )
    return base_of(settings, "proxy", host, quote(key, safe=""))


def variables(
    proxy: str | None, gateway: str | None, files: Files | None, direct: Iterable[str] = ()
) -> dict[str, str]:
    """Returns the variables for the proxy and the gateway at these URLs; None leaves an entrance out.

    `direct` names hosts, besides this machine, that clients reach without the proxy, which refuses the gateway's own.
    """
    found: dict[str, str] = {}
    if proxy is not None:
        beside = ",".join((*_LOCAL, *direct))
        # Most programs read one of the spellings. Where both exist, the small one wins.
        found |= {"HTTPS_PROXY": proxy, "https_proxy": proxy, "NO_PROXY": beside, "no_proxy": beside}
        found["NODE_USE_ENV_PROXY"] = "1"
    if files is not None:
        found |= dict.fromkeys(_BUNDLE_VARIABLES, files.bundle)
        found["NODE_EXTRA_CA_CERTS"] = files.certificate
    if gateway is not None:
        found |= dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), f"{gateway}/v1")
        found |= dict.fromkeys(("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), gateway)
    return found


def for_this_machine(settings: Settings, through: Entrance, key_variable: str | None = None) -> dict[str, str]:
    """Returns the variables for a program on this machine. Raises SettingsError."""
    proxy = proxy_for_clients(settings, key_variable) if through != "gateway" else None
    gateway = base_of(settings, "gateway") if through != "proxy" else None
    reached = {name: reachable_host(address_of(settings, name)) for name in _ENTERED}
    hosts = dict.fromkeys((*reached.values(), *(name_of(settings, name, host) for name, host in reached.items())))
    direct = [host for host in hosts if host not in _LOCAL]
    found = variables(proxy, gateway, files_of(settings) if needs_files(settings, through) else None, direct)
    if proxy is not None:
        # A model may be served over plain HTTP. In a container, names of neighbours would not lead anywhere.
        found |= {"HTTP_PROXY": proxy, "http_proxy": proxy}
        store = trust_store_of(settings.certs_dir).resolve()
        found[VARIABLE] = java_options(os.environ.get(VARIABLE, ""), proxy, direct, store if store.exists() else None)
    return found


def needs_files(settings: Settings, through: Entrance) -> bool:
    """Tells whether clients have to trust one of the authority's files."""
    return through != "gateway" or settings.speaks_tls("gateway")


def mounted(folder: Path) -> Files:
    """Returns where a container finds the authority's files that are mounted to `folder`. One file serves all."""
    return Files(str(folder / "ca-bundle.pem"), str(folder / "ca-bundle.pem"))
