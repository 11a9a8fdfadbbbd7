"""`inspect`: a program runs through a gateway of its own, and its user sees what providers received."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trustme

from gateway.policy.files import read_policy_file
from gateway.policy.registry import PolicyRegistry
from gateway.policy.storage import StoredPolicies
from gateway.store import open_store
from tests.e2e.conftest import Gateways
from tests.e2e.lacking import lacking, skip_unless_seen
from tests.e2e.mitmweb import wait_for
from tests.e2e.server import COMMAND, _authority
from tests.e2e.upstream import Upstream

pytestmark = pytest.mark.slow

CARD, PROJECT = "4539578763621486", "Bluebird-7"
PROGRAM = """
import json, os, sys, httpx
urls, texts = json.loads(sys.argv[1]), json.loads(sys.stdin.readline())
proxied = httpx.Client(proxy=os.environ.get("HTTPS_PROXY"), timeout=30)
base, direct = os.environ.get("OPENAI_BASE_URL"), httpx.Client(timeout=30, trust_env=False)
for url in urls or [base + "/chat/completions"]:
    for text, stream in texts:
        key = os.environ.get("OPENAI_API_KEY", "key-of-the-provider")
        message = {"role": "user", "content": text}
        body = {"model": "m", "messages": [message]} | ({"stream": True} if stream else {})
        client = proxied if url.startswith("https") else direct
        print(client.post(url, json=body, headers={"authorization": "Bearer " + key}).text)
for file in __import__("glob").glob("/proc/[0-9]*/cmdline"):
    try:
        words = open(file, "rb").read()
    except OSError:
        continue
    assert "OPENAI_API_KEY" not in os.environ or os.environ["OPENAI_API_KEY"].encode() not in words, file
sys.exit(7)
"""


class Inspected:
    """Runs `inspect` in a folder, with an upstream for the gateway's listener and one for the proxy."""

    def __init__(self, folder: Path, plain: Upstream, tls: Upstream, ca: Path) -> None:
        self.folder = folder
        self.words = ["inspect", "--data-dir", str(folder / "data"), "--certs-dir", str(_authority())]
        self.environment = {
            **{name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
            **{"SVC_UPSTREAM": f"{plain.url}/v1", "SVC_DEFAULT_UPSTREAM": "configured-upstream"},
            **{"SVC_UPSTREAM_KEY": "key-of-the-upstream", "SVC_UPSTREAM_CA": str(ca), "SVC_DETECTION": "patterns"},
            **{"SVC_INTERCEPT_ALSO": f"localhost:{tls.port}", "SVC_STREAMING": "true"},
            # Its own, to see what is left in it.
            "TMPDIR": str(folder / "tmp"),
        }
        (folder / "tmp").mkdir()
        (folder / "program.py").write_text(PROGRAM)

    def command(self, *words: str, urls: list[str] | None = None) -> list[str]:
        program = [sys.executable, str(self.folder / "program.py"), json.dumps(urls or [])]
        return [*COMMAND, *self.words, *words, "--", *program]

    def __call__(
        self, *words: str, texts: list[tuple[str, bool]], urls: list[str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*words, urls=urls),
            input=json.dumps(texts) + "\n",
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=120,
            check=False,
            start_new_session=True,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert list((self.folder / "tmp").iterdir()) == []
        return done

    def forbid(self, *values: str) -> str:
        file = self.folder / "forbidden"
        file.write_text("\n".join(values))
        return str(file)


@pytest.fixture
def inspected(
    tmp_path: Path, upstream: Upstream, tls_upstream: Upstream, gateways: Gateways, authority: trustme.CA
) -> Inspected:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return Inspected(tmp_path, upstream, tls_upstream, tmp_path / "ca.pem")


@pytest.fixture
def other(authority: trustme.CA) -> Iterator[Upstream]:
    """A host that is not intercepted."""
    with Upstream(authority).running() as running:
        yield running


def test_what_was_sent_is_shown_and_the_program_is_undisturbed(inspected: Inspected, upstream: Upstream) -> None:
    done = inspected("--through", "gateway", texts=[(f"Card {CARD}", False), (f"Again {CARD}", True)])
    assert done.returncode == 7, done.stderr
    assert done.stdout.count(CARD) == 2
    assert len(upstream.recorded) == 2
    assert CARD not in done.stderr
    assert "Card ⟦CREDIT_CARD_" in done.stderr
    assert "Again ⟦CREDIT_CARD_" in done.stderr
    assert "2 requests sent, 2 values hidden (CREDIT_CARD 2)" in done.stderr
    assert not (inspected.folder / "data").exists()


def test_a_forbidden_value_is_named_by_its_line_only(inspected: Inspected) -> None:
    forbidden = inspected.forbid(CARD, "", PROJECT)
    report = inspected.folder / "report.jsonl"
    words = ("--through", "gateway", "--forbid", forbidden, "--json", "--answers", "--output", str(report))
    done = inspected(*words, texts=[(f"Card {CARD}", False), (f"Project {PROJECT}", True)])
    assert done.returncode == 110
    assert (done.stderr, report.stat().st_mode & 0o777) == ("", 0o600)
    first, second, summary = map(json.loads, report.read_text().splitlines())
    assert first["forbidden"] == []
    assert [(hit["line"], hit["place"]) for hit in second["forbidden"]] == [(3, "body /messages/0/content")]
    assert summary["verdict"] == "FORBIDDEN values were sent: of line 3."
    assert PROJECT not in report.read_text()
    assert CARD not in report.read_text()


def test_a_tunnel_cannot_be_searched(inspected: Inspected, tls_upstream: Upstream, other: Upstream) -> None:
    forbidden = inspected.forbid(CARD)
    urls = [f"{tls_upstream.url}/v1/chat/completions", f"{other.url}/v1/chat/completions"]
    trust = _authority() / "ca-bundle.pem"
    both = inspected.folder / "both.pem"
    both.write_bytes(trust.read_bytes() + (inspected.folder / "ca.pem").read_bytes())
    program = inspected.folder / "program.py"
    program.write_text(PROGRAM.replace("timeout=30)\nbase", f"timeout=30, verify={str(both)!r})\nbase"))
    done = inspected("--forbid", forbidden, texts=[(f"Card {CARD}", False)], urls=urls)
    assert done.returncode == 111, done.stderr
    assert CARD not in done.stderr
    assert f"localhost:{other.port}  " in done.stderr
    assert "1 request sent" in done.stderr
    assert f"localhost:{tls_upstream.port}  1 request" in done.stderr
    assert "--allow-tunnel localhost" in done.stderr
    words = ("--forbid", forbidden, "--allow-tunnel", f"localhost:{other.port}")
    assert inspected(*words, texts=[(f"Card {CARD}", False)], urls=urls).returncode == 7


def test_the_policies_and_the_placeholders_are_those_of_the_installation(
    inspected: Inspected, tls_upstream: Upstream
) -> None:
    data = inspected.folder / "data"
    data.mkdir(0o700)
    (data / "installation.key").write_bytes(b"k" * 32)
    (data / "installation.key").chmod(0o600)
    policy = inspected.folder / "acme.toml"
    policy.write_text('id = "acme"\ntitle = "Acme"\nextends = "default"\n[rules.CREDIT_CARD]\naction = "mask"\n')
    with closing(open_store(data)) as store:
        registry = PolicyRegistry(Path("policies"), StoredPolicies(store))
        asyncio.run(registry.create(read_policy_file(policy)))
    before = (data / "gateway.db").read_bytes()
    bodies = []
    for words in ((), ("--policy", "acme"), ()):
        urls = [f"{tls_upstream.url}/v1/chat/completions"]
        done = inspected(*words, texts=[(f"Card {CARD}", False)], urls=urls)
        assert done.returncode == 7, done.stderr
        bodies.append(tls_upstream.recorded[-1].body)
    assert bodies[0] == bodies[2] != bodies[1]
    assert b"CREDIT_CARD" not in bodies[1]
    assert (data / "gateway.db").read_bytes() == before
    done = inspected("--through", "gateway", "--policy", "none-such", texts=[])
    assert (done.returncode, "default_policy" in done.stderr) == (125, True)


def test_signals_reach_the_program_and_no_file_is_left(inspected: Inspected) -> None:
    program = (
        "import os, signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(9));"
        " print(os.getpid(), flush=True); time.sleep(60)"
    )
    for number, status, *options in ((signal.SIGTERM, 9), (signal.SIGKILL, -9), (signal.SIGKILL, -9, "--no-report")):
        words = [*COMMAND, *inspected.words, *options, "--", sys.executable, "-c", program]
        with subprocess.Popen(
            words,
            env=inspected.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            started = Path("/proc", process.stdout.readline().decode().strip())
            assert started.exists()
            process.send_signal(number)
            process.stdout.close()
            assert process.wait(60) == status
        wait_for(lambda program=started: not program.exists())
        wait_for(lambda: not list((inspected.folder / "tmp").iterdir()))


def test_without_its_gateway_the_program_is_ended(inspected: Inspected) -> None:
    program = (
        "import os, pathlib, re, time\n"
        "def parent(pid): return int(re.search('PPid:\\t(.*)', pathlib.Path(f'/proc/{pid}/status').read_text())[1])\n"
        "above = [os.getpid()]\n"
        "while above[-1] > 1: above.append(parent(above[-1]))\n"
        "for pid in [int(each.name) for each in pathlib.Path('/proc').glob('[0-9]*')]:\n"
        "    if pid not in above and b'inspected_gateway' in pathlib.Path(f'/proc/{pid}/cmdline').read_bytes():\n"
        "        if parent(pid) in above: os.kill(pid, 9)\n"
        "time.sleep(60)"
    )
    words = [*COMMAND, *inspected.words, "--", sys.executable, "-c", program]
    done = subprocess.run(
        words,
        env=inspected.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        start_new_session=True,
    )
    assert (done.returncode, "ended too early" in done.stderr) == (125, True), done.stderr


def test_a_contained_program_reaches_its_gateway_alone(inspected: Inspected) -> None:
    if subprocess.run(["unshare", "--user", "--map-root-user", "--net", "true"], check=False).returncode:
        lacking("the system does not permit namespaces")
    skip_unless_seen(sys.executable)
    texts = json.dumps([(f"Card {CARD}", False)])
    with TemporaryDirectory(dir="/var/tmp") as name:
        # A contained program has a folder /tmp of its own.
        program = Path(name, "program.py")
        program.write_text(f"""
import glob, os, socket, sys
assert not glob.glob({str(inspected.folder)!r} + "/tmp/*"), "it sees the gateway's files"
with socket.socket() as direct:
    try:
        direct.connect(("192.0.2.1", 443))
    except OSError as error:
        print("failed", error.errno)
{PROGRAM.partition("for file in")[0]}
""")
        forbidden = inspected.forbid(CARD)
        words = [*inspected.words, "--contain", "--through", "gateway", "--forbid", forbidden]
        done = subprocess.run(
            [*COMMAND, *words, "--", sys.executable, str(program), "[]"],
            input=f"{texts}\n",
            cwd=name,
            env=inspected.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            start_new_session=True,
        )
    assert (done.returncode, done.stdout.count(CARD)) == (0, 1), done.stderr
    assert "failed 101" in done.stdout
    assert "Card ⟦CREDIT_CARD_" in done.stderr
    assert "connects to 192.0.2.1:443, which `--contain` blocks" in done.stderr
    assert "No forbidden value was sent, in 1 request." in done.stderr
