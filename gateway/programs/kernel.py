"""Calls of the Linux kernel that Python does not offer. Each raises OSError."""

import ctypes
import os
import platform
from typing import NamedTuple

_SET_PDEATHSIG, _SET_DUMPABLE, _CAPBSET_DROP, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
_LAST_CAPABILITY = 63
_MOUNT_SETATTR, _PIDFD_GETFD = 442, 438
_AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = -100, 0x8000, 1


class Numbers(NamedTuple):
    """Numbers of system calls that differ between processors, and the processor's own number."""

    machine: int
    seccomp: int
    socket: int
    connect: int
    sendto: int
    sendmsg: int
    sendmmsg: int
    ioctl: int
    add_key: int
    request_key: int
    keyctl: int


IO_URING_SETUP = 425
_PROCESSORS = {
    "x86_64": Numbers(0xC000003E, 317, 41, 42, 44, 46, 307, 16, 248, 249, 250),
    "aarch64": Numbers(0xC00000B7, 277, 198, 203, 206, 211, 269, 29, 217, 218, 219),
}


def numbers() -> Numbers | None:
    """Returns the numbers of this processor; None if they are not known here."""
    return _PROCESSORS.get(platform.machine())


def system_call(number: int, *words: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Makes a system call with integers, or pointers to bytes."""
    given = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    return _checked(_libc().syscall(ctypes.c_long(number), *given))


def end_with_parent(number: int) -> None:
    """Has the kernel send this process a signal when the parent ends."""
    _control(_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own parent ends."""
    _control(_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Lets no program that this process becomes have more rights than it has now, as `sudo` would."""
    _control(_SET_NO_NEW_PRIVS, 1)


def hide_from_equals() -> None:
    """Keeps other processes of the user from reading or changing this one."""
    _control(_SET_DUMPABLE, 0)


def give_up_capabilities() -> None:
    """Has programs that this process becomes run without capabilities, root's too."""
    for number in range(_LAST_CAPABILITY + 1):
        if _libc().prctl(_CAPBSET_DROP, number, 0, 0, 0) != 0:
            break


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mounts a file system, or a file or folder at another place."""
    words = [word.encode("utf-8", "surrogateescape") if word else None for word in (source, target, kind)]
    _named(_libc().mount(*words, ctypes.c_ulong(flags), data.encode() or None), target)


def set_read_only(path: str, *, read_only: bool, below: bool) -> None:
    """Makes a mount read-only or writable, `below` also all mounts in it."""
    attributes = (ctypes.c_uint64 * 4)(*((_ATTR_RDONLY, 0) if read_only else (0, _ATTR_RDONLY)), 0, 0)
    flags = _AT_RECURSIVE if below else 0
    name = path.encode("utf-8", "surrogateescape")
    _named(_libc().syscall(_MOUNT_SETATTR, _AT_FDCWD, name, flags, ctypes.byref(attributes), ctypes.c_size_t(32)), path)


def descriptor_of(process: int, number: int) -> int:
    """Returns a copy of another process's file descriptor."""
    held = os.pidfd_open(process)
    try:
        return system_call(_PIDFD_GETFD, held, number, 0)
    finally:
        os.close(held)


def _control(option: int, value: int) -> None:
    _checked(_libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _named(result: int, path: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
