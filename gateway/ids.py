"""Identifiers with a prefix that says what they name: `req_`, `vs_`, `key_`."""

from secrets import token_hex


def new_request_id() -> str:
    """A fresh request id: `req_` and 128 random bits in hex."""
    return "req_" + token_hex(16)
