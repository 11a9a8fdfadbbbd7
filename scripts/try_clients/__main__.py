"""Installs the clients, starts a gateway with the scripted upstream, runs every case, and prints the table."""

import argparse
import json
import os
import platform
import re
import secrets
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import trustme
from platformdirs import user_cache_path

from . import clouds
from .clients import CLIENTS, MODELS, PROGRAMS, Client
from .clouds import CLOUDS, Cloud, cloud_problem
from .signed_in import SIGNED_IN, SignedIn, signed_in_problem
from .turns import Turns, compared, socket_problem
from .upstream import CALLS, CARD, MAIL, TURNS, Upstream
from .vendors import Vendors

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "clients.md"
PROMPT = f"My card is {CARD}, my mail is {MAIL}. Save the card three times with the tool, then repeat it."
EVERY: tuple[Client, ...] = (*CLIENTS, *CLOUDS, *SIGNED_IN)
_SECONDS = 240
# Older releases of Node.js do not read the variables of a proxy.
_NODE = f"node-{sys.platform}-{'arm64' if platform.machine() in {'arm64', 'aarch64'} else 'x64'}@24"
_TABLE = re.compile(r"(?<=<!-- made by scripts/try_clients -->\n).*?(?=<!-- end -->)", re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.try_clients", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="this client (repeatable)")
    parser.add_argument("--cache", type=Path, default=user_cache_path("privacy-gateway-clients"))
    parser.add_argument("--install", action="store_true", help="install the clients, and run none")
    parser.add_argument("--write", action="store_true", help="put the table into docs/clients.md")
    parser.add_argument("--turns", type=int, help="have each agent take so many turns, between two gateways")
    options = parser.parse_args()
    chosen = [client for client in EVERY if not options.only or any(name in client.name for name in options.only)]
    cache: Path = options.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    missing = {client.name for client in chosen if not install(client, cache)}
    if options.install:
        for name in sorted(missing):
            print("cannot be installed:", name)
        return int(bool(missing))
    if options.turns:
        agents = [each for each in chosen if each in CLIENTS and each.kind == "agent" and not each.socket]
        return take_turns(agents, cache, options.turns)
    rows, failures = dict[str, str](), 0
    with gateway() as setting:
        for client in chosen:
            if client.name in missing:
                cells = ["cannot be installed here"] * 2
            else:
                cells = [tried(client, entrance, cache, setting) for entrance in ("gateway", "proxy")]
            failures += sum("no:" in cell or "cannot" in cell for cell in cells)
            rows[client.name] = f"| {client.name} | {version(client, cache)} | {' | '.join(cells)} |"
            print(rows[client.name], flush=True)
    if options.write:
        write(rows)
    return int(failures > 0)


def write(rows: Mapping[str, str]) -> None:
    """Puts rows into the table of the page, and keeps those of other clients."""
    page = PAGE.read_text(encoding="utf-8")
    found = _TABLE.search(page)
    kept = {row.split(" | ")[0].removeprefix("| "): row for row in found[0].splitlines()} if found else {}
    every = [{**kept, **rows}.get(client.name) for client in EVERY]
    head = ["| client | version | by its base URL | through the proxy |", "|---|---|---|---|"]
    table = "\n".join([*head, *filter(None, every), ""])
    PAGE.write_text(_TABLE.sub(lambda _: table, page), encoding="utf-8")


def take_turns(agents: list[Client], cache: Path, turns: int) -> int:
    """Has each agent call its tool as often as `turns`, with every request to the next of two gateways."""
    failures = 0
    with gateway() as one, gateway(one) as two:
        upstream = one.plain
        upstream.calls = turns
        for agent in agents:
            between = Turns([one.gateway, two.gateway])
            problem = run(agent, between.url, cache, one, stream=True)
            result = f"no: {problem}" if problem else compared(between.bodies, upstream.bodies)
            between.close()
            failures += not result.startswith("yes")
            print(f"| {agent.name} | {version(agent, cache)} | {result} |", flush=True)
    return int(failures > 0)


class Setting:
    """A running gateway with its upstreams. Another one may share its keys and upstreams."""

    keys: dict[str, str]
    plain: Upstream
    tls: Upstream
    vendors: Vendors

    def __init__(self, folder: Path, other: "Setting | None" = None) -> None:
        self.folder = folder
        # The addresses of the listeners, once the gateway runs.
        self.gateway = self.proxy = ""
        # A key that the upstream with AWS credentials is granted to.
        self.granted = ""
        (folder / "home").mkdir()
        if other is not None:
            self.keys, self.plain, self.tls, self.vendors = other.keys, other.plain, other.tls, other.vendors
            (folder / "upstream-ca.pem").write_bytes((other.folder / "upstream-ca.pem").read_bytes())
            return
        self.keys = {"SVC_API_KEY": f"svck_{secrets.token_hex(20)}", "SVC_INSTALLATION_KEY": secrets.token_hex(20)}
        authority = trustme.CA()
        authority.cert_pem.write_to_path(folder / "upstream-ca.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(context)
        self.plain, self.tls, self.vendors = Upstream(), Upstream(context), Vendors(authority)

    def configuration(self) -> str:
        """The settings as TOML: an upstream for each API, and the TLS upstream as an intercepted host."""
        lines = [
            "gateway_port = 0\nproxy_port = 0\nweb = false\nstreaming = true",
            f'intercept_also = ["localhost:{self.tls.port}"]\nupstream_ca = "{self.folder / "upstream-ca.pem"}"',
            f'upstream_proxy = "http://127.0.0.1:{self.vendors.port}"',
            f'data_dir = "{self.folder / "data"}"\ncerts_dir = "{self.folder / "certs"}"',
        ]
        for api in MODELS:
            base = f"http://127.0.0.1:{self.plain.port}{'/v1' if api == 'openai' else ''}"
            lines += [f"[upstreams.{api}]", f'base_url = "{base}"', f'wire = "{api}"', 'models = ["*"]']
            lines.append('api_key_env = "UPSTREAM"')
        return "\n".join([*lines, clouds.configuration()])

    def command(self, *words: str) -> list[str]:
        """Returns a command of the gateway's with its settings."""
        return [sys.executable, str(ROOT / "run_proxy.py"), *words, "--config", str(self.folder / "gateway.toml")]


@contextmanager
def gateway(other: Setting | None = None) -> Iterator[Setting]:
    """Runs a gateway in a temporary folder, with the default detection."""
    with tempfile.TemporaryDirectory() as name:
        setting = Setting(Path(name), other)
        (setting.folder / "gateway.toml").write_text(setting.configuration())
        own = {key: value for key, value in os.environ.items() if not key.startswith("SVC_")}
        log = (setting.folder / "log").open("w+")
        environment = {**own, **setting.keys, **clouds.AWS, "UPSTREAM": "key-of-the-upstream"}
        process = subprocess.Popen(setting.command("serve"), env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            setting.gateway, setting.proxy = _addresses(Path(log.name), process)
            create = setting.command("keys", "create", "tried", "--aws-upstream", clouds.GRANT, "--json")
            made = subprocess.run(create, env=environment, capture_output=True, check=True)
            setting.granted = json.loads(made.stdout)["key"]
            yield setting
        finally:
            process.terminate()
            process.wait(60)
            if other is None:
                setting.plain.close()
                setting.tls.close()
                setting.vendors.close()


def _addresses(log: Path, process: "subprocess.Popen[bytes]") -> tuple[str, str]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        listening = re.search(r"listens on (\S+) .*, as a proxy, on (\S+)", log.read_text())
        if listening is not None:
            return listening[1], listening[2]
        time.sleep(0.5)
    raise SystemExit(f"the gateway did not start:\n{log.read_text()}")


def install(client: Client, cache: Path) -> bool:
    """Installs a client's packages, unless they are there already. Returns whether they are there now."""
    try:
        _install(client, cache)
    except subprocess.CalledProcessError:
        if client.kind == "python":
            # The next run would take the environment for a complete one.
            shutil.rmtree(_environment(client, cache), ignore_errors=True)
        return False
    return True


def _install(client: Client, cache: Path) -> None:
    """Installs a client's packages, each kind into an environment of its own. Raises CalledProcessError."""
    if client.kind == "curl":
        return
    if client.kind == "python":
        folder = _environment(client, cache)
        if not folder.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            pip: list[str | Path] = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *client.packages]
            subprocess.run(pip, check=True, stdout=subprocess.DEVNULL)
        return
    folder = cache / "npm"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").touch()
    if not (folder / "package.json").read_text():
        (folder / "package.json").write_text("{}")
    wanted = (*client.packages, *((_NODE,) if client.kind == "node" else ()))
    missing = [name for name in wanted if not (folder / "node_modules" / name.partition("@24")[0]).exists()]
    if missing:
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", *missing]
        subprocess.run(npm, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _environment(client: Client, cache: Path) -> Path:
    return cache / re.sub(r"\W+", "-", "-".join(client.packages))


def version(client: Client, cache: Path) -> str:
    """Returns the version of a client's first package."""
    if client.kind == "python":
        name = client.packages[0].partition("[")[0]
        code = f"from importlib.metadata import version; print(version({name!r}))"
        command: list[str | Path] = [_environment(client, cache) / "bin" / "python", "-c", code]
    elif client.kind == "curl":
        return subprocess.run(["curl", "--version"], capture_output=True, text=True, check=False).stdout.split()[1]
    else:
        file = cache / "npm" / "node_modules" / client.packages[0] / "package.json"
        command = ["node", "-p", f"require('{file}').version"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def tried(client: Client, entrance: str, cache: Path, setting: Setting) -> str:
    """Returns what is written into the table for a client at an entrance."""
    if isinstance(client, SignedIn) and not isinstance(client, Cloud) and entrance == "gateway" and not client.base:
        return "–"
    setting.plain.calls = setting.tls.calls = TURNS if client.socket else CALLS
    for upstream in (setting.plain, setting.tls, setting.vendors):
        upstream.speaks_sockets = client.socket
    said = []
    for stream in client.modes:
        problem = run(client, entrance, cache, setting, stream=stream)
        name = "streamed" if stream else "whole"
        said.append(f"{name}: {'yes' if problem is None else f'no: {problem}'}")
    return ", ".join(said)


def run(client: Client, entrance: str, cache: Path, setting: Setting, *, stream: bool) -> str | None:
    """Runs one case; `entrance` may be another address for the base URL. Returns the problem, if there is one."""
    signed = client if isinstance(client, SignedIn) else None
    cloud = client if isinstance(client, Cloud) else None
    upstream = setting.plain if entrance != "proxy" else setting.tls if signed is None else setting.vendors
    upstream = setting.vendors if cloud else upstream
    upstream.clear()
    model = cloud.model if cloud else MODELS[client.api]
    setting.vendors.is_open, setting.vendors.model = signed is not None, model
    setting.vendors.wire = signed.wire if signed else ""
    variables = client.variables | (signed.base if signed and entrance == "gateway" else {})
    host = cloud.host if cloud else f"localhost:{setting.tls.port}"
    base = {"gateway": setting.gateway, "proxy": f"https://{host}"}.get(entrance, entrance)
    key = "key-of-the-provider" if entrance == "proxy" else setting.keys["SVC_API_KEY"]
    filled = {"base": base, "key": key, "model": model, "prompt": PROMPT, "granted": setting.granted}
    with tempfile.TemporaryDirectory() as name:
        work, home = Path(name) / "work", Path(name) / "home"
        work.mkdir()
        for path, text in client.files.items():
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.format(**filled))
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": os.pathsep.join([*_programs(client, cache), os.environ["PATH"]]),
            "HOME": str(home),
            "BASE": base,
            "KEY": key,
            "MODEL": model,
            "PROMPT": PROMPT,
            "STREAM": "1" if stream else "0",
            **{variable: value.format(**filled) for variable, value in variables.items()},
            **(_through_proxy(setting) if entrance == "proxy" else {}),
        }
        try:
            done = subprocess.run(
                _command(client, cache, filled),
                cwd=work,
                env=environment,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "no end in time"
        except FileNotFoundError:
            return "no such program"
        problem = _problem(client, done, upstream, work)
        if problem is None and client.socket:
            problem = socket_problem(upstream.connections, upstream.bodies, may_fall_back=client.may_fall_back)
        if problem is None and cloud:
            secrets = (setting.keys["SVC_API_KEY"], setting.granted)
            return cloud_problem(cloud, entrance, upstream, setting.folder, secrets)
        return signed_in_problem(signed, upstream, setting.folder) if problem is None and signed else problem


def _programs(client: Client, cache: Path) -> list[str]:
    modules = cache / "npm" / "node_modules"
    own = [str(modules / _NODE.partition("@")[0] / "bin")] if client.kind == "node" else []
    return [*own, str(modules / ".bin")]


def _through_proxy(setting: Setting) -> Mapping[str, str]:
    # Hosts that are not intercepted have certificates of the vendors' authority.
    authorities = (setting.folder / "certs" / "ca-bundle.pem", setting.folder / "upstream-ca.pem")
    (setting.folder / "trusted.pem").write_bytes(b"".join(each.read_bytes() for each in authorities))
    bundle = str(setting.folder / "trusted.pem")
    names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    return {
        "HTTPS_PROXY": setting.proxy,
        "https_proxy": setting.proxy,
        # The upstream is on this machine, which clients would otherwise reach without the proxy.
        "NO_PROXY": "",
        "no_proxy": "",
        "NODE_USE_ENV_PROXY": "1",
        **dict.fromkeys(names, bundle),
    }


def _command(client: Client, cache: Path, filled: Mapping[str, str]) -> list[str]:
    source = Path(__file__).parent / PROGRAMS / client.program
    if client.kind == "python":
        # Isolated: the programs are named after what they import.
        return [str(_environment(client, cache) / "bin" / "python"), "-I", str(source)]
    if client.kind == "node":
        # Node.js looks for packages beside the program.
        program = cache / "npm" / client.program
        program.write_text(source.read_text())
        return ["node", str(program)]
    return [part.format(**filled) for part in client.command]


def _problem(client: Client, done: "subprocess.CompletedProcess[str]", upstream: Upstream, work: Path) -> str | None:
    seen = bytes(upstream.seen)
    if os.environ.get("TRY_CLIENTS_VERBOSE"):
        print(done.stdout[-1500:], done.stderr[-1500:], sep="\n", file=sys.stderr)
    if CARD.encode() in seen or b"@clients.example" in seen:
        return "private text reached the upstream"
    if done.returncode:
        return f"ended with {done.returncode}"
    if not upstream.bodies:
        return "nothing reached the upstream"
    if f"Saved {CARD} three times." not in done.stdout:
        return "the answer is not exact"
    saved = work / "saved.txt"
    values = saved.read_text().split() if saved.exists() else re.findall(r"(?m)^TOOL (.*)$", done.stdout)
    if client.has_tools and values != [CARD] * upstream.calls:
        return f"{values.count(CARD)} of {upstream.calls} calls are exact"
    return None


if __name__ == "__main__":
    raise SystemExit(main())
