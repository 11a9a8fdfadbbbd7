"""`explain`, as the entry point calls it."""

from pathlib import Path

import pytest

from gateway.protection.reasons import Reason
from tests.gateway.cli.support import Command, give

TEXT = "Ask Jane Roe (jane.roe@acme.test), card 4111 1111 1111 1111, 4 May 2024.\nCVV: 123 \x1b[31m"


@pytest.fixture
def explain(data_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("COLUMNS", "80")
    return Command(data_dir, capsys, "explain")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "note.txt"
    file.write_text(TEXT)
    return file


def test_explain_marks_the_text(explain: Command, file: Path, data_dir: Path) -> None:
    status, out = explain(file)
    assert status == 0
    assert out.startswith("Ask [1:Jane Roe] ([2:jane.roe@acme.test]), card [3:4111 1111 1111 1111], [4?:4")
    assert "2 EMAIL_ADDRESS: hidden (placeholder)\n    It has the form of its type. (email.plain, score 0.95)" in out
    assert "3 CREDIT_CARD: hidden (placeholder)\n    It has the form of its type, and a validator" in out
    assert "4 DATE_TIME: Left in clear: the rule of its type keeps it." in out
    assert "To hide it: rules.DATE_TIME, svc_deny" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert "This would leave:\nAsk [PERSON_" in out
    assert list(data_dir.iterdir()) == []


def test_explain_as_json(explain: Command, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, reply = explain.json(file, "--policy", "pci")
    assert status == 0
    found = {one["type"]: one for one in reply["findings"]}
    assert found["CVV"]["action"] == "block"
    assert "CVV" in reply["blocked"]
    assert {one["reason"] for one in reply["findings"]} <= {reason.value for reason in Reason}
    assert found["DATE_TIME"]["kept"] == "rule"
    give(monkeypatch, TEXT.encode())
    assert explain.json("-", "--policy", "pci")[1] == reply
    give(monkeypatch, b"")
    assert explain.json("-")[1]["findings"] == []
    give(monkeypatch, b"")
    assert "Nothing was found." in explain("-")[1]


def test_explain_knows_what_was_allowed_and_denied(
    explain: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def add(kind: str, value: str, *words: str) -> None:
        give(monkeypatch, value.encode())
        assert Command(explain.data_dir, capsys, kind)("add", "-", *words)[0] == 0

    def clear(*words: str) -> str:
        give(monkeypatch, TEXT.encode())
        return str(explain.json("-", *words)[1]["protected_text"])

    key = Command(explain.data_dir, capsys, "keys").json("create", "laptop")[1]["key_id"]
    add("allow", "jane.roe@acme.test\n4111 1111 1111 1111")
    add("allow", "Jane Roe", "--for", key)
    add("deny", "4 May", "--for", key, "--type", "PROJECT")
    for words, text in (((), "Ask [PERSON_"), (("--for", key), "Ask Jane Roe (jane.roe@acme.test), card [CREDIT")):
        assert text in clear(*words)
        assert "jane.roe@acme.test" in clear(*words)
    assert ("4 May" in clear(), "[PROJECT_" in clear("--for", key)) == (True, True)
    status, reply = explain.json("-", "--for", "key_0")
    assert (status, reply["error"]["param"]) == (2, "for")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{folder}/absent"], "No such file"),
        (["{folder}/latin"], "The file is not UTF-8 text."),
        (["{folder}/note.txt", "--policy", "absent"], "no such policy"),
    ],
)
def test_explain_says_what_it_cannot_read(
    explain: Command, file: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "latin").write_bytes(b"K\xf6ln")
    assert explain(*(word.format(folder=tmp_path) for word in words))[0] == 2
    assert said.lower() in explain.errors.lower()
