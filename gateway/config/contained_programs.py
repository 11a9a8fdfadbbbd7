"""How the listeners tell programs that `exec --contain` runs from others: by the address that they come from."""

CONTAINED_ADDRESS = "127.67.79.78"
"""A loopback address of every Linux machine. No contained program makes connections of its own: the process that passes
them on, outside, binds all of them to this address. To use it without need only forgoes other hosts."""

CONTAINED_CODE = "contained_program"
"""The error of what contained programs may not reach."""
