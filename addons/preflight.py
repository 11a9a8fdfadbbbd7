"""Checks the settings before the first listener opens, and reports all problems at once, one line each.

mitmproxy would find most of them too, but one listener at a time and in terms of its own options.
"""

import errno
import os
import socket
import ssl
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from mitmproxy.options import CONF_BASENAME
from mitmproxy.proxy.mode_specs import LocalMode, ProxyMode, RegularMode, ReverseMode, Socks5Mode, UpstreamMode

from addons.certificate_authority import make_authority
from addons.connection_addresses import leads_to
from addons.listener_tls import mode_speaks_tls
from addons.logs import check_log_file
from gateway.config.listener_addresses import Risk, exposures
from gateway.config.locations import COMMAND, private_key_of
from gateway.config.private_files import is_open_to_others
from gateway.config.server_certificate import certificates_in, read_certificate
from gateway.config.settings import Settings, SettingsError
from gateway.errors import GatewayError, Unprocessable

_KINDS = {"tcp": (socket.SOCK_STREAM,), "udp": (socket.SOCK_DGRAM,), "both": (socket.SOCK_STREAM, socket.SOCK_DGRAM)}
# The value is not repeated: the address of a mode may contain a password.
_PLACES = {"gateway": "host", "proxy": "proxy_host", "web": "web_host", "operations": "operations_host"}
_ADVICE = "mitmproxy has `socks5@127.0.0.1:1080`, `local:PROGRAM`, `wireguard`, `transparent` and others"


@dataclass(frozen=True, slots=True)
class _Listener:
    """A listener to open. Errors name `setting` for its port and `place` for its address, and give the `advice`."""

    setting: str
    place: str
    advice: str
    host: str
    port: int
    kinds: tuple[socket.SocketKind, ...] = (socket.SOCK_STREAM,)
    tls: bool = False

    def refused(self, error: OSError) -> str:
        """Returns why it cannot listen, and what to do about it."""
        if isinstance(error, socket.gaierror):
            return f"{self.place}: the name to listen on has no address; 127.0.0.1 is this machine alone"
        if error.errno == errno.EADDRINUSE:
            return f"{self.setting}: port {self.port} is in use by another program; {self.advice}"
        if error.errno == errno.EADDRNOTAVAIL:
            return f"{self.place}: this machine does not have the address to listen on; 127.0.0.1 it always has"
        if error.errno == errno.EACCES:
            return (
                f"{self.setting}: port {self.port} is closed to this user (below 1024: to all but root); {self.advice}"
            )
        return f"{self.setting}: port {self.port} cannot be used: {error.strerror}"


def prepared(settings: Settings) -> Settings:
    """Checks folders, modes, ports and upstreams. Returns the settings with a free port in place of every 0.

    Creates missing folders. Raises SettingsError with all problems found.
    """
    found, listeners = _problems(settings)
    problems = [*_unusable_folders(settings), *found]
    ports: dict[str, int] = {}
    if not problems:
        with ExitStack() as held:
            # All are held until the last is found, so that no free port is used twice.
            for listener in listeners:
                try:
                    ports[listener.setting] = held.enter_context(_opened(listener))
                except OSError as error:
                    problems.append(listener.refused(error))
    if not problems:
        problems += _circular_upstreams(settings, listeners, ports)
    if problems:
        raise SettingsError(*dict.fromkeys(problems))
    return settings.model_copy(update={name: port for name, port in ports.items() if hasattr(settings, name)})


def check_reload(loaded: Settings, changed: Settings) -> None:
    """Checks settings before a reload: those loaded, for the next start, and those that it puts in force.

    Raises SettingsError with all problems found.
    """
    found, listeners = _problems(changed)
    problems = [*_unusable_folders(changed), *_unusable_log(changed), *found, *_problems(loaded)[0]]
    if not problems:
        problems += _circular_upstreams(changed, listeners, {})
    if problems:
        raise SettingsError(*dict.fromkeys(problems))


def _problems(settings: Settings) -> tuple[list[str], list[_Listener]]:
    """Returns the problems that are found without a change to this machine, and the listeners."""
    problems = [*_unusable_upstreams(settings), *_unusable_authorities(settings), *_unusable_certificate(settings)]
    modes: list[_Listener] = []
    for number, spec in enumerate(settings.modes, 1):
        try:
            mode = ProxyMode.parse(spec)
            modes += _of_mode(number, mode, tls=mode_speaks_tls(settings, mode))
        except ValueError:
            problems.append(f"modes: entry {number} is not a mode of mitmproxy; {_ADVICE}")
        else:
            if settings.proxy_key and not _asks_for_a_key(mode):
                problems.append(
                    f"modes: entry {number} cannot ask clients for a key, as `proxy_key` requires; use `regular`,"
                    " `socks5` or `local` instead, or set `proxy_key` to false"
                )
    fixed = [_own(settings, name) for name in _PLACES if name == "gateway" or getattr(settings, name)]
    problems += _unaccepted_risks(settings, modes)
    numbered = Counter((each.host, each.port) for each in (*fixed, *modes) if each.port)
    problems += [
        f"{each.setting}: another listener of the gateway has port {each.port}; {each.advice}"
        for each in modes
        if numbered[each.host, each.port] > 1
    ]
    return problems, [*fixed, *modes]


def explained(error: GatewayError) -> SettingsError:
    """Returns an error raised during the start as a problem of the settings."""
    if error.code in {"policy_not_found", "policy_retired"}:
        problem = "this policy is retired" if error.code == "policy_retired" else "there is no such policy"
        return SettingsError(f"default_policy: {problem}; `{COMMAND} policies list` shows them all")
    return SettingsError(f"policies_dir: {error.message}" if isinstance(error, Unprocessable) else error.message)


def refused_by_mitmproxy(error: BaseException) -> SettingsError:
    """Returns an error of mitmproxy as a problem of the settings.

    Rolling options back makes `OptionGuard` raise as well, so the first error of the chain is the cause.
    """
    while error.__context__ is not None:
        error = error.__context__
    return SettingsError(f"mitmproxy refuses the settings ({type(error).__name__}): {error}")


def authority(settings: Settings) -> Path:
    """Creates the proxy's certificate authority on first use. Raises SettingsError if its files are damaged."""
    folder = settings.certs_dir
    try:
        return make_authority(folder, certificates_in(settings.tls_certificate) if settings.tls_certificate else ())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        remedy = "restore it, or delete it to get a new one, which programs have to trust anew"
        raise SettingsError(f"certs_dir: {CONF_BASENAME}-ca.pem is damaged; {remedy}") from None
    except OSError as error:
        # A full disk names no file.
        raise OSError(error.errno, error.strerror, error.filename or str(folder)) from None


def _asks_for_a_key(mode: ProxyMode) -> bool:
    """Returns whether clients of a mode need a gateway key. `local` has none but the programs of this machine."""
    if isinstance(mode, ReverseMode):
        # As the gateway's listener does, for calls.
        return mode.scheme in {"http", "https"}
    return isinstance(mode, RegularMode | UpstreamMode | Socks5Mode | LocalMode)


def _own(settings: Settings, name: str) -> _Listener:
    setting = f"{name}_port"
    advice = f"take another with `--{name}-port PORT` or the setting `{setting}` (0: any free one)"
    place = _PLACES[name]
    return _Listener(setting, place, advice, getattr(settings, place), getattr(settings, setting))


def _unaccepted_risks(settings: Settings, modes: list[_Listener]) -> Iterator[str]:
    """Yields listeners beyond this machine whose risks the settings do not accept."""
    accepted = settings.accept_risks
    demo: tuple[Risk, ...] = () if settings.all_upstreams else ("public_demo",)
    # A key travels with the first request of each connection.
    proxy: tuple[Risk, ...] = ("plain_http",) if settings.proxy_key else ("open_proxy",)

    def risks(all_risks: tuple[Risk, ...], *, tls: bool) -> list[Risk]:
        return [risk for risk in all_risks if not (tls and risk == "plain_http")]

    own = risks(("plain_http", *demo), tls=settings.speaks_tls("gateway"))
    yield from exposures("host", settings.host, own, accepted)
    if settings.proxy:
        own = risks(proxy, tls=settings.speaks_tls("proxy"))
        yield from exposures("proxy_host", settings.proxy_host, own, accepted)
    if settings.web:
        yield from exposures("web_host", settings.web_host, ("public_mitmweb",), accepted)
    if settings.operations:
        own = risks(("plain_http",), tls=settings.speaks_tls("operations"))
        yield from exposures("operations_host", settings.operations_host, own, accepted)
    for mode in modes:
        # WireGuard has keys of its own.
        if socket.SOCK_STREAM in mode.kinds:
            yield from exposures(mode.place, mode.host, risks(proxy, tls=mode.tls), accepted)


def _of_mode(number: int, mode: ProxyMode, *, tls: bool) -> Iterator[_Listener]:
    """Yields the listener of a mode, if it has a port."""
    port = mode.listen_port()
    if port is not None:
        advice = f"give it another behind an @, as in `{mode.type_name}@127.0.0.1:1080`"
        name = f"modes, entry {number}"
        yield _Listener(name, name, advice, mode.listen_host(), port, _KINDS[mode.transport_protocol], tls)


@contextmanager
def _opened(listener: _Listener) -> Iterator[int]:
    """Binds the port of a listener, or a free one, for the duration of the context. Raises OSError."""
    port = listener.port
    with ExitStack() as held:
        addresses = [
            (kind, family, address)
            for kind in listener.kinds
            for family, _, _, _, address in socket.getaddrinfo(
                listener.host or None, port, type=kind, flags=socket.AI_PASSIVE
            )
        ]
        opened = 0
        absent: OSError | None = None
        for kind, family, address in addresses:
            try:
                probe = held.enter_context(socket.socket(family, kind))
                if kind is socket.SOCK_STREAM and os.name == "posix":
                    # As the listeners do: a port with connections in TIME_WAIT is free.
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family is socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind((address[0], port, *address[2:]))
            except OSError as error:
                # A name such as localhost has two addresses, of which many machines support only one.
                if error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
                    raise
                absent = error
            else:
                opened += 1
                port = probe.getsockname()[1]
        if absent is not None and not opened:
            raise absent
        yield port


def _unusable_certificate(settings: Settings) -> tuple[str, ...]:
    try:
        if settings.tls_certificate is not None and settings.tls_key is not None:
            read_certificate(settings.tls_certificate, settings.tls_key)
    except SettingsError as error:
        return error.problems
    return ()


def _unusable_upstreams(settings: Settings) -> tuple[str, ...]:
    try:
        settings.check_upstreams()
    except SettingsError as error:
        return error.problems
    return ()


def _unusable_log(settings: Settings) -> tuple[str, ...]:
    try:
        check_log_file(settings.log_file)
    except SettingsError as error:
        return error.problems
    return ()


def _circular_upstreams(settings: Settings, listeners: list[_Listener], ports: dict[str, int]) -> Iterator[str]:
    """Yields upstreams that are our own listeners, on the `ports` found for them, by setting.

    `ConnectionAddresses` refuses one whose name does not resolve yet.
    """
    places = [(each.host, ports.get(each.setting, each.port)) for each in listeners if socket.SOCK_STREAM in each.kinds]
    for name, upstream in settings.all_upstreams.items():
        url = urlsplit(str(upstream.base_url))
        port = url.port or {"http": 80, "https": 443}[url.scheme]
        ours = [host for host, known in places if known == port]
        try:
            found = socket.getaddrinfo(url.hostname, port, type=socket.SOCK_STREAM) if ours else []
        except OSError:
            continue
        if any(leads_to(str(address[0]), ours) for *_, address in found):
            yield f"upstreams.{name}: its address is one of the gateway's own listeners; name the provider's"


def _unusable_folders(settings: Settings) -> Iterator[str]:
    for name, folder in (("data_dir", settings.data_dir), ("certs_dir", settings.certs_dir)):
        option = f"`--{name.replace('_', '-')} DIR`"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with TemporaryFile(dir=folder):
                pass
        except FileExistsError:
            yield f"{name}: {folder} is not a folder; name another with {option}"
        except OSError as error:
            yield f"{name}: {folder} cannot be written to ({error.strerror}); name another with {option}"
    try:
        if not any(each.suffix == ".toml" for each in settings.policies_dir.iterdir()):
            yield f"policies_dir: no policies (*.toml) are in {settings.policies_dir}"
    except OSError as error:
        yield f"policies_dir: {settings.policies_dir} cannot be read ({error.strerror})"


def _unusable_authorities(settings: Settings) -> Iterator[str]:
    key = private_key_of(settings.certs_dir)
    if key.is_file() and is_open_to_others(key):
        yield f"certs_dir: other users can open {key}, which holds a private key; run `chmod 600 {key}`"
    for file in settings.upstream_ca_files:
        if not _holds_certificates(file):
            yield f"upstream_ca or ca_file: {file} cannot be read or holds no certificate in PEM"


def _holds_certificates(file: Path) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
        file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return True
