"""The browser's reader of names finds what the gateway's student finds."""

import sys
from array import array
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gateway.api.playground.browser.names import StudentReader, in_javascript, with_names
from gateway.detection import builtin_detector
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.builtin_decoder import MODEL
from gateway.detection.ner.engine import Window
from gateway.detection.ner.inference import Student
from gateway.detection.ner.unit_features import FEATURES

TEXTS = [
    "",
    "\n",
    "Dear Ms Hartung, please ask Wiebke Hartung about „Jörg Fuchsberger“ in Rome.",
    "- Wiebke Hartung: a\n- Jörg Fuchsberger: b\n- Odalys Fuentes: c\n",
    "Born 12/05/1980, lives at 12 Elm Rd, Springfield; works for Siemens AG. Ask odalys_fuentes.",
    "Die Kollegin Wiebke vertritt Sören. Анна и Κώστας. 王明在北京。",
]


class StudentAlone(BuiltinModel):
    """The student alone."""

    def _second_readings(self, texts: Sequence[str], *_: Any) -> list[list[Window]]:
        return [[] for _ in texts]


@pytest.fixture(scope="module")
def student() -> Student:
    return Student((MODEL / "student.onnx").read_bytes())


def test_it_finds_what_the_student_finds(student: Student) -> None:
    def chances(rows: array[int]) -> Sequence[float]:
        found = student._session.run({"rows": np.array(rows, np.int32).reshape(-1, FEATURES)})
        return [*map(float, found.ravel())]

    types = builtin_detector().types
    reader = StudentReader(types, chances)
    wanted = StudentAlone(types).read(TEXTS)
    assert reader.read(TEXTS) == wanted
    assert sum(map(len, wanted)) >= 10
    assert reader.types == StudentAlone(types).types


def test_javascript_gets_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Given:
        def to_py(self) -> memoryview:
            return memoryview(array("f", [0.5]))

    engine = ModuleType("svc_student")
    seen: list[array[int]] = []
    vars(engine)["chances"] = lambda rows: seen.append(rows) or Given()
    monkeypatch.setitem(sys.modules, "svc_student", engine)
    assert in_javascript(array("i", [3])) == [0.5]
    assert seen == [array("i", [3])]


def test_long_texts_need_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(rows: array[int]) -> Sequence[float]:
        return [1.0 if at % 19 == 0 else 0.0 for at in range(len(rows) // FEATURES * 19)]

    engines = with_names(builtin_detector(), nothing)
    monkeypatch.setattr(engines._threads, "submit", lambda *_: pytest.fail("a browser has no threads"))
    assert [one.type for one in engines.detect("x " * 5000 + "anna@acme.test")] == ["EMAIL_ADDRESS"]
