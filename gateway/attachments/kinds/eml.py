"""Messages of electronic mail (RFC 5322, MIME), with the files that are in them."""

import email
import email.policy
from collections.abc import Iterator
from email.message import Message, MIMEPart

from gateway.attachments.base import File, Kind, Reason, Refused, Section
from gateway.attachments.decoding import decoded
from gateway.attachments.hypertext import text_of

_HEADERS = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date", "Subject")
_ENCRYPTED = frozenset(
    {"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime", "application/pgp-encrypted"}
)
_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
_WHOLE = frozenset({"message/rfc822"})
_MOST_PARTS = 200


class _Eml(Kind):
    id = "eml"
    title = "e-mail"
    media_types = frozenset({"message/rfc822"})
    endings = frozenset({"eml"})

    def prepare(self) -> None:
        # Loads what the library loads only when it reads.
        sample = b"From: a <a@b.example>\r\nTo: b\r\nDate: Mon, 1 Jan 2024 00:00:00 +0000\r\nSubject: =?utf-8?q?a?=\r\n"
        kind = b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na"
        self.read(File(sample + kind))

    def read(self, file: File) -> list[Section]:
        message = email.message_from_bytes(file.data, policy=email.policy.default)
        if not any(name in message for name in ("From", "To", "Subject", "Date")):
            raise Refused(Reason.MALFORMED)
        heads = [f"{name}: {value}" for name in _HEADERS for value in message.get_all(name, ())]
        parts = [*message.walk()]
        if len(parts) > _MOST_PARTS:
            raise Refused(Reason.TOO_LARGE)
        if any(part.defects for part in parts):
            raise Refused(Reason.MALFORMED)
        return [Section("", "\n".join(heads) + "\n\n" + "\n\n".join(_texts(message, file.depth)))]


def _texts(part: MIMEPart, depth: int) -> Iterator[str]:
    kind = part.get_content_type()
    if kind in _ENCRYPTED:
        raise Refused(Reason.ENCRYPTED)
    if kind in _SIGNATURES:
        return
    if kind in _WHOLE or part.get_filename() or part.get_content_disposition() == "attachment":
        yield _attached(part, depth)
    elif kind == "multipart/alternative":
        yield from _alternatives(part, depth)
    elif part.is_multipart():
        for each in part.iter_parts():
            yield from _texts(each, depth)
    elif kind == "text/html":
        yield text_of(_text(part))
    elif part.get_content_maintype() == "text":
        yield _text(part)
    elif part.get_content_maintype() == "image":
        raise Refused(Reason.IMAGE)
    else:
        raise Refused(Reason.UNKNOWN_PART)


def _alternatives(part: MIMEPart, depth: int) -> Iterator[str]:
    """Yields the alternatives that say something which the last one, the richest, does not."""
    given = ["\n\n".join(_texts(each, depth)) for each in part.iter_parts()]
    richest = _words(given[-1]) if given else set()
    yield from (text for text in given[:-1] if not _words(text) <= richest)
    yield from given[-1:]


def _words(text: str) -> set[str]:
    return {"".join(letter for letter in word if letter.isalnum()) for word in text.split()} - {""}


def _text(part: MIMEPart) -> str:
    return decoded(_bytes(part), part.get_content_charset() or "ascii")


def _attached(part: MIMEPart, depth: int) -> str:
    """Returns the text of a file that the message has with it. Raises Refused if it cannot be converted."""
    from gateway.attachments.registry import convert  # noqa: PLC0415 - which finds this module

    name = part.get_filename() or ""
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        first = inner[0] if isinstance(inner, list) and inner else None
        data = first.as_bytes() if isinstance(first, Message) else b""
    else:
        data = _bytes(part)
    charset = part.get_content_charset()
    declared = part.get_content_type() + (f"; charset={charset}" if charset else "")
    converted = convert(File(data, declared, name, depth + 1))
    begin, end = f"--- Attached: {name or 'file'} ({converted.title}) ---", f"--- End of {name or 'file'} ---"
    return f"{begin}\n\n{converted.text.strip()}\n\n{end}"


def _bytes(part: MIMEPart) -> bytes:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        raise Refused(Reason.MALFORMED)
    return data


KIND = _Eml()
