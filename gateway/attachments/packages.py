"""Opens the ZIP files that office documents are, within limits, and reads the XML in them.

Nothing is taken on trust: not the sizes that the archive states, nor that its entries do not overlap or differ in name.
"""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from xml.etree.ElementTree import Element  # the class only; defusedxml parses  # nosec B405

from gateway.attachments.base import MOST_EXPANDED, MOST_PARTS, Reason, Refused

__all__ = ["Element", "Package", "attribute", "descendants", "local", "prepare", "xml"]

_END = b"PK\x05\x06"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class Package:
    """The parts of a document by name, decompressed. Raises Refused if it is no such archive, or too large."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            # A document of an old version, or one that is encrypted.
            raise Refused(Reason.ENCRYPTED if b"E\0n\0c\0r\0y\0p\0t" in data else Reason.UNKNOWN_KIND)
        end = data.rfind(_END)
        comment = int.from_bytes(data[end + 20 : end + 22], "little")
        if not data.startswith(b"PK\x03\x04") or end < 0 or end + 22 + comment != len(data):
            # Something precedes or follows the archive.
            raise Refused(Reason.MALFORMED)
        self.parts: dict[str, bytes] = {}
        left, below = MOST_EXPANDED, 0
        names = set[str]()
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_PARTS:
                raise Refused(Reason.TOO_LARGE)
            for entry in sorted(entries, key=lambda each: each.header_offset):
                if entry.flag_bits & 0x41:
                    raise Refused(Reason.ENCRYPTED)
                if entry.header_offset < below or entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise Refused(Reason.MALFORMED)
                below = entry.header_offset + 30 + entry.compress_size
                if entry.is_dir():
                    continue
                with archive.open(entry) as part:
                    content = part.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise Refused(Reason.TOO_LARGE)
                if entry.filename.lower() in names:
                    raise Refused(Reason.MALFORMED)
                names.add(entry.filename.lower())
                self.parts[entry.filename] = content

    def xml(self, name: str) -> Element:
        """Returns the root of a part. Raises Refused for one that is missing."""
        if name not in self.parts:
            raise Refused(Reason.MALFORMED)
        return xml(self.parts[name])


def prepare() -> None:
    """Loads what reads XML."""
    xml(b"<a/>")


def xml(data: bytes) -> Element:
    """Parses XML without a document type, so without entities. Raises Refused."""
    from defusedxml.ElementTree import fromstring  # noqa: PLC0415 - a package of the extra

    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except ValueError:
        # A document type, an entity or a reference to something outside.
        raise Refused(Reason.ACTIVE) from None
    except SyntaxError:
        raise Refused(Reason.MALFORMED) from None
    return root


def local(name: str) -> str:
    """Returns the name of an element or attribute without its namespace."""
    return name.rpartition("}")[2]


def attribute(element: Element, name: str) -> str | None:
    """Returns an attribute, whatever its namespace."""
    return next((value for key, value in element.attrib.items() if local(key) == name), None)


def descendants(element: Element, *names: str) -> Iterator[Element]:
    """Yields the elements inside with one of these local names, in order."""
    return (each for each in element.iter() if isinstance(each.tag, str) and local(each.tag) in names)
