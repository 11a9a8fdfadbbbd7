"""A thief with every file of the gateway but no client's token can open nothing and finds no private value."""

import base64
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gateway.errors import InternalError
from gateway.models import SessionGrant
from gateway.store.rows import SealedRow
from gateway.vault import _NONCE, _Seal
from tests.e2e.mitmweb import operator
from tests.e2e.server import Running, gateway
from tests.e2e.upstream import Reply, Upstream, echo

CANARIES = (
    "canary.stolen@acme.test",
    "4111 1111 1111 1111",
    "GB82 WEST 1234 5698 7654 32",
    "Canaria Stolensdottir",
    "sk-" + "proj-" + "canarystolen0123456789" * 2,
)
AGAIN = "Or write to canary.again@acme.test."
TEXT = "My name is {3}, write to {0}, card {1}, IBAN {2}, API key {4}.".format(*CANARIES)


class Stolen(NamedTuple):
    """The contents of all files, the data folder, and the credentials of a session, which are not in the files."""

    files: bytes
    data: Path
    session_id: str
    token: str


@pytest.fixture(scope="module")
def stolen(tmp_path_factory: pytest.TempPathFactory, _plain: Upstream) -> Iterator[Stolen]:
    """After traffic of every kind, from the running gateway and from the stopped one."""
    folder = tmp_path_factory.mktemp("stolen")
    _plain.answer = echo
    environment = {"SVC_LOG_LEVEL": "debug", "SVC_UPSTREAM_KEY": "upstream-key-of-the-tests", "SVC_STREAMING": "true"}
    with gateway(folder, "--upstream", f"{_plain.url}/v1", web=True, environment=environment) as running:
        credentials = traffic(running, _plain)
        with operator(running) as web:
            dump = b"".join(web.get(path).content for path in ("/flows", "/flows/dump", "/events"))
        files = contents(folder)
    yield Stolen(files + dump + contents(folder), running.data, *credentials)


def traffic(running: Running, upstream: Upstream) -> tuple[str, str]:
    """Sends the canaries on every way that text takes, to failures too. Returns the credentials of an open session."""
    chat = {"model": "configured-upstream", "messages": [{"role": "user", "content": TEXT}]}
    sessions: list[dict[str, str]] = []
    with running.client() as client:
        for _ in range(2):
            made = client.post("/v1/protect", json={"text": TEXT, "task": TEXT}).json()
            session = {name: made["session"][name] for name in ("session_id", "session_token")}
            sessions.append(session)
            opened = client.post("/v1/reconstruct", json={"text": made["protected_text"], "session": session})
            assert opened.json()["text"] == TEXT
            assert client.post("/v1/protect", json={"text": AGAIN, "session": session}).status_code == 200
            assert client.post("/v1/sessions/extend", json={"session": session}).status_code == 200
        assert client.post("/v1/sessions/revoke", json={"session": session}).status_code == 200
        for path in ("analyze", "shard", "playground/run"):
            assert client.post(f"/v1/{path}", json={"text": f"{TEXT} It is late. We go."}).status_code == 200
        answer = client.post("/v1/chat/completions", json=chat)
        assert answer.status_code == 200, answer.text
        assert TEXT in answer.json()["choices"][0]["message"]["content"]
        assert client.post("/v1/chat/completions", json=chat | {"model": "svc-demo"}).status_code == 200
        assert client.post("/v1/chat/completions", json=chat | {"model": "svc-demo", "stream": True}).status_code == 200
        for canary in CANARIES:
            client.post("/v1/protect", json={"text": 1, canary: canary})
            client.post("/v1/chat/completions", content=canary)
            client.get(f"/v1/receipts/{canary}", params={"limit": canary})
            assert client.post("/v1/receipt-search", json={"value": canary}).json()["total"] > 1
            client.get("/v1/receipts", headers={"authorization": f"Bearer {canary}"})
        upstream.answer = lambda _: Reply(b'{"error": "boom"}', 500)
        client.post("/v1/chat/completions", json=chat)
    return sessions[0]["session_id"], sessions[0]["session_token"]


def contents(folder: Path) -> bytes:
    return b"\n".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def forms(value: str) -> Iterator[tuple[str, bytes]]:
    """The value and what it becomes by the transformations that a program may make of it without encrypting."""
    for spelling in dict.fromkeys((value, value.replace(" ", ""), value.lower(), value.upper())):
        plain = spelling.encode()
        yield "plain", plain
        yield "reversed", plain[::-1]
        yield "hex", plain.hex().encode()
        yield "hex in capitals", plain.hex().upper().encode()
        yield "UTF-16", spelling.encode("utf-16-le")
        yield "UTF-16, big end first", spelling.encode("utf-16-be")
        for shift in range(3):
            # Only the characters that depend on nothing around the value.
            start, end = -(-shift * 8 // 6), (shift + len(plain)) * 8 // 6
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                yield "base64", encode(bytes(shift) + plain + bytes(3))[start:end]


@pytest.mark.parametrize("canary", CANARIES)
def test_no_byte_of_any_file_tells_a_private_value(stolen: Stolen, canary: str) -> None:
    assert b"req_" in stolen.files
    assert [name for name, form in forms(canary) if form in stolen.files] == []


def test_the_forms_are_found_where_they_are() -> None:
    for canary in CANARIES:
        for shift in range(3):
            assert any(form in base64.b64encode(b"x" * shift + canary.encode() + b"tail") for _, form in forms(canary))
        assert any(form in f"<{canary}>".encode("utf-16-le") for _, form in forms(canary))


def test_no_token_of_a_session_is_in_a_file(stolen: Stolen) -> None:
    bare = stolen.token.removeprefix("vst_")
    raw = base64.urlsafe_b64decode(bare + "=")
    for form in (bare.encode(), bare[::-1].encode(), raw, raw.hex().encode(), base64.b64encode(raw)):
        assert form not in stolen.files


def test_no_mapping_opens_with_anything_in_the_files(stolen: Stolen) -> None:
    with closing(sqlite3.connect(stolen.data / "gateway.db")) as conn:
        of_session = "FROM vault_sessions JOIN vault_rows USING (session_id) WHERE session_id = ?"
        found = conn.execute(f"SELECT owner, expires_at, row, sealed {of_session} ORDER BY row", [stolen.session_id])
        (owner, end, *_), *_ = cells = found.fetchall()
        secrets = values(conn)
    rows = [SealedRow(*cell[2:]) for cell in cells]
    assert len(rows) == 2
    secrets |= {*re.findall(rb"[!-~]{16,200}", stolen.files), *re.findall(rb"[0-9a-zA-Z_-]{16,}", stolen.files)}
    secrets |= {file.read_bytes() for file in stolen.data.iterdir() if file.stat().st_size < 4096}
    grant = SessionGrant(stolen.session_id, "", datetime.fromtimestamp(end, UTC))
    assert len(secrets) > 200
    assert [secret for secret in secrets if any(_opens(secret, rows, grant, owner))] == []
    assert any(_opens(stolen.token.encode(), rows, grant, owner)), "only the token opens it"


def values(conn: sqlite3.Connection) -> set[bytes]:
    """Every value in every table."""
    tables = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    cells = (cell for table in tables for row in conn.execute(f"SELECT * FROM [{table}]") for cell in row)
    return {cell if isinstance(cell, bytes) else str(cell).encode() for cell in cells}


def _opens(secret: bytes, rows: list[SealedRow], grant: SessionGrant, owner: str) -> Iterator[bool]:
    """Tries a secret as a token, as a key, and as what a key is made of."""
    for token in tokens_of(secret):
        seal = _Seal(SessionGrant(grant.session_id, token, grant.expires_at), owner)
        try:
            yield bool(list(seal.contents(rows)))
        except InternalError:
            yield False
    seal = _Seal(grant, owner)
    for key in (secret[:32], secret[-32:], sha256(secret).digest()):
        if len(key) == 32:
            for row, sealed in rows:
                try:
                    yield bool(AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], seal._bound_to(row)))
                except InvalidTag:
                    yield False


def tokens_of(secret: bytes) -> Iterable[str]:
    text = secret.decode("latin-1")
    return dict.fromkeys((text, f"vst_{text}", text.strip(), secret.hex(), sha256(secret).hexdigest()))
