"""Checks the parts that a gateway needs, for `doctor`. No check changes a file."""

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory, TemporaryFile

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from gateway.cli.connection_checks import reach_proxy, reach_upstream
from gateway.cli.listeners import (
    Answer,
    gateway_answers,
    gateway_problem,
    mitmweb_answers,
    operations_answers,
    proxy_answers,
)
from gateway.cli.receipt_log import installed_signer
from gateway.cli.store_commands import check_not_lost
from gateway.config.installation_key import FILE as INSTALLATION_KEY
from gateway.config.installation_key import installation_key
from gateway.config.locations import COMMAND, bundle_of, certificate_of, private_key_of
from gateway.config.private_files import check_private
from gateway.config.server_certificate import read_certificate
from gateway.config.settings import Settings, SettingsError
from gateway.config.upstreams import host_and_port
from gateway.corrections.stored import BROKEN_REMEDY, count_entries
from gateway.errors import GatewayError, Unavailable
from gateway.receipt_log.checkpoint_file import read_checkpoint
from gateway.receipt_log.consistency import find_fault, has_records
from gateway.store import ReadOnlyStore, open_read_only, store_exists
from gateway.usage import counted_records

_SECONDS = 5
_PROBE_BYTES = 64 * 1024
_RECREATE = "stop the gateway, delete the files in certs_dir and start it again; programs have to trust the new one"
_NOT_READY = "see PrivacyGatewayNotReady in docs/operating.md for the remedy of each code"
_MARK = "\N{LOCK}"
# A clock may be set back a little, as when it is synchronized.
_TOLERANCE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of one check; `remedy` says what to do about a problem."""

    name: str
    detail: str
    remedy: str = ""

    @property
    def ok(self) -> bool:
        return not self.remedy


def run_checks(settings: Settings) -> Iterator[Checked]:
    """Yields the results of all checks."""
    yield from check_settings(settings)
    yield check_authority(settings)
    if settings.tls_certificate is not None and settings.tls_key is not None:
        yield check_certificate(settings.tls_certificate, settings.tls_key)
    yield from check_ports(settings)
    yield from check_upstreams(settings)
    yield check_clock(settings)
    yield check_store(settings)
    yield from check_corrections(settings)
    yield check_recognizers()
    if settings.web and (program := which("fc-list")):
        yield check_fonts(program)


def check_settings(settings: Settings) -> Iterator[Checked]:
    """Yields a result for each problem that `serve` would report, or one that says there is none."""
    try:
        settings.check_upstreams()
    except SettingsError as error:
        for problem in error.problems:
            yield Checked("settings", problem, "correct this setting; docs/settings.md describes it")
        return
    yield Checked("settings", "usable")


def check_recognizers() -> Checked:
    """Checks that every built-in recognizer finds its own examples, with the libraries that are installed here."""
    from gateway.detection import DefinitionError, builtin_detector  # noqa: PLC0415 - slow, and for `doctor` alone

    name = "recognizers"
    try:
        detector = builtin_detector()
        detector.check()
    except DefinitionError as error:
        return Checked(name, str(error), "install the locked packages again, or correct the recognizer")
    return Checked(name, f"all {len(detector.recognizers)} find their examples")


def check_authority(settings: Settings) -> Checked:
    """Checks that the proxy's authority exists, is valid now, and that its private key fits and is private."""
    name = "certificate authority"
    file, key_file = certificate_of(settings.certs_dir), private_key_of(settings.certs_dir)
    try:
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
        key = load_pem_private_key(key_file.read_bytes(), password=None)
        bundle = bundle_of(settings.certs_dir).read_bytes()
    except FileNotFoundError as error:
        return Checked(name, f"{error.filename} does not exist", f"start the gateway once, or run `{COMMAND} ca`")
    except OSError as error:
        return Checked(name, f"{error.filename} cannot be read: {error.strerror}", "give its owner access to the file")
    except (ValueError, TypeError):
        return Checked(name, f"a file in {settings.certs_dir} is damaged", _RECREATE)
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if key.public_key() != certificate.public_key():
        return Checked(name, f"{key_file} is not the key of {file}", _RECREATE)
    if os.name == "posix" and key_file.stat().st_mode & 0o077:
        return Checked(name, f"other users can open the private key {key_file}", f"chmod 600 {key_file}")
    if file.read_bytes().strip() not in bundle:
        return Checked(name, "ca-bundle.pem holds another certificate", f"run `{COMMAND} ca`, which writes it anew")
    now = datetime.now(UTC)
    if now > ends:
        return Checked(name, f"expired on {ends:%Y-%m-%d}", _RECREATE)
    if now < begins:
        return Checked(name, f"not valid before {begins:%Y-%m-%d %H:%M} UTC", "set this machine's clock")
    return Checked(name, f"{file}, valid until {ends:%Y-%m-%d}")


def check_certificate(file: Path, key: Path) -> Checked:
    """Checks the certificate of the listeners, as a start would, and that it has not expired."""
    name = "TLS certificate"
    try:
        read = read_certificate(file, key)
    except SettingsError as error:
        return Checked(name, "; ".join(error.problems), "correct the file or the setting; docs/operating.md, TLS")
    ends = f"{read.expires:%Y-%m-%d}"
    if read.has_expired:
        return Checked(name, f"expired on {ends}", "renew it and have the gateway load it")
    return Checked(name, f"{file}, valid until {ends}")


def check_ports(settings: Settings) -> Iterator[Checked]:
    """Yields for each listener whether the gateway answers, or could listen."""
    asked: list[tuple[str, str, int, Callable[[Settings], Answer]]] = [
        ("gateway", settings.host, settings.gateway_port, gateway_answers)
    ]
    if settings.proxy:
        asked.append(("proxy", settings.proxy_host, settings.proxy_port, proxy_answers))
    if settings.web:
        asked.append(("web", settings.web_host, settings.web_port, mitmweb_answers))
    if settings.operations_port is not None:
        asked.append(("operations", settings.operations_host, settings.operations_port, operations_answers))
    for name, host, port, answers in asked:
        place = f"port {port} ({name})"
        if not port:
            yield Checked(f"port ({name})", "any free port: only the running gateway knows which")
            continue
        match answers(settings):
            case Answer.OURS if name == "gateway" and (problem := gateway_problem(settings)):
                yield Checked(place, f"the gateway listens, and refuses requests: {problem}", _NOT_READY)
            case Answer.OURS:
                yield Checked(place, "the gateway listens")
            case Answer.UNTRUSTED as found:
                yield Checked(place, found.value, "have the gateway load the new certificate, or stop that program")
            case Answer.OTHERS:
                remedy = f"stop that program, or choose another port with `--{name}-port PORT`"
                yield Checked(place, "another program listens", remedy)
            case _:
                yield _free(place, host, port, name)


def check_upstreams(settings: Settings) -> Iterator[Checked]:
    """Yields for each outbound proxy and upstream whether a connection can be opened, with TLS where it uses TLS."""
    upstreams = settings.all_upstreams
    try:
        proxies = settings.outbound_proxies
    except SettingsError:
        return  # `check_settings` has reported it
    for proxy in proxies:
        yield Checked("outbound proxy", *reach_proxy(proxy, settings.upstream_ca))
    if not upstreams:
        yield Checked("upstreams", "none: the gateway answers `svc-demo` only; the proxy needs none")
        return
    with ThreadPoolExecutor(max_workers=8) as threads:
        routes = [proxies.route(*host_and_port(each.base_url), name) for name, each in upstreams.items()]
        for name, found in zip(upstreams, threads.map(reach_upstream, upstreams.values(), routes), strict=True):
            yield Checked(f"upstream {name}", *found)


def check_clock(settings: Settings) -> Checked:
    """Checks that the clock is not behind what this installation has already recorded."""
    latest = max(chain((datetime(2026, 1, 1, tzinfo=UTC),), _known_times(settings)))
    now = datetime.now(UTC)
    shown = f"{now:%Y-%m-%d %H:%M:%S} UTC, {time.strftime('%H:%M %Z')} here"
    if now < latest - _TOLERANCE:
        detail = f"{shown}: behind the latest record of this installation, {latest:%Y-%m-%d %H:%M} UTC"
        remedy = "set this machine's clock; if it is right, it was ahead before, and keys and sessions go on from there"
        return Checked("clock", detail, remedy)
    return Checked("clock", shown)


def check_store(settings: Settings) -> Checked:
    """Checks that the data folder can be written to, its database read, and its receipt log continued."""
    folder = settings.data_dir
    if not folder.exists():
        parent = next(each for each in folder.resolve().parents if each.exists())
        if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
            return Checked("store", f"{folder} cannot be created", "choose another folder with `--data-dir DIR`")
        return Checked("store", f"{folder} will be created by the first start")
    try:
        with TemporaryFile(dir=folder) as probe:
            # A file without content can be made on a full disk, too. Random bytes cannot be compressed.
            probe.write(os.urandom(_PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
        check_private(folder)
        check_not_lost(settings)
        if not store_exists(folder, settings.postgresql):
            return Checked("store", f"{folder} can be written to; the first start creates the database")
        with open_read_only(folder, settings.postgresql) as store:
            receipts = store.read(lambda stored: stored.receipts.count())
            fault = _fault_of_log(store, settings)
    except OSError as error:
        return Checked(
            "store", f"{folder} cannot be written to: {error.strerror}", "make room, or give this user access"
        )
    except GatewayError as error:
        return Checked("store", error.message, "restore the data folder from a backup; docs/store.md")
    except SettingsError as error:
        return Checked("store", "; ".join(error.problems), "close or restore the file that it names; docs/store.md")
    if fault is not None:
        return Checked("store", f"the receipt log is broken: {fault}", "restore the data folder from a backup")
    return Checked("store", f"{folder} can be written to; {receipts:,} receipts")


def _fault_of_log(store: ReadOnlyStore, settings: Settings) -> str | None:
    """Says why a start would not continue the log. Raises SettingsError for its key."""
    if not store.read(lambda stored: has_records(stored.receipts)):
        return None
    signer, remembered = installed_signer(store, settings), read_checkpoint(settings.data_dir)
    return store.read(lambda stored: find_fault(stored.receipts, remembered, signer, counted_records(stored.usage)))


def check_corrections(settings: Settings) -> Iterator[Checked]:
    """Yields whether the allow and deny lists verify. `check_store` says why a database cannot be read."""
    name, folder = "allow and deny lists", settings.data_dir
    try:
        if not store_exists(folder, settings.postgresql):
            return
        has_key = settings.installation_key is not None or (folder / INSTALLATION_KEY).exists()
        key = installation_key(settings) if has_key else b""
        with open_read_only(folder, settings.postgresql) as store:
            entries = store.read(lambda stored: count_entries(stored, key))
    except SettingsError as error:
        yield Checked(name, "; ".join(error.problems), "restore the data folder from a backup")
    except Unavailable as error:
        if error.code == "corrections_broken":
            yield Checked(name, "they do not verify, so the gateway refuses requests", BROKEN_REMEDY)
    except (OSError, GatewayError):
        return
    else:
        yield Checked(name, f"{entries:,} entries, which verify")


def _free(place: str, host: str, port: int, name: str) -> Checked:
    """Checks that this user may listen on the address, by doing so for a moment."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, _, _, address = found[0]
        with socket.socket(family, kind) as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        remedy = f"choose another with `--{name}-port PORT`, or another address to listen on"
        return Checked(place, f"cannot be used: {error.strerror}", remedy)
    return Checked(place, "free: no program listens")


def check_fonts(program: str) -> Checked:
    """Tells whether a font of this machine has the marks of flows in mitmweb. `program` is fontconfig's `fc-list`."""
    command = [program, f":charset={ord(_MARK):x}", "family"]
    # It writes a cache.
    with TemporaryDirectory() as cache, suppress(OSError, subprocess.TimeoutExpired):
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        done = subprocess.run(command, env=environment, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
        if done.stdout.strip():
            return Checked("fonts", "a font of this machine has the marks of flows in mitmweb")
    # No problem of the gateway, and the browser may run on another machine.
    return Checked("fonts", f"no font found for the marks of flows in mitmweb ({_MARK}); install one with emoji")


def _known_times(settings: Settings) -> Iterator[datetime]:
    """Yields times at which this installation has certainly existed."""
    files: list[Path] = [certificate_of(settings.certs_dir), *settings.data_dir.glob("*")]
    for file in files:
        with suppress(OSError):
            yield datetime.fromtimestamp(file.stat().st_mtime, UTC)
    # Keys and sessions follow this one. `check_store` says why the database cannot be read.
    with (
        suppress(OSError, ValueError, GatewayError, SettingsError),
        open_read_only(settings.data_dir, settings.postgresql) as store,
    ):
        yield datetime.fromtimestamp(store.read(lambda stored: stored.sessions.latest_time()), UTC)
