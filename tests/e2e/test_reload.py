"""SIGHUP applies settings, policies and certificates while requests are served, or changes nothing and says why."""

import re
import shutil
import signal
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from tests.certificates import write_certificate
from tests.e2e.mitmweb import wait_for
from tests.e2e.server import OPERATOR_KEY, ROOT, Running, gateway
from tests.e2e.upstream import Recorded, Reply, Upstream, answer_when_told, echo
from tests.gateway.exchange.streaming.support import DONE, chunk, event, in_pieces, text_of

if not hasattr(signal, "SIGHUP"):
    pytest.skip("this system has no SIGHUP", allow_module_level=True)

MAIL = "canary.of.reloads@acme.test"
SSE = {"content-type": "text/event-stream; charset=utf-8"}
ENDED = re.compile(r"addons\.reload: (reloaded .*|not reloaded.*)")


class Lab:
    """A gateway with a settings file and policies of its own, which tests change."""

    def __init__(self, folder: Path, upstream: Upstream) -> None:
        self.folder, self.policies, self.log = folder, folder / "policies", folder / "logs" / "svc.log"
        self.log.parent.mkdir()
        shutil.copytree(ROOT / "policies", self.policies)
        self.common = (
            f'detection = "patterns"\nstreaming = true\npolicies_dir = "{self.policies}"\nlog_file = "{self.log}"\n'
            f'upstream_ca = "{folder / "ca.pem"}"\nintercept_also = ["localhost:1"]\n'
        )
        self.upstream = f'[upstreams.lab]\nbase_url = "{upstream.url}/v1"\nmodels = ["m"]\n'
        trustme.CA().cert_pem.write_to_path(folder / "ca.pem")
        self.running: Running
        self.settings()

    def settings(self, more: str = "", upstream: str | None = None) -> None:
        (self.folder / "svc.toml").write_text(f"{self.common}{more}\n{self.upstream if upstream is None else upstream}")

    @contextmanager
    def started(self, **environment: str) -> Iterator["Lab"]:
        with gateway(self.folder, "--config", str(self.folder / "svc.toml"), environment=environment) as self.running:
            yield self
            self.running.process.terminate()
            assert self.running.process.wait(60) == 0
        assert "Traceback" not in self.running.output()

    @property
    def said(self) -> str:
        return "".join(each.read_text() for each in sorted(self.log.parent.iterdir(), reverse=True))

    def reload(self) -> str:
        """Has it reload, and returns what it says at the end."""
        before = len(ENDED.findall(self.said))
        self.running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: len(ENDED.findall(self.said)) > before)
        return str(ENDED.findall(self.said)[-1])

    def ask(self, text: str = f"Write to {MAIL}", model: str = "m") -> httpx.Response:
        body = {"model": model, "messages": [{"role": "user", "content": text}]}
        with self.running.client() as client:
            return client.post("/v1/chat/completions", json=body)

    def policy_of(self, answer: httpx.Response) -> dict[str, Any]:
        with self.running.client() as client:
            receipt = client.get(f"/v1/receipts/{answer.headers['x-svc-request-id']}").json()
            checks = client.get(f"/v1/receipts/{receipt['request_id']}/verify").json()
        assert checks["valid"], checks
        policy: dict[str, Any] = receipt["policy"]
        return policy


@pytest.fixture
def lab(tmp_path: Path, upstream: Upstream) -> Iterator[Lab]:
    with Lab(tmp_path, upstream).started() as started:
        yield started


OWN = """id = "own"
version = 3
title = "t"
description = "d"
extends = "default"

[rules.contact]
action = "redact"
"""


def test_new_requests_follow_the_new_policy_and_a_stream_ends_as_it_began(lab: Lab, upstream: Upstream) -> None:
    before, go_on = lab.policy_of(lab.ask()), threading.Event()

    def pieces(request: Recorded) -> Iterator[bytes]:
        text = request.json["messages"][-1]["content"]
        first, *rest = [event(chunk({"content": each})) for each in in_pieces(text, 9)]
        yield first
        assert go_on.wait(60)
        yield from (*rest, DONE)

    upstream.answer = lambda request: Reply(pieces(request), headers=SSE)
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"Write to {MAIL}"}]}
    with lab.running.client() as client, client.stream("POST", "/v1/chat/completions", json=body) as stream:
        received = stream.iter_bytes()
        begun = next(received)
        (lab.policies / "own.toml").write_text(OWN)
        lab.settings('default_policy = "own"\nrate_limit_per_minute = 1')
        assert lab.reload() == "reloaded 7 policies; changed settings: default_policy, rate_limit_per_minute"
        upstream.answer = echo
        answer = lab.ask()
        assert "Write to [EMAIL_ADDRESS removed]" in answer.text
        assert MAIL.encode() not in upstream.seen
        go_on.set()
        assert text_of(begun + b"".join(received)) == f"Write to {MAIL}"
    assert lab.ask().status_code == 429
    (lab.policies / "own.toml").write_text(OWN.replace("3", "4").replace("redact", "mask"))
    lab.settings()
    lab.reload()
    after = lab.policy_of(answer)
    assert (before["id"], after["id"], after["version"]) == ("default", "own", 3)
    lab.settings('default_policy = "own"')
    lab.reload()
    changed = lab.policy_of(lab.ask())
    assert (changed["version"], changed["hash"] == after["hash"]) == (4, False)


UNUSABLE = {
    "no TOML": ("log_level = ", "svc.toml is not valid TOML"),
    "a value": ('log_level = "canary"', "log_level: "),
    "an unknown setting": ("canary = 1", "canary: unknown setting"),
    "a policy that is not there": ('default_policy = "canary"', "default_policy: there is no such policy"),
    "a key that is not there": (
        '[upstreams.other]\nbase_url = "https://a.test"\napi_key_env = "NONE"',
        "api_key_env: ",
    ),
    "a default upstream": ('default_upstream = "canary"', "default_upstream: no upstream has this name"),
    "a certificate": ('tls_certificate = "/canary"\ntls_key = "/canary"', "tls_certificate: /canary cannot be read"),
    "an address that needs a restart": ('host = "0.0.0.0"', "host: "),
    "a log file": ('log_file = "/proc/none/svc.log"', "log_file: /proc/none/svc.log cannot be written"),
    "its own listener": (
        '[upstreams.loop]\nbase_url = "http://127.0.0.1:{port}"',
        "upstreams.loop: its address is one",
    ),
}


def test_what_is_unusable_changes_nothing_and_the_log_says_why(lab: Lab) -> None:
    before = lab.policy_of(lab.ask())
    for name, (text, says) in UNUSABLE.items():
        more = text.replace("{port}", str(lab.running.port))
        common = lab.common
        if "log_file" in more:
            lab.common = common.replace(f'log_file = "{lab.log}"', "")
        # It would refuse every request.
        lab.settings(f"rate_limit_per_minute = 1\n{more}")
        told = lab.reload()
        lab.common = common
        assert told.startswith("not reloaded, nothing has changed: "), name
        assert says in told, name
    broken = lab.policies / "own.toml"
    for text, says in (("id = ", "own.toml"), (OWN.replace("default", "nothing"), "extends `nothing`")):
        broken.write_text(text)
        lab.settings('default_policy = "strict"')
        assert re.match(r"not reloaded, nothing has changed: policies_dir: .*" + re.escape(says), lab.reload())
    assert [lab.ask().status_code for _ in range(3)] == [200] * 3
    assert lab.policy_of(lab.ask()) == before
    with lab.running.client() as client:
        told = client.get("/metrics").text
    assert f"privacy_gateway_reload_failures_total {len(UNUSABLE) + 2}.0" in told
    assert "privacy_gateway_reloads_total 0.0" in told
    broken.unlink()
    assert lab.reload() == "reloaded 6 policies; changed settings: default_policy"
    assert lab.policy_of(lab.ask())["id"] == "strict"


def test_a_change_that_needs_a_restart_is_named_without_its_value(lab: Lab) -> None:
    lab.settings('log_level = "debug"\nworkers = 3\nbody_limit_bytes = 4711\nmodes = ["socks5@127.0.0.1:1"]')
    for _ in range(2):
        lab.reload()
        wait_for(lambda: "needs a restart" in lab.said.splitlines()[-1])
        assert lab.said.splitlines()[-1].endswith(
            "WARNING addons.reload: needs a restart: modes, workers, body_limit_bytes"
        )
    assert lab.ask("x" * 9000).status_code == 200
    assert "4711" not in lab.said
    lab.settings()
    assert lab.reload() == "reloaded 6 policies; changed settings: log_level"
    assert "needs a restart" not in lab.said.splitlines()[-1]


def test_upstreams_their_keys_and_authorities_are_replaced(
    lab: Lab, upstream: Upstream, tls_upstream: Upstream, authority: trustme.CA
) -> None:
    secret = lab.folder / "key"
    secret.write_text("first-key")
    other = f'[upstreams.other]\nbase_url = "{tls_upstream.url}/v1"\nmodels = ["n"]\napi_key = "file:{secret}"\n'
    assert lab.ask(model="n").status_code == 404
    lab.settings(upstream=other)
    lab.reload()
    assert lab.ask().status_code == 404
    assert lab.ask(model="n").status_code == 502, "its authority is not trusted yet"
    authority.cert_pem.write_to_path(lab.folder / "ca.pem")
    secret.write_text("second-key")
    assert lab.reload() == "reloaded 6 policies; changed settings: none"
    assert lab.ask(model="n").status_code == 200
    assert tls_upstream.recorded[-1].header("authorization") == "Bearer second-key"
    assert "-key" not in lab.said


def test_hosts_are_intercepted_and_clients_believed_from_then_on(
    lab: Lab, tls_upstream: Upstream, authority: trustme.CA
) -> None:
    """A tunnel that is open stays what it is."""
    authority.cert_pem.write_to_path(lab.folder / "ca.pem")
    url, body = (
        f"{tls_upstream.url}/v1/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": MAIL}]},
    )
    trust = ssl.create_default_context(cafile=lab.running.ca)
    authority.configure_trust(trust)
    with httpx.Client(proxy=lab.running.proxy, verify=trust, trust_env=False, timeout=30) as client:
        for _ in range(2):
            assert client.post(url, json=body).status_code == 200
            assert MAIL.encode() in tls_upstream.seen
            lab.common = lab.common.replace("localhost:1", f"localhost:{tls_upstream.port}")
            lab.settings('trusted_proxies = ["127.0.0.0/8"]')
            lab.reload()
    tls_upstream.recorded.clear()
    with lab.running.proxied() as client:
        assert MAIL in client.post(url, json=body, headers={"x-forwarded-for": "192.0.2.7"}).text
    assert MAIL.encode() not in tls_upstream.seen
    wait_for(lambda: 'client="192.0.2.7"' in lab.said)


def test_new_connections_get_the_new_certificate(tmp_path: Path, upstream: Upstream, authority: trustme.CA) -> None:
    lab = Lab(tmp_path, upstream)
    certificate, key = write_certificate(tmp_path / "tls", authority=authority)
    lab.common += f'tls_certificate = "{certificate}"\ntls_key = "{key}"\n'
    lab.settings()
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    headers = {"authorization": f"Bearer {OPERATOR_KEY}"}

    def client(context: ssl.SSLContext) -> httpx.Client:
        return httpx.Client(base_url=lab.running.url, headers=headers, verify=context, trust_env=False, timeout=30)

    with lab.started(SVC_TLS_CERTIFICATE=str(certificate), SVC_TLS_KEY=str(key)), client(trust) as old:
        assert old.get("/healthz").status_code == 200
        key.write_text("nonsense")
        assert "tls_key: " in lab.reload()
        other = trustme.CA()
        write_certificate(tmp_path / "tls", authority=other, ends=timedelta(days=77))
        assert re.search(r"; the certificate expires on \d{4}-\d\d-\d\d$", lab.reload())
        assert old.get("/healthz").status_code == 200, "a connection that is open remains"
        new = ssl.create_default_context()
        other.configure_trust(new)
        with client(new) as following:
            assert following.get("/healthz").status_code == 200
        with client(trust) as refused, pytest.raises(httpx.ConnectError):
            refused.get("/healthz")
        bundle = ssl.create_default_context(cafile=lab.running.certs / "ca-bundle.pem")
        with client(bundle) as following:
            metrics = following.get("/metrics").text
        assert re.search(r"listener_certificate_expiry_timestamp_seconds ([\d.e+]+)", metrics)


def test_the_log_is_reopened_renamed_and_made_quieter_in_both_processes(lab: Lab) -> None:
    lab.log.rename(lab.log.with_suffix(".log.1"))
    (lab.folder / "svc.toml").write_text("nonsense")
    assert lab.reload().startswith("not reloaded"), "rotated, although the settings are unusable"
    assert lab.log.read_text().count("reopened the log") == 1
    moved = lab.log.with_name("other.log")
    lab.common = lab.common.replace(str(lab.log), str(moved))
    lab.settings('log_json = true\nlog_level = "warning"\nworkers = 3')
    lab.running.process.send_signal(signal.SIGHUP)
    wait_for(lambda: moved.exists() and "needs a restart: workers" in moved.read_text())
    assert lab.ask().status_code == 200
    assert [line[:1] for line in moved.read_text().splitlines()] == ["{"]
    assert lab.log.read_text().endswith("reopened the log\n")
    pid = lab.running.process.pid
    if sys.platform == "linux":
        child = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
        for each in (pid, child):
            files = open_files(each)
            assert (moved.name in files, lab.log.name in files) == (True, False)


def open_files(pid: str | int) -> set[str]:
    found = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it has been closed meanwhile
            found.add(each.readlink().name)
    return found


def test_many_signals_at_once_and_one_during_the_shutdown_are_harmless(lab: Lab, upstream: Upstream) -> None:
    asked, answered = answer_when_told(upstream)
    result: list[httpx.Response] = []
    call = threading.Thread(target=lambda: result.append(lab.ask()))
    call.start()
    assert asked.wait(60)
    lab.settings('default_policy = "strict"')
    for _ in range(20):
        lab.running.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "changed settings: default_policy" in lab.said)
    lab.running.process.terminate()
    wait_for(lambda: "shutting down" in lab.said)
    before = len(ENDED.findall(lab.said))
    for _ in range(3):
        lab.running.process.send_signal(signal.SIGHUP)
    answered.set()
    call.join(60)
    assert result[0].status_code == 200
    assert lab.running.process.wait(60) == 0
    assert before <= len(ENDED.findall(lab.said)) <= before + 1
    assert lab.said.splitlines()[-1].endswith("stopped")
