"""Defines the types of header fields and addresses."""

# Name and raw value of a header field (RFC 9110 section 5).
type Field = tuple[bytes, bytes]
# Host and port of one end of a connection, if known.
type Address = tuple[str, int] | None
