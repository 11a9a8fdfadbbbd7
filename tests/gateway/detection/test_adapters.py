"""Detection an operator brings along: a service with Presidio's interface, a model's folder. Both fail closed."""

import json
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gateway.detection import Detector
from gateway.detection.adapters.onnx_folder import onnx_folder
from gateway.detection.adapters.presidio import PresidioService
from gateway.detection.ner.builtin_decoder import MODEL
from gateway.detection.ner.finder import NameFinder
from gateway.errors import Unavailable
from tests.tables import table

CASES = table(__file__)

type Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


class Service:
    """An analyzer on loopback whose answer a test chooses."""

    def __init__(self) -> None:
        self.answer: Answer = lambda asked: (200, b"[]")
        self.asked: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append({"path": self.path, **asked})
                status, body = outer.answer(asked)
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    running = Service()
    yield running
    running.close()


def finding(**changes: object) -> dict[str, object]:
    return {"entity_type": "PERSON", "start": 3, "end": 7, "score": 0.85, **changes}


def test_findings_of_the_service(service: Service) -> None:
    found = [finding(start=9, end=12, entity_type="PROJECT_NAME", score=1), finding(analysis_explanation=None)]
    service.answer = lambda asked: (200, json.dumps(found).encode())
    presidio = PresidioService(service.url + "/", language="de")
    entities = presidio.detect("😀: Anna, Abc")
    assert [(one.type, one.start, one.end, one.score) for one in entities] == [
        ("PERSON", 3, 7, 0.85),
        ("PROJECT_NAME", 9, 12, 1.0),
    ]
    assert service.asked == [{"path": "/analyze", "text": "😀: Anna, Abc", "language": "de"}]
    presidio.close()


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_is_asked_about_nothing(service: Service, text: str) -> None:
    presidio = PresidioService(service.url)
    assert presidio.detect(text) == ()
    assert service.asked == []
    presidio.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"[]"),
        (302, b"[]"),
        (200, b""),
        (200, b"no"),
        (200, b"{}"),
        (200, b'{"error": "canary"}'),
        *((200, json.dumps([finding(**change)]).encode()) for change in (
            {"start": -1}, {"end": 100}, {"start": 7}, {"start": "x"}, {"score": 2}, {"score": None},
            {"entity_type": "person name"}, {"entity_type": ""}, {"end": None},
        )),
    ],
)  # fmt: skip
def test_any_answer_but_a_sound_one_is_a_refusal(service: Service, status: int, body: bytes) -> None:
    service.answer = lambda asked: (status, body)
    presidio = PresidioService(service.url)
    with pytest.raises(Unavailable) as refused:
        presidio.detect("Hi Anna canary")
    assert refused.value.code == "detection_failed"
    assert "canary" not in refused.value.message
    presidio.close()


def test_a_service_that_is_not_there_and_one_that_hangs(service: Service) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{probe.getsockname()[1]}"
    gone = PresidioService(nowhere)
    with pytest.raises(Unavailable) as refused:
        gone.detect("Hi Anna")
    assert refused.value.code == "detection_failed"
    gone.close()
    release = threading.Event()
    service.answer = lambda asked: (200, b"[]") if release.wait(30) else (500, b"")
    slow = PresidioService(service.url, timeout=0.1)
    with pytest.raises(Unavailable) as refused:
        slow.detect("Hi Anna")
    assert refused.value.code == "detection_timeout"
    release.set()
    slow.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model as exporters write it: ours, with its labels under other names."""
    for name in ("model.onnx", "tokenizer.json"):
        shutil.copy(MODEL / name, tmp_path / name)
    labels = json.loads((MODEL / "labels.json").read_text())
    renamed = {"PERSON": "PER", "LOCATION": "LOC", "ORGANIZATION": "ORG", "ID": "TICKET"}
    names = [label if label == "O" else label[:2] + renamed.get(label[2:], label[2:]) for label in labels]
    (tmp_path / "config.json").write_text(json.dumps({"id2label": dict(enumerate(names))}))
    return tmp_path


def test_a_folder_of_ones_own(folder: Path, detector: Detector) -> None:
    model = onnx_folder(folder, detector.types)
    text = "My name is Anna Schmidt and I live in Berlin."
    found = {(one.type, text[one.start : one.end]) for one in NameFinder(model).detect(text)}
    assert ("PERSON", "Anna Schmidt") in found
    assert model.types["TICKET"].group == "custom"
    assert model.types["PERSON"] == detector.types["PERSON"]


@pytest.mark.parametrize(("config", "reason"), CASES["a_folder_that_makes_no_sense"])
def test_a_folder_that_makes_no_sense(folder: Path, detector: Detector, config: str, reason: str) -> None:
    (folder / "config.json").write_text(config)
    with pytest.raises(ValueError, match=reason):
        onnx_folder(folder, detector.types)


def test_without_the_library_that_reads_its_tokenizer_the_package_is_named(
    folder: Path, detector: Detector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ValueError, match=r"^the package `tokenizers` is not installed; add it "):
        onnx_folder(folder, detector.types)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_folder_that_is_not_whole(folder: Path, detector: Detector, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ValueError, match="a file in the folder is missing or unreadable"):
        onnx_folder(folder, detector.types)
