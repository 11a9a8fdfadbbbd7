"""The report marks placeholders, keeps to 80 columns, and repeats no forbidden value and nothing a terminal obeys."""

import io
import json
from typing import Any

import pytest

from gateway.cli.inspection.forbidden import Forbidden
from gateway.cli.inspection.records import Records
from gateway.cli.inspection.report import JsonReport, Report
from tests.gateway.cli.inspection.support import CARD, OWN, chat, ended, sending

LONG = "\n".join(f"line {number}" for number in range(40))


class File(io.StringIO):
    def __init__(self, terminal: bool = False, encoding: str = "utf-8") -> None:
        super().__init__()
        self._terminal, self._encoding = terminal, encoding

    def isatty(self) -> bool:
        return self._terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def reported(
    *events: dict[str, Any],
    file: File | None = None,
    values: dict[int, str] | None = None,
    kind: type[Report] = Report,
    **options: Any,
) -> str:
    records, file = Records(), file or File()
    report = kind(file, Forbidden(values or {}), **options)
    for event in events:
        records.take(event)
    for sent in records.sent:
        report.request(sent)
    report.summary(records, ["a note"], "the verdict")
    return file.getvalue()


def test_a_request_is_shown_by_role_with_its_placeholders() -> None:
    text = reported(sending(chat(f"Card {OWN}, not [PERSON_7KQ2M]")), ended())
    assert "POST https://api.example/v1/chat/completions" in text
    assert "   chat-completions · gpt-5 · policy default@1 · 200 in 1.2 s\n   hidden: CREDIT_CARD 1\n" in text
    assert "   user\n    Card ⟦CREDIT_CARD_7KQ2M⟧, not [PERSON_7KQ2M]\n" in text
    assert "1 request sent, 1 value hidden (CREDIT_CARD 1).\n   https://api.example  1 request\n" in text
    assert text.endswith("a note\nthe verdict\n")
    assert "x-app" not in text


@pytest.mark.parametrize(
    ("file", "mark"),
    [
        (File(terminal=True), "\x1b[1;36m⟦CREDIT_CARD_7KQ2M⟧\x1b[0m"),
        (File(encoding="ascii"), "<CREDIT_CARD_7KQ2M>"),
        (File(True, "ascii"), "\x1b[1;36m<CREDIT_CARD_7KQ2M>\x1b[0m"),
    ],
)
def test_the_mark_suits_the_terminal(file: File, mark: str) -> None:
    assert f"Card {mark}." in reported(sending(chat(f"Card {OWN}.")), file=file)


def test_long_texts_are_shortened_around_placeholders() -> None:
    events = sending(chat(f"{LONG}\nCard {OWN}\n{LONG}")), ended()
    text = reported(*events)
    assert "    line 2\n    … 36 more lines …\n    line 39\n    Card ⟦CREDIT_CARD_7KQ2M⟧\n    line 0\n    … 39" in text
    assert max(map(len, reported(sending(chat("word " * 99 + "x" * 300, f"{OWN} " * 40)), ended()).splitlines())) <= 80
    assert "line 20" in reported(*events, full=True)


def test_what_an_earlier_request_had_is_not_repeated() -> None:
    tool = {"type": "function", "function": {"name": "save", "description": "Saves it."}}
    events = [sending(chat("first", tools=[tool])), sending(chat("first", "second", tools=[tool]), request_id="req_2")]
    text = reported(*events)
    assert text.count("    first\n") == 1
    assert "texts as in earlier requests)\n   user\n    second\n" in text
    assert "tools\n    (2 texts of 13 characters without a placeholder)\n" in text
    assert reported(*events, full=True).count("    first\n") == 2


def test_headers_and_answers_are_shown_on_request() -> None:
    answer = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": f"Got {OWN}"}}]}).encode()
    text = reported(sending(chat("Hi")), ended(answer), headers=True, answers=True)
    assert "   x-app: cli\n" in text
    assert "answer, before it was restored\n    Got ⟦CREDIT_CARD_7KQ2M⟧\n" in text
    assert "Bearer" not in text


def test_what_went_elsewhere_is_listed() -> None:
    tunnel = {"event": "tunnel", "host": "other.example", "port": 443, "sent": 1500, "received": 7}
    refusal = {"event": "refused", "host": "chat.example", "port": 443, "code": "unprotected_host"}
    text = reported(
        tunnel,
        tunnel,
        refusal,
        refusal,
        ended(request_id="x", listener="gateway", outcome="refused", code="text_refused", wire="responses"),
    )
    assert "   chat.example:443  refused (unprotected_host)  (2 times)\n   responses  refused (text_refused)\n" in text
    assert "   other.example:443  3,000 bytes sent, 14 received\n" in text


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ((), "no answer yet"),
        ((ended(sent=False, code="upstream_refused"),), "not delivered (upstream_refused)"),
        ((ended(upstream_status=None, outcome="cancelled"),), "cancelled in 1.2 s"),
    ],
)
def test_the_end_of_a_request_is_told(event: tuple[dict[str, Any], ...], words: str) -> None:
    assert f"{words}\n" in reported(sending(chat("Hi")), *event)


def hostile() -> list[dict[str, Any]]:
    body = chat(f"Card {CARD}\x1b[2J", "\x1b]0;title\x07\u202eevil", metadata={CARD: "x"})
    request = sending(body, path=f"/v1/chat/completions?q={CARD}", headers=[["x-card", CARD]])
    answer = json.dumps(
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": f"Got {CARD}"}}]}
    ).encode()
    tunnel = {"event": "tunnel", "host": f"{CARD}.example", "port": 443, "sent": 1, "received": 1}
    return [request, ended(answer), tunnel, {"event": "untrusted", "host": f"{CARD}.example"}]


@pytest.mark.parametrize("kind", [Report, JsonReport])
def test_no_forbidden_value_is_printed(kind: type[Report]) -> None:
    text = reported(*hostile(), values={7: CARD}, kind=kind, headers=True, answers=True, full=True)
    assert CARD not in text
    assert "line 7" in text


def test_nothing_is_printed_that_a_terminal_obeys() -> None:
    text = reported(*hostile(), headers=True, answers=True)
    assert {char for char in text if not char.isprintable()} == {"\n"}
    assert "\\x1b]0;title\\x07\\u202eevil" in text


def test_json_has_one_object_a_line() -> None:
    tunnel = {"event": "tunnel", "host": f"{CARD}.example", "port": 443, "sent": 5, "received": 7}
    text = reported(
        sending(chat(f"Card {OWN}", "\x1b Bluebird")),
        ended(),
        ended(request_id="x"),
        tunnel,
        values={1: "Bluebird", 2: CARD},
        kind=JsonReport,
    )
    request, not_sent, sent_past, summary = map(json.loads, text.splitlines())
    assert request["texts"][0] == {
        "pointer": "/messages/0/content",
        "role": "user",
        "text": f"Card {OWN}",
        "placeholders": [OWN],
    }
    assert request["texts"][1]["text"] == "(not shown: the value of line 1 is in it)"
    assert request["forbidden"] == [{"line": 1, "place": "body /messages/1/content", "how": "as it is"}]
    assert (request["model"], request["delivered"], request["status"]) == ("gpt-5", True, None)
    assert (not_sent["type"], not_sent["decision"]) == ("not_sent", "dropped")
    assert (sent_past["bytes_sent"], sent_past["forbidden"][0]["line"]) == (5, 2)
    assert summary == {"type": "summary", "requests": 1, "forbidden": 1, "notes": ["a note"], "verdict": "the verdict"}
