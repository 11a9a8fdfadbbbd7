"""Content codings: undone exactly, within the bound, or refused."""

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from gateway.errors import BadRequest, TooLarge, UnsupportedMedia
from gateway.http.content_encoding import decode


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def streamed_zstd(data: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(data) + packer.flush()


CODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "zstd without a length": ("zstd", streamed_zstd),
}
BODY = "Grüße an Anna. ".encode() * 9000


@pytest.mark.parametrize("name", CODERS)
@pytest.mark.parametrize("body", [b"x", BODY], ids=["short", "long"])
def test_the_bound_is_exact(name: str, body: bytes) -> None:
    coding, pack = CODERS[name]
    packed = pack(body)
    assert decode(packed, coding, len(body)) == body
    assert decode(packed, f" {coding.upper()} ", len(body) + 1) == body
    with pytest.raises(TooLarge):
        decode(packed, coding, len(body) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", CODERS)
def test_a_bomb_is_given_up_at_the_bound(name: str) -> None:
    coding, pack = CODERS[name]
    with pytest.raises(TooLarge) as refusal:
        decode(pack(b"\0" * 30_000_000), coding, 10_000)
    assert "10000" in refusal.value.message


@pytest.mark.parametrize("name", CODERS)
def test_a_body_that_is_cut_not_packed_or_followed_by_more_is_refused(name: str) -> None:
    coding, pack = CODERS[name]
    for broken in (b"canary-4711", pack(BODY)[:-6], pack(BODY) + b"canary"):
        with pytest.raises(BadRequest) as refusal:
            decode(broken, coding, 1 << 20)
        assert refusal.value.code == "invalid_encoding"
        assert "canary" not in refusal.value.message


def test_frames_of_zstd_that_follow_each_other_are_one_body() -> None:
    assert decode(zstandard.compress(b"one ") + streamed_zstd(b"two"), "zstd", 7) == b"one two"


@pytest.mark.parametrize("coding", [None, "", "identity", " Identity "])
def test_no_coding_leaves_the_body_as_it_is(coding: str | None) -> None:
    assert decode(BODY, coding, len(BODY)) is BODY
    with pytest.raises(TooLarge):
        decode(BODY, coding, len(BODY) - 1)


@pytest.mark.parametrize("coding", ["lzw", "gzip, gzip", "gzip,br", "gzip;q=1", "*"])
def test_an_unknown_or_second_coding_is_refused(coding: str) -> None:
    with pytest.raises(UnsupportedMedia) as refusal:
        decode(BODY, coding, 1 << 20)
    assert (refusal.value.code, refusal.value.param) == ("unsupported_encoding", "Content-Encoding")
