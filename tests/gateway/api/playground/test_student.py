"""The student in JavaScript gives the chances that onnxruntime gives. Needs node."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gateway.api.playground import site
from gateway.detection.ner.builtin_decoder import MODEL
from gateway.detection.ner.inference import Student
from gateway.detection.ner.unit_features import FEATURES, ROWS
from gateway.detection.ner.units import UnitReader

NODE = shutil.which("node")
SCRIPT = """
import { readFileSync } from "node:fs";
const [code, model] = process.argv.slice(1);
const { loadStudent } = await import(`data:text/javascript;base64,${readFileSync(code, "base64")}`);
const { chances, labels } = loadStudent(new Uint8Array(readFileSync(model)).buffer);
const texts = JSON.parse(readFileSync(0, "utf8"));
const all = texts.map((rows) => chances({ getBuffer: () => ({ data: Int32Array.from(rows), release() {} }) }));
console.log(JSON.stringify({ labels, chances: all.map((each) => Array.from(each)) }));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_it_computes_as_onnxruntime_does() -> None:
    reader = UnitReader(MODEL / "ordinary.txt", MODEL / "given.txt")
    texts = ["Anna", "Ask Wiebke Hartung (Jörg's boss), 12 Elm Rd, Rome.\n\n王明 " * 9, "Sehr geehrte Frau Okafor\n"]
    rows = [each.rows for each in reader.read_all(texts)]
    rows.append(np.random.default_rng(7).integers(0, ROWS, (300, FEATURES), np.int32))
    student = Path(site.__file__).parent / "page" / "student.js"
    command = [str(NODE), "--input-type=module", "-e", SCRIPT, str(student), str(MODEL / "student.onnx")]
    given = json.dumps([each.ravel().tolist() for each in rows])
    said = json.loads(subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout)
    model = Student((MODEL / "student.onnx").read_bytes())
    for each, found in zip(rows, said["chances"], strict=True):
        wanted = model._session.run({"rows": each})
        assert wanted.shape == (len(each), said["labels"])
        np.testing.assert_allclose(np.reshape(found, wanted.shape), wanted, rtol=0, atol=1e-5)
