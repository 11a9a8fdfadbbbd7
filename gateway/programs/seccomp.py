"""Filters of system calls (seccomp): for reports on connections, and for what contained programs may not call.

A filter is a program for the kernel's classic BPF. It sees the numbers that a call gets, and not what they point to.
"""

import ctypes
import errno
import fcntl
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gateway.programs.kernel import IO_URING_SETUP, Numbers, forbid_new_privileges, numbers, system_call

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _NOTIFY, _ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000
_NUMBER_AT, _MACHINE_AT, _WORDS_AT = 0, 4, 16
_X32 = 0x40000000
_SET_FILTER, _WITH_LISTENER = 1, 8
_RECEIVE, _SEND, _SET_FLAGS, _CONTINUE, _WAKE_HERE = 0xC0502100, 0xC0182101, 0x40082104, 1, 1
_TERMINAL_INPUTS = (0x5412, 0x541C)
# Unix, IPv4, IPv6 and netlink sockets. Others, such as those of virtual machines, know no namespace.
_FAMILIES = (1, 2, 10, 16)

type _Instruction = tuple[int, int, int, int]


class Call(NamedTuple):
    """A system call that waits for an answer. `thread` made it with these `words`."""

    id: int
    thread: int
    number: int
    words: tuple[int, ...]


def watch() -> int:
    """Has the kernel ask before this process, and all that it starts, connects. Returns the descriptor of the listener.

    Without privileges, gives up new ones. Raises OSError if the system does not permit it.
    """
    known = _known()
    rules = [
        _rule(known.connect, [_give(_NOTIFY)]),
        _rule(known.sendto, _unless_null(4, _NOTIFY)),
        # Their address is in what they point to.
        *(_rule(number, [_give(_NOTIFY)]) for number in (known.sendmsg, known.sendmmsg)),
        _WITHOUT_IO_URING,
    ]
    code = list(_program(known, _ALLOW, rules))
    try:
        return _install(code, _WITH_LISTENER)
    except PermissionError:
        forbid_new_privileges()
        return _install(code, _WITH_LISTENER)


def restrict() -> None:
    """Forbids this process, and all that it starts, the calls that lead out of namespaces. Raises OSError."""
    known = _known()
    denied, unknown = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    rules = [
        _rule(known.socket, _unless_among(0, _FAMILIES, _ERRNO | errno.EAFNOSUPPORT)),
        # Would type into the terminal, for the shell that reads it next.
        _rule(known.ioctl, _if_among(1, _TERMINAL_INPUTS, denied)),
        _WITHOUT_IO_URING,
        *(_rule(number, [_give(denied)]) for number in (known.add_key, known.request_key, known.keyctl)),
    ]
    forbid_new_privileges()
    _install(list(_program(known, unknown, rules)), 0)


def allow_only(permitted: Iterable[int], error: int) -> None:
    """Has all system calls but the permitted ones fail with an error, in this thread. Raises OSError."""
    known, verdict = _known(), _ERRNO | error
    rules = [_rule(number, [_give(_ALLOW)]) for number in permitted]
    _install(list(_program(known, verdict, rules, otherwise=verdict)), 0)


def wake_quickly(listener: int) -> None:
    """Has the kernel run both sides of a call on the same processor, where it can (Linux 6.6)."""
    try:
        fcntl.ioctl(listener, _SET_FLAGS, struct.pack("=Q", _WAKE_HERE))
    except OSError:
        return


def next_call(listener: int) -> Call | None:
    """Returns the next call that waits; None if it has been given up. Raises OSError."""
    found = bytearray(80)
    try:
        fcntl.ioctl(listener, _RECEIVE, found)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):
            return None
        raise
    id_, thread, _, number, _, _, *words = struct.unpack("=QIIiIQ6Q", found)
    return Call(id_, thread, number, tuple(words))


def let_pass(listener: int, call: Call) -> None:
    """Has the kernel carry a call out."""
    try:
        fcntl.ioctl(listener, _SEND, bytearray(struct.pack("=QqiI", call.id, 0, 0, _CONTINUE)))
    except OSError as error:
        # Its process has ended.
        if error.errno != errno.ENOENT:
            raise


def _known() -> Numbers:
    known = numbers()
    if known is None:
        raise OSError(errno.ENOSYS, "the processor is neither x86_64 nor aarch64")
    return known


def _install(code: Sequence[_Instruction], flags: int) -> int:
    packed = b"".join(struct.pack("=HBBI", *each) for each in code)
    held = ctypes.create_string_buffer(packed, len(packed))
    header = struct.pack("@HP", len(code), ctypes.addressof(held))
    return system_call(_known().seccomp, _SET_FILTER, flags, header)


def _program(
    known: Numbers, foreign: int, rules: Iterable[Sequence[_Instruction]], *, otherwise: int = _ALLOW
) -> Iterator[_Instruction]:
    """Yields a filter that applies the rules in turn, and gives `foreign` for the calls of another processor.

    Calls without a rule get `otherwise`.
    """
    yield from ((_LOAD, 0, 0, _MACHINE_AT), (_EQUAL, 1, 0, known.machine), _give(foreign))
    yield from ((_LOAD, 0, 0, _NUMBER_AT), (_AT_LEAST, 0, 1, _X32), _give(foreign))
    for rule in rules:
        yield from rule
    yield _give(otherwise)


def _rule(number: int, then: Sequence[_Instruction]) -> list[_Instruction]:
    return [(_LOAD, 0, 0, _NUMBER_AT), (_EQUAL, 0, len(then), number), *then]


def _unless_null(word: int, verdict: int) -> list[_Instruction]:
    low = _WORDS_AT + 8 * word
    return [
        (_LOAD, 0, 0, low),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, low + 4),
        (_EQUAL, 0, 1, 0),
        _give(_ALLOW),
        _give(verdict),
    ]


def _if_among(word: int, values: Sequence[int], verdict: int) -> list[_Instruction]:
    tests = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [(_LOAD, 0, 0, _WORDS_AT + 8 * word), *tests, _give(_ALLOW), _give(verdict)]


def _unless_among(word: int, values: Sequence[int], verdict: int) -> list[_Instruction]:
    tests = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [(_LOAD, 0, 0, _WORDS_AT + 8 * word), *tests, _give(verdict), _give(_ALLOW)]


def _give(verdict: int) -> _Instruction:
    return (_RETURN, 0, 0, verdict)


# No filter sees connections of io_uring. As on older systems, programs find it missing and do without.
_WITHOUT_IO_URING = _rule(IO_URING_SETUP, [_give(_ERRNO | errno.ENOSYS)])
