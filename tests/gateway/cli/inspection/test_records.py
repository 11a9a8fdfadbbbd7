"""The gateway's events become requests, tunnels and a list of what was not sent."""

from gateway.cli.inspection.records import NotSent, Records, Sent, Tunnel
from tests.gateway.cli.inspection.support import ended, sending, sent


def test_a_request_is_reported_when_it_has_ended() -> None:
    done: list[Sent] = []
    records = Records(done.append)
    records.take(sending(b"a"))
    records.take(sending(b"b", request_id="req_2"))
    assert done == []
    records.take(ended(b"answer", request_id="req_2", outcome="answered"))
    assert [(each.number, each.body, each.answer, each.delivered) for each in done] == [(2, b"b", b"answer", True)]
    assert [(each.number, each.delivered, each.line) for each in records.sent[:1]] == [(1, None, {})]


def test_what_was_not_sent_has_a_decision() -> None:
    records = Records()
    records.take(ended(request_id="a", outcome="refused", code="text_refused"))
    records.take(ended(request_id="b"))
    records.take(ended(request_id="c", listener="gateway"))
    records.take({"event": "refused", "host": "chat.example", "port": 443, "code": "unprotected_host"})
    records.take({"event": "untrusted", "host": "api.example"})
    records.take({"event": "tunnel", "host": "other.example", "port": 443, "sent": 5, "received": 7})
    records.take({"event": "ready"})
    found = [(each.decision, each.host, each.port, each.code) for each in records.not_sent]
    assert found == [
        ("refused", "api.example", 443, "text_refused"),
        ("dropped", "api.example", 443, None),
        ("answered", "", None, None),
        ("refused", "chat.example", 443, "unprotected_host"),
        ("untrusted", "api.example", None, None),
    ]
    assert records.tunnels == [Tunnel("other.example", 443, 5, 7)]
    assert isinstance(records.not_sent[0], NotSent)


def test_the_address_has_the_port_unless_it_is_the_usual_one() -> None:
    assert sent().address == "https://api.example"
    assert sent(host="::1", port=8443).address == "https://[::1]:8443"
