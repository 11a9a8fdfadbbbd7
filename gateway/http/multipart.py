"""Reads and writes forms with files (`multipart/form-data`, RFC 7578).

What is sent is always written anew, so that no part leaves which another reader finds and this one does not.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from gateway.errors import BadRequest, UnsupportedMedia

_KIND = re.compile(r"""multipart/form-data;\s*boundary=("?)([A-Za-z0-9'()+_,./:=?-]{1,70})\1\s*\Z""", re.IGNORECASE)
_DISPOSITION = re.compile(
    rb'content-disposition:[ \t]*form-data;[ \t]*name="([^"\r\n]{1,128})"(?:;[ \t]*filename="([^"\r\n]{0,255})")?'
    rb"(?:;[ \t]*filename\*=(?:utf-8'[\w-]{0,35}'([\w.!#$&+^`|~%-]{0,1024})|([^;\r\n]{0,1024})))?[ \t]*",
    re.IGNORECASE,
)
_MOST_PARTS, _LONGEST_HEAD = 32, 4096


class Part(NamedTuple):
    """A field of a form, or a file. What else its head says is not kept."""

    name: str
    content: bytes
    filename: str | None = None


def parse_form(content: bytes, kind: str | None) -> list[Part]:
    """Returns the parts of a form. Raises UnsupportedMedia for another Content-Type, and BadRequest."""
    declared = _KIND.match(kind or "")
    if declared is None:
        raise UnsupportedMedia("Send the file as `multipart/form-data` with a `boundary`.", param="Content-Type")
    mark = b"\r\n--" + declared[2].encode()
    parts: list[Part] = []
    # The first boundary has no line break before it.
    end = -2 if content.startswith(mark[2:]) else len(content)
    while content[end + len(mark) : end + len(mark) + 2] == b"\r\n" and len(parts) < _MOST_PARTS:
        start = end + len(mark) + 2
        head, end = content.find(b"\r\n\r\n", start, start + _LONGEST_HEAD), content.find(mark, start - 2)
        if not start <= head < end:
            raise _malformed()
        parts.append(_part(content[start:head], content[head + 4 : end]))
    if content[end + len(mark) :].rstrip(b"\r\n") != b"--" or end < 0:
        raise _malformed()
    if len({part.name for part in parts}) < len(parts):
        raise BadRequest("A field of the form is repeated; send it once.")
    return parts


def _part(head: bytes, content: bytes) -> Part:
    found = [match for line in head.split(b"\r\n") if (match := _DISPOSITION.fullmatch(line)) is not None]
    if len(found) != 1:
        raise _malformed()
    try:
        name, filename, encoded, other = found[0].groups()
        if other is not None:
            message = "`filename*` of a file in the form must be `UTF-8''` and a percent-encoded name (RFC 8187)."
            raise BadRequest(f"{message} Use `filename` instead.", param="file")
        if encoded is not None:
            # It counts before `filename` (RFC 6266, section 4.3).
            filename = unquote_to_bytes(encoded)
        return Part(name.decode(), content, None if filename is None else filename.decode())
    except UnicodeDecodeError:
        raise _malformed() from None


def _malformed() -> BadRequest:
    return BadRequest("The form cannot be read as `multipart/form-data` (RFC 7578), and nothing was sent.")


def write_form(parts: Iterable[Part]) -> tuple[bytes, bytes]:
    """Returns a form with these parts, and its Content-Type."""
    given = [*parts]
    digest = sha256()
    for part in given:
        digest.update(part.content)
    boundary = b"svc-" + digest.hexdigest()[:40].encode()
    pieces: list[bytes] = []
    for part in given:
        name, filename = _quoted(part.name), part.filename
        file = b"" if filename is None else b'; filename="%s"\r\nContent-Type: application/jsonl' % _quoted(filename)
        pieces += b'--%s\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n' % (boundary, name, file), part.content
        pieces.append(b"\r\n")
    return b"".join([*pieces, b"--%s--\r\n" % boundary]), b"multipart/form-data; boundary=" + boundary


def _quoted(text: str) -> bytes:
    """Returns a name between quotation marks as browsers write it (HTML, section 4.10.22.8)."""
    for char, code in (("\r", "%0D"), ("\n", "%0A"), ('"', "%22")):
        text = text.replace(char, code)
    return text.encode("utf-8", "replace")
