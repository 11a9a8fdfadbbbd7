"""Reads a file of a kind as its process does."""

from gateway.attachments.base import File
from gateway.attachments.registry import convert


def read(data: bytes, name: str) -> str:
    return convert(File(data, name=name)).text
