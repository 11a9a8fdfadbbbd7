"""Sessions of the native API: a client with the token and the key can continue, extend and revoke them."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.server import Running
from tests.e2e.test_native_text import grant, ok, refused

FIRST, SECOND = "Mail w.oxenfoord@acme.test.", "Mail v.oxenfoord@acme.test."


def end(answer: Any) -> datetime:
    return datetime.fromisoformat(answer["session"]["expires_at"])


def test_a_session_is_extended_and_never_shortened(running: Running) -> None:
    with running.client() as client:
        first = ok(client.post("/v1/protect", json={"text": FIRST, "session_ttl_seconds": 60}))
        extended = ok(client.post("/v1/sessions/extend", json={"session": grant(first), "session_ttl_seconds": 600}))
        assert grant(extended) == grant(first)
        assert timedelta(seconds=530) <= end(extended) - end(first) <= timedelta(seconds=600)
        shorter = ok(client.post("/v1/sessions/extend", json={"session": grant(first), "session_ttl_seconds": 60}))
        assert end(shorter) == end(extended)
        opened = ok(client.post("/v1/reconstruct", json={"text": first["protected_text"], "session": grant(first)}))
        assert opened["text"] == FIRST


def test_a_continued_session_lasts_at_least_as_long_as_requested(running: Running) -> None:
    with running.client() as client:
        first = ok(client.post("/v1/protect", json={"text": FIRST, "session_ttl_seconds": 600}))
        asked = {"text": SECOND, "session": grant(first)}
        longer = ok(client.post("/v1/protect", json=asked | {"session_ttl_seconds": 6000}))
        assert end(longer) - end(first) >= timedelta(seconds=5300)
        assert end(ok(client.post("/v1/protect", json=asked | {"session_ttl_seconds": 60}))) == end(longer)
        assert end(ok(client.post("/v1/protect", json=asked))) == end(longer)
        said = f"{first['protected_text']} {longer['protected_text']}"
        opened = ok(client.post("/v1/reconstruct", json={"text": said, "session": grant(first)}))
        assert opened["text"] == f"{FIRST} {SECOND}"


def test_an_extension_is_limited_as_a_new_session_is(running: Running) -> None:
    with running.client() as client:
        first = ok(client.post("/v1/protect", json={"text": FIRST, "session_ttl_seconds": 60}))
        longest = ok(client.post("/v1/sessions/extend", json={"session": grant(first), "session_ttl_seconds": 86400}))
        made = ok(client.post("/v1/protect", json={"text": FIRST, "session_ttl_seconds": 86400}))
        assert abs(end(longest) - end(made)) < timedelta(seconds=30)
        assert end(longest) <= datetime.now(UTC) + timedelta(seconds=86401)
        for ttl in (59, 86401, "600", 600.5):
            asked = {"session": grant(first), "session_ttl_seconds": ttl}
            refused(client.post("/v1/sessions/extend", json=asked), 422, "validation_error")


def test_a_revoked_session_opens_no_more(running: Running) -> None:
    with running.client() as client:
        first = ok(client.post("/v1/protect", json={"text": FIRST}))
        revoked = ok(client.post("/v1/sessions/revoke", json={"session": grant(first)}))
        assert (revoked["session_id"], revoked["revoked"]) == (first["session"]["session_id"], True)
        for path in ("reconstruct", "protect", "sessions/extend", "sessions/revoke"):
            body = {"session": grant(first)} | ({} if "sessions" in path else {"text": FIRST})
            refused(client.post(f"/v1/{path}", json=body), 404, "session_not_found")


def test_a_damaged_session_is_in_the_log_under_its_request_id(running: Running) -> None:
    with running.client() as client:
        first = ok(client.post("/v1/protect", json={"text": FIRST}))
        with closing(sqlite3.connect(running.data / "gateway.db")) as conn, conn:
            damage = "UPDATE vault_rows SET sealed = zeroblob(300) WHERE session_id = ?"
            conn.execute(damage, [first["session"]["session_id"]])
        body = {"text": first["protected_text"], "session": grant(first)}
        answer = client.post("/v1/reconstruct", json=body)
        refused(answer, 500, "internal_error")
    assert f"are damaged. Start a new session. {answer.json()['request_id']}" in running.output()
