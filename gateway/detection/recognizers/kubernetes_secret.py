"""What a Kubernetes manifest of kind Secret holds: each value under `data` and `stringData`, whatever its name."""

import base64
import binascii
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers._secret_values import is_stand_in
from gateway.detection.recognizers.assigned_secret import SECRET

_KIND = compile_pattern(r"(?im)^[ \t]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?secret[\"']?[ \t]*,?\r?$")
_BLOCK = compile_pattern(
    r"(?m)^([ \t]*)[\"']?(?:data|stringData)[\"']?[ \t]*:[ \t]*\{?[ \t]*\r?\n"
    r"((?:[ \t]+\S[^\n]*(?:\n|$)|[ \t]*\r?\n)+)"
)
_ENTRY = compile_pattern(
    r"(?m)^[ \t]+([\w.\-/\"']{1,128}[ \t]*:[ \t]*(?:[|>][+\-]?[ \t]*\r?\n[ \t]+)?[\"']?([^\s\"',#{]{8,})[\"']?)"
)
_DOCUMENT_END = compile_pattern(r"(?m)^---")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    first = 0
    for last in (*(match.start() for match in _DOCUMENT_END.finditer(data)), len(data)):
        if _KIND.search(data, first, last):
            for block in _BLOCK.finditer(data[first:last]):
                yield from _entries(normalized, first + block.start(2), block[1], block[2])
        first = last


def _entries(normalized: NormalizedText, offset: int, indent: bytes, block: bytes) -> Iterator[Match]:
    """Whole entries, name and value, down to where the indentation ends."""
    for match in _ENTRY.finditer(block):
        line = block[match.start() : match.start(1)]
        if len(line.strip(b"\n")) <= len(indent):
            return
        value = match[2].decode("utf-8", "replace")
        if not is_stand_in(value) and _holds_something(value):
            yield Match(offset + match.start(1), offset + match.end(1), 0.85, SECRET.name)


def _holds_something(value: str) -> bool:
    """Base64 of more than a word, or plain text of `stringData`."""
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return True
    return len(decoded) >= 6 and not is_stand_in(decoded.decode("utf-8", "replace"))


_b64 = base64.b64encode(sample(18, BASE62).encode()).decode()
_manifest = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  extra: "

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.kubernetes",
        (SECRET,),
        (r"(?im)^[ \t]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?secret[\"']?[ \t]*,?\r?$",),
        _find,
        examples=(
            Example(f"{_manifest}{_b64}\n", f"extra: {_b64}"),
            Example(f"data:\n  x: '{_b64}'\nkind: Secret\n", f"x: '{_b64}'"),
        ),
        counter_examples=(
            f'{_manifest}""\n',
            f"{_manifest}{{{{ .Values.extra }}}}\n",
            "kind: ConfigMap\ndata:\n  extra: abcdefgh\n",
            "kind: ExternalSecret\nspec:\n  data:\n    - secretKey: api-key\n",
        ),
    ),
)
