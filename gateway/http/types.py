"""How requests and answers are held in memory."""

# A header field as it was sent: name and value (RFC 9110 section 5).
type Field = tuple[bytes, bytes]
# Host and port of one end of a connection, where they are known.
type Address = tuple[str, int] | None
