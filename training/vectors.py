"""Writes the test vectors of the name model: ``python -m training.vectors``."""

import json
from pathlib import Path

from training.encode import tokenizer
from training.features import token_types
from training.heldout import documents

FOLDER = Path(__file__).parent.parent / "tests" / "vectors" / "names"
TEXTS = (
    "Dear Mr. John O'Neill,\nplease call MARIA van der Berg-Meyer at 5 pm.",
    "naïve Zürich Đặng Văn Hùng, Łódź, İstanbul, STRASSE straße",
    "iPhone McDonald eBay A B. C3PO x1",
    "name,city\nAna,Porto\n\n\tTab  and   spaces ",
    "日本 Иван Петров 😀 end",
    "",
)


def main() -> None:
    """Token types of a few texts, and the documents with unseen templates and names."""
    encoder = tokenizer()
    with (FOLDER / "token_types.jsonl").open("w", encoding="utf-8") as out:
        for text in TEXTS:
            encoding = encoder.encode(text, add_special_tokens=False)
            row = {"text": text, "offsets": encoding.offsets, "token_types": token_types(text, encoding.offsets)}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    with (FOLDER / "unseen_documents.jsonl").open("w", encoding="utf-8") as out:
        for number, (culture, kind, dress, document) in enumerate(documents(7, 20)):
            spans = [{"start": a, "end": b, "label": name} for a, b, name in document.spans]
            row = {"id": f"unseen-{number:03d}", "culture": culture, "kind": kind, "dress": dress}
            out.write(json.dumps(row | {"text": document.text, "spans": spans}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
