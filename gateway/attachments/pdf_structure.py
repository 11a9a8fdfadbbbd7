"""Looks through the objects of a PDF file for what cannot be converted to text, and for the texts of its annotations.

pdfium draws what it understands of a file and is silent about the rest; this is the second reading, with pypdf.
"""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from gateway.attachments.base import Reason, Refused

_MOST_OBJECTS = 200_000
_ACTIVE = frozenset(
    {"/JavaScript", "/Launch", "/ImportData", "/SubmitForm", "/Rendition", "/Movie", "/Sound", "/GoTo3DView"}
)
_EMBEDDED = frozenset(
    {"/FileAttachment", "/RichMedia", "/Screen", "/Movie", "/Sound", "/3D", "/EmbeddedFile", "/Filespec"}
)
_KEYS = {
    "/JS": Reason.ACTIVE,
    "/XFA": Reason.ACTIVE,
    "/EF": Reason.EMBEDDED,
    "/EmbeddedFiles": Reason.EMBEDDED,
    "/Collection": Reason.EMBEDDED,
    "/RichMediaContent": Reason.EMBEDDED,
}
_TRAILING = b"\x00\t\n\f\r "


def open_structure(data: bytes) -> Any:
    """Returns pypdf's reader of a file. Raises Refused if it is encrypted or has parts that cannot be converted."""
    import pypdf  # noqa: PLC0415 - a package of the extra

    if not data.startswith(b"%PDF-") or data.rstrip(_TRAILING)[-5:] != b"%%EOF":
        # Something precedes or follows the document.
        raise Refused(Reason.MALFORMED)
    reader = pypdf.PdfReader(BytesIO(data), strict=False)
    if reader.is_encrypted:
        raise Refused(Reason.ENCRYPTED)
    for each in _dictionaries(reader.trailer):
        _check(each)
    for page in reader.pages:
        # A content that it cannot decompress is silently empty in pdfium.
        if (content := page.get_contents()) is not None:
            content.get_data()
    return reader


def beside_text(page: Any) -> Iterator[str]:
    """Yields the texts of a page's annotations and fields, and the addresses of its links."""
    for reference in page.get("/Annots") or ():
        annotation = reference.get_object()
        subtype = annotation.get("/Subtype")
        if subtype == "/Popup":
            continue
        action = annotation.get("/A")
        if action is not None and (address := action.get_object().get("/URI")) is not None:
            yield f"({_text(address)})"
        for name in ("/Contents", "/RC", "/V", "/T" if subtype != "/Widget" else "/TU"):
            value = annotation.get(name)
            if value is None and subtype == "/Widget" and name == "/V":
                parent = annotation.get("/Parent")
                value = parent.get_object().get("/V") if parent is not None else None
            if value is not None and (text := _text(value)):
                yield text


def _text(value: Any) -> str:
    held = value.get_object() if hasattr(value, "get_object") else value
    if isinstance(held, list):
        return ", ".join(map(_text, held))
    if isinstance(held, bytes):
        return held.decode("utf-8", "replace").strip()
    if hasattr(held, "get_data"):
        return str(held.get_data().decode("utf-8", "replace")).strip()
    return str(held).strip()


def _dictionaries(root: Any) -> Iterator[Any]:
    """Yields all dictionaries that can be reached, each once."""
    from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject  # noqa: PLC0415 - a package of the extra

    seen = set[tuple[int, int]]()
    count = 0
    waiting: list[Any] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, IndirectObject):
            name = (value.idnum, value.generation)
            if name in seen:
                continue
            seen.add(name)
            value = value.get_object()
        count += 1
        if count > _MOST_OBJECTS:
            raise Refused(Reason.TOO_LARGE)
        if isinstance(value, DictionaryObject):
            yield value
            waiting += [value.raw_get(key) for key in value]
        elif isinstance(value, ArrayObject):
            waiting += list.__iter__(value)


def _check(value: Any) -> None:
    """Raises Refused for an object that cannot be converted to text."""
    for key, reason in _KEYS.items():
        if key in value:
            raise Refused(reason)
    if _name(value, "/S") in _ACTIVE:
        raise Refused(Reason.ACTIVE)
    subtype = _name(value, "/Subtype")
    if subtype in _EMBEDDED or _name(value, "/Type") in _EMBEDDED:
        raise Refused(Reason.EMBEDDED)
    if subtype == "/Image" and "/Width" in value:
        raise Refused(Reason.IMAGE)
    if subtype == "/Form" and hasattr(value, "get_data"):
        value.get_data()
    if value.get("/PatternType") == 1 and "/Font" in (value.get("/Resources") or {}):
        raise Refused(Reason.UNKNOWN_PART)


def _name(value: Any, key: str) -> str:
    held = value.get(key)
    return held if isinstance(held, str) else ""
