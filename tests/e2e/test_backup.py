"""A gateway is backed up while it serves, and restored elsewhere: receipts verify there, and sessions open."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import preloaded
from tests.e2e.server import Running, gateway

pytestmark = pytest.mark.slow

TEXT = "Write to wiebke.hartung@example.org about the invoice."


def command(folder: Path, *words: str) -> Any:
    given = [*words, "--json", "--data-dir", str(folder / "data"), "--certs-dir", str(folder / "certs")]
    done = preloaded.run(given, os.environ, folder)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def protect(running: Running) -> Any:
    with running.client() as client:
        return client.post("/v1/protect", json={"text": TEXT}).raise_for_status().json()


def test_a_gateway_is_backed_up_under_load_and_restored_elsewhere(tmp_path: Path) -> None:
    first, second, file = tmp_path / "first", tmp_path / "second", tmp_path / "gateway.tar"
    first.mkdir()
    second.mkdir()
    with gateway(first) as running:
        kept = protect(running)
        stop = threading.Event()
        served: list[Any] = []

        def load() -> None:
            while not stop.is_set():
                served.append(protect(running))

        threads = [threading.Thread(target=load) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            done = command(first, "backup", str(file), "--certs")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        later = protect(running)
        refused = preloaded.run(["restore", str(file), "--replace", "--data-dir", str(running.data)], os.environ, first)
        assert (refused.returncode, "A gateway runs on data_dir." in refused.stderr) == (1, True)
    assert file.stat().st_mode & 0o077 == 0
    assert 1 <= done["records"] <= len(served) + 1, "requests were served meanwhile"
    assert TEXT.encode() not in file.read_bytes()

    restored = command(second, "restore", str(file))
    assert (restored["records"], restored["replaced"]) == (done["records"], None)
    assert command(second, "receipts", "verify")["valid"]
    with gateway(second) as running, running.client() as client:
        assert client.get(f"/v1/receipts/{kept['request_id']}/verify").json()["valid"]
        assert client.get(f"/v1/receipts/{later['request_id']}").status_code == 404
        session = {name: kept["session"][name] for name in ("session_id", "session_token")}
        opened = client.post("/v1/reconstruct", json={"text": kept["protected_text"], "session": session})
        assert opened.json()["text"] == TEXT
        assert protect(running)["protected_text"] != TEXT
    assert (second / "certs" / "mitmproxy-ca.pem").read_bytes() == (first / "certs" / "mitmproxy-ca.pem").read_bytes()
    assert command(second, "receipts", "verify")["valid"]
