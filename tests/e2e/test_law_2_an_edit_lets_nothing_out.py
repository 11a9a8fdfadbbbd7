"""An operator holds a request back in mitmweb, edits it and releases it: the receipt describes the request as sent."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

import httpx
import pytest

from tests.e2e.mitmweb import Flow, everything, operator, wait_for
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.test_mitmweb_access import is_cut_off
from tests.e2e.upstream import Upstream

NAME, MAIL = "Wilhelmina Oxenfoord", "canary.held@acme.test"
TEXT = f"My name is {NAME}, write to {MAIL}. I am 42 years old."
BODY = {"model": "configured-upstream", "messages": [{"role": "user", "content": TEXT}]}


@dataclass
class Held:
    """A request that waits for an operator, and the client that waits for its answer."""

    web: httpx.Client
    flow: Flow
    upstream: Upstream
    answers: list[httpx.Response]
    thread: threading.Thread

    @property
    def path(self) -> str:
        return f"/flows/{self.flow['id']}"

    def body(self) -> Flow:
        return json.loads(self.web.get(f"{self.path}/request/content.data").content)  # type: ignore[no-any-return]

    def edit(self, **request: object) -> None:
        assert self.web.put(self.path, json={"request": request}).status_code == 200

    def say(self, text: str) -> None:
        """Puts another text in place of the message's."""
        body = self.body()
        body["messages"][0]["content"] = text
        self.edit(content=json.dumps(body))

    def let_go(self) -> httpx.Response:
        assert self.web.post(f"{self.path}/resume").status_code == 200
        return self.answer()

    def answer(self) -> httpx.Response:
        self.thread.join(20)
        assert self.answers, "the client has its answer"
        return self.answers[0]

    def now(self) -> Flow:
        return next(flow for flow in self.web.get("/flows").json() if flow["id"] == self.flow["id"])


@pytest.fixture(params=["gateway", "proxy"])
def held(
    request: pytest.FixtureRequest, running: Running, upstream: Upstream, tls_upstream: Upstream
) -> Iterator[Held]:
    reached = upstream if request.param == "gateway" else tls_upstream
    with operator(running) as web, holding(web), client_of(running, reached, request.param) as client:
        web.post("/clear")
        answers: list[httpx.Response] = []
        thread = threading.Thread(target=lambda: answers.append(client.post("/v1/chat/completions", json=BODY)))
        thread.start()

        def waiting() -> Flow | None:
            flows = web.get("/flows").json()
            return next((flow for flow in flows if flow["intercepted"]), None)

        yield Held(web, wait_for(waiting), reached, answers, thread)
        web.post("/flows/resume")
        thread.join(20)


# The two entrances differ before a request is held, not after.
at_the_gateway = pytest.mark.parametrize("held", ["gateway"], indirect=True)


@contextmanager
def holding(web: httpx.Client) -> Iterator[None]:
    """While every request is held back."""
    assert web.put("/options", json={"intercept": "~q"}).status_code == 200
    try:
        yield
    finally:
        assert web.put("/options", json={"intercept": None}).status_code == 200


@contextmanager
def client_of(running: Running, upstream: Upstream, entrance: str) -> Iterator[httpx.Client]:
    if entrance == "gateway":
        with running.client() as client:
            yield client
    else:
        with running.proxied(upstream.url) as client:
            yield client


def receipt(running: Running, request_id: str) -> Flow:
    with running.client() as client:
        found = wait_for(lambda: _with_outcome(client.get(f"/v1/receipts/{request_id}").json()))
        assert client.get(f"/v1/receipts/{request_id}/verify").json()["valid"]
    return found


def _with_outcome(found: Flow) -> Flow | None:
    return found if "outcome" in found else None


def test_while_it_is_held_nothing_private_is_shown_and_nothing_leaves(held: Held) -> None:
    seen = everything(held.web, held.flow["id"])
    assert b"canary" not in seen
    assert b"Oxenfoord" not in seen
    assert not held.upstream.recorded
    assert held.flow["request"]["host"] == "localhost"


def test_let_go_as_it_was(held: Held, running: Running) -> None:
    answer = held.let_go()
    assert answer.json()["choices"][0]["message"]["content"] == TEXT
    found = receipt(running, answer.headers["x-svc-request-id"])
    assert sha256(held.upstream.recorded[0].body).hexdigest() == found["protected_digest"]
    assert "edit" not in found["outcome"]
    assert held.now()["marked"] == "✔"


def test_a_harmless_edit_is_sent_and_has_its_own_receipt(held: Held, running: Running) -> None:
    protected = held.body()["messages"][0]["content"]
    held.say(f"Answer in one line. {protected}")
    answer = held.let_go()
    assert answer.json()["choices"][0]["message"]["content"] == f"Answer in one line. {TEXT}"
    crossed = held.upstream.recorded[0].body
    assert b"Answer in one line." in crossed
    assert b"canary" not in crossed
    first = receipt(running, answer.headers["x-svc-request-id"])
    with running.client() as client:
        edit = client.get(f"/v1/receipts/{first['outcome']['edit']}").json()
    assert edit["operation"] == "edit"
    assert edit["amends"] == first["request_id"]
    assert edit["protected_digest"] == sha256(crossed).hexdigest() != first["protected_digest"]
    assert edit["sequence"] < first["outcome"]["sequence"]
    flow = held.now()
    assert (flow["marked"], flow["comment"].split(" · ")[0]) == ("✏", f"edited: #{edit['sequence']}")
    assert held.web.get(f"{held.path}/request/content.data").content == crossed


def test_a_placeholder_may_be_taken_out(held: Held) -> None:
    held.say("Say hello.")
    assert held.let_go().json()["choices"][0]["message"]["content"] == "Say hello."


LEAKS = {
    "the value itself": (f"write to {MAIL}", "EMAIL_ADDRESS at /messages/0/content, character 10"),
    "another spelling": (f"write to {MAIL.upper()}", "EMAIL_ADDRESS at /messages/0/content, character 10"),
    "the name alone": (f"{NAME} is here", "PERSON at /messages/0/content, character 1"),
    "half the name": ("Tell Oxenfoord about it", "PERSON at /messages/0/content, character 6"),
    "the name, spaced": ("W i l h e l m i n a   O x e n f o o r d", "PERSON at /messages/0/content"),
    "a new value": ("IBAN DE89 3704 0044 0532 0130 00", "IBAN_CODE at /messages/0/content, character 6"),
    "a new card": ("4111 1111 1111 1111", "CREDIT_CARD at /messages/0/content, character 1"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_an_edit_that_would_let_something_out(held: Held, running: Running, name: str) -> None:
    text, found = LEAKS[name]
    held.say(text)
    refused(held, running)
    told = held.web.get(f"{held.path}/request/content/Auto.json").json()["text"]
    assert f"\n# found     {found}" in told
    assert held.now()["comment"].startswith(f"refused: edit_refused · {found}")
    assert " at /" not in held.answers[0].text


@at_the_gateway
def test_an_edit_may_be_no_larger_than_a_body(held: Held, running: Running) -> None:
    content = json.dumps({**held.body(), "user": "x" * 10 * 1024 * 1024})
    assert is_cut_off(held.web, "PUT", held.path, json.dumps({"request": {"content": content}}).encode())
    assert held.let_go().status_code == 200


def refused(held: Held, running: Running, code: str = "edit_refused") -> None:
    answer = held.let_go()
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == code
    flow = held.now()
    seen = everything(held.web, held.flow["id"])
    assert not held.upstream.recorded
    assert (flow["marked"], flow["comment"].split(" · ")[0]) == ("✖", f"refused: {code}")
    assert (flow["response"]["status_code"], flow["modified"]) == (403, False)
    assert [flow["request"][name] for name in ("host", "port", "path")] == [
        held.flow["request"][name] for name in ("host", "port", "path")
    ]
    for word in (b"canary", b"Oxenfoord", b"oxenfoord", b"0532 0130", b"4111 1111", OPERATOR_KEY.encode()):
        assert word not in seen
        assert word not in answer.content
    assert receipt(running, answer.headers["x-svc-request-id"])["outcome"]["outcome"] == "refused"
    # The edit cannot be reverted.
    held.web.post(f"{held.path}/revert")
    assert held.now()["request"]["contentLength"] == 0


@at_the_gateway
def test_private_text_anywhere_else_in_the_body(held: Held, running: Running) -> None:
    body = held.body()
    body["metadata"] = {"who": [MAIL]}
    held.edit(content=json.dumps(body))
    refused(held, running)


ELSEWHERE: dict[str, Flow] = {
    "host": {"host": "127.0.0.1"},
    "port": {"port": 9},
    "scheme": {"scheme": "gopher"},
    "path": {"path": f"/v1/chat/completions?{MAIL}"},
    "method": {"method": "PUT"},
    "version": {"http_version": "HTTP/1.0"},
    "headers": {"headers": [["x-who", MAIL]]},
    "trailers": {"trailers": [["x-who", MAIL]]},
}


@at_the_gateway
@pytest.mark.parametrize("place", ELSEWHERE)
def test_nothing_but_the_body_can_be_edited(held: Held, running: Running, place: str) -> None:
    held.edit(**ELSEWHERE[place])
    refused(held, running)


BROKEN = {
    "broken JSON": '{"model": ',
    "empty": "",
    "no messages": '{"model": "upstream-model", "messages": []}',
    "duplicate keys": '{"model": "configured-upstream", "messages": [], "messages": []}',
}


@at_the_gateway
@pytest.mark.parametrize("name", BROKEN)
def test_a_body_that_cannot_be_read(held: Held, running: Running, name: str) -> None:
    held.edit(content=BROKEN[name])
    refused(held, running)


@at_the_gateway
@pytest.mark.parametrize("change", [{"model": "another-model"}, {"stream": True}])
def test_model_and_streaming_stay(held: Held, running: Running, change: Flow) -> None:
    held.edit(content=json.dumps(held.body() | change))
    refused(held, running)


@at_the_gateway
def test_an_attachment_cannot_be_added(held: Held, running: Running) -> None:
    body = held.body()
    body["messages"][0]["content"] = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]
    held.edit(content=json.dumps(body))
    refused(held, running)


@at_the_gateway
@pytest.mark.parametrize("way", ["kill", "delete", "clear", "open"])
def test_an_operator_stops_a_request(held: Held, running: Running, way: str) -> None:
    if way == "delete":
        held.web.delete(held.path)
    elif way == "open":
        # Opening a saved list replaces the one that is shown; the copy of the request in it has the same id.
        saved = held.web.get("/flows/dump").content
        assert held.web.post("/flows/dump", files={"file": ("flows", saved)}).status_code == 200
    else:
        held.web.post("/clear" if way == "clear" else f"{held.path}/kill")
    answer = held.answer()
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "stopped_by_operator"
    assert not held.upstream.recorded
    outcome = receipt(running, answer.headers["x-svc-request-id"])["outcome"]
    assert (outcome["outcome"], outcome["code"]) == ("refused", "stopped_by_operator")


def test_a_client_that_leaves_ends_what_is_held(running: Running, upstream: Upstream) -> None:
    with operator(running) as web, holding(web), running.client() as client:
        web.post("/clear")
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/chat/completions", json=BODY, timeout=2)
        client.close()

        def broken_off() -> Flow | None:
            (flow,) = web.get("/flows").json()
            return flow if flow.get("error") and not flow["intercepted"] else None

        flow = wait_for(broken_off)
    request_id = re.search(r"req_[0-9a-f]+", flow["comment"])
    assert request_id is not None
    assert receipt(running, request_id[0])["outcome"]["outcome"] == "cancelled"
    assert not upstream.recorded


@at_the_gateway
def test_an_edit_after_letting_go_changes_nothing(held: Held) -> None:
    """The flow that operators see is not the one that is served."""
    release = threading.Event()
    default = held.upstream.answer

    def slow(request: object) -> object:
        release.wait(10)
        return default(request)  # type: ignore[arg-type]

    held.upstream.answer = slow  # type: ignore[assignment]
    assert held.web.post(f"{held.path}/resume").status_code == 200
    wait_for(lambda: held.upstream.recorded)
    held.edit(content="scribbled", host="127.0.0.1", port=9)
    held.web.post(f"{held.path}/kill")
    release.set()
    assert held.answer().json()["choices"][0]["message"]["content"] == TEXT
    assert b"scribbled" not in held.upstream.seen


@at_the_gateway
def test_a_duplicate_is_not_held(held: Held) -> None:
    """No client waits for a duplicate. If it were held, it would stay until the operator releases it."""
    twin = held.web.post(f"{held.path}/duplicate").text
    flows = {flow["id"]: flow["intercepted"] for flow in held.web.get("/flows").json()}
    assert flows == {held.flow["id"]: True, twin: False}


def test_answers_are_not_held(running: Running, upstream: Upstream) -> None:
    with operator(running) as web, running.client() as client:
        assert web.put("/options", json={"intercept": "~s"}).status_code == 200
        try:
            answer = client.post("/v1/chat/completions", json=BODY)
        finally:
            web.put("/options", json={"intercept": None})
    assert answer.json()["choices"][0]["message"]["content"] == TEXT


def test_native_calls_are_never_held(running: Running) -> None:
    with operator(running) as web, holding(web), running.client() as client:
        assert client.post("/v1/protect", json={"text": MAIL}).status_code == 200
