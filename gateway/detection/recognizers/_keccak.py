"""Keccak-256 as used by Ethereum, with the padding of the original submission. hashlib implements FIPS 202 only."""

_MASK = (1 << 64) - 1
_RATE = 136
_LANES = tuple((x, y) for x in range(5) for y in range(5))


def _round_constants() -> tuple[int, ...]:
    """Computes the round constants with the specification's linear feedback shift register (section 1.2)."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            if register & 1:
                constant |= 1 << ((1 << bit) - 1)
            register <<= 1
            if register & 0x100:
                register ^= 0x171
        constants.append(constant)
    return tuple(constants)


def _rotations() -> dict[tuple[int, int], int]:
    """Returns the rotation of each lane, in the order of traversal."""
    offsets, x, y = {(0, 0): 0}, 1, 0
    for step in range(24):
        offsets[x, y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return offsets


_CONSTANTS, _ROTATIONS = _round_constants(), _rotations()


def _rotate(lane: int, by: int) -> int:
    return (lane << by | lane >> (64 - by)) & _MASK


def keccak256(message: bytes) -> bytes:
    """Returns the digest of a message shorter than 136 bytes. Addresses need only this one block."""
    if len(message) >= _RATE:
        raise ValueError("keccak256 takes one block only.")
    block = bytearray(message.ljust(_RATE, b"\0"))
    block[len(message)] ^= 0x01
    block[-1] ^= 0x80
    lanes = dict.fromkeys(_LANES, 0)
    for at in range(_RATE // 8):
        lanes[at % 5, at // 5] = int.from_bytes(block[8 * at : 8 * at + 8], "little")
    for constant in _CONSTANTS:
        columns = [lanes[x, 0] ^ lanes[x, 1] ^ lanes[x, 2] ^ lanes[x, 3] ^ lanes[x, 4] for x in range(5)]
        mixed = [columns[x - 1] ^ _rotate(columns[(x + 1) % 5], 1) for x in range(5)]
        moved = {(y, (2 * x + 3 * y) % 5): _rotate(lanes[x, y] ^ mixed[x], _ROTATIONS[x, y]) for x, y in _LANES}
        lanes = {(x, y): moved[x, y] ^ (~moved[(x + 1) % 5, y] & moved[(x + 2) % 5, y]) for x, y in _LANES}
        lanes[0, 0] ^= constant
    return b"".join(lanes[at, 0].to_bytes(8, "little") for at in range(4))
