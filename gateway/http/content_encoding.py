"""Decodes content codings (RFC 9110 section 8.4.1) with a size limit, against decompression bombs."""

import zlib
from collections.abc import Callable

import brotli
import zstandard

from gateway.errors import BadRequest, TooLarge, UnsupportedMedia

_CHUNK = 64 * 1024
_ZSTD_PIECE = 256


class _Overflow(Exception):
    """The decoded body exceeds the limit."""


def _inflate(body: bytes, limit: int, window: int) -> bytes:
    inflater = zlib.decompressobj(window)
    result = inflater.decompress(body, limit + 1)
    if len(result) > limit:
        raise _Overflow
    if not inflater.eof or inflater.unused_data:
        raise ValueError
    return result


def _gzip(body: bytes, limit: int) -> bytes:
    return _inflate(body, limit, zlib.MAX_WBITS | 16)


def _deflate(body: bytes, limit: int) -> bytes:
    # RFC 9110 specifies the zlib format, but some clients send raw deflate under this name.
    try:
        return _inflate(body, limit, zlib.MAX_WBITS)
    except zlib.error:
        return _inflate(body, limit, -zlib.MAX_WBITS)


def _brotli(body: bytes, limit: int) -> bytes:
    decompressor = brotli.Decompressor()
    result = bytearray(decompressor.process(body, output_buffer_limit=_CHUNK))
    while not decompressor.is_finished():
        if len(result) > limit:
            raise _Overflow
        piece = decompressor.process(b"", output_buffer_limit=_CHUNK)
        if not piece:
            raise ValueError
        result += piece
    if len(result) > limit:
        raise _Overflow
    return bytes(result)


def _zstd(body: bytes, limit: int) -> bytes:
    # The library's stream reader accepts truncated frames. This object detects them but has no size limit, so it gets
    # small pieces: 4 bytes can encode a block of 128 KiB (RFC 8878, section 3.1.1.2).
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 23)
    result = bytearray()
    frame = None
    for start in range(0, len(body), _ZSTD_PIECE):
        piece = body[start : start + _ZSTD_PIECE]
        while piece:
            frame = frame or decompressor.decompressobj()
            result += frame.decompress(piece)
            if len(result) > limit:
                raise _Overflow
            piece = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None or not body:
        raise ValueError
    return bytes(result)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


def decode(body: bytes, coding: str | None, limit: int) -> bytes:
    """Decodes a body to at most `limit` bytes.

    Raises TooLarge, UnsupportedMedia (`unsupported_encoding`) for unknown or multiple codings, and BadRequest
    (`invalid_encoding`) for a body that does not decode.
    """
    name = (coding or "identity").strip().lower()
    if name in {"", "identity"}:
        if len(body) > limit:
            raise too_large(limit)
        return body
    decoder = _DECODERS.get(name)
    if decoder is None:
        message = f"The content coding is not supported; use one of: {', '.join(sorted(_DECODERS))}."
        raise UnsupportedMedia(message, code="unsupported_encoding", param="Content-Encoding")
    try:
        return decoder(body, limit)
    except _Overflow:
        raise too_large(limit) from None
    except (ValueError, EOFError, zlib.error, brotli.error, zstandard.ZstdError):
        message = "The body does not decode with its content coding; make `Content-Encoding` match the body."
        raise BadRequest(message, code="invalid_encoding", param="Content-Encoding") from None


def too_large(limit: int | None = None) -> TooLarge:
    """Builds the error for a body over the limit, if that is known."""
    size = "too large" if limit is None else f"larger than {limit} bytes"
    return TooLarge(f"The body is {size}; send a smaller one.")
