"""Permits a process, for good, no system calls but those for memory, time and what is open already (seccomp, Linux)."""

import errno
import os
import platform

from gateway.programs.kernel import forbid_new_privileges
from gateway.programs.seccomp import allow_only

# By processor, since the numbers differ: read, write, close, fstat, lseek, mmap, mprotect, munmap, brk, rt_sigaction,
# rt_sigprocmask, rt_sigreturn, pread64, readv, writev, sched_yield, mremap, madvise, nanosleep, getpid, exit,
# gettimeofday, getrusage, times, sigaltstack, gettid, futex, sched_getaffinity, restart_syscall, clock_gettime,
# clock_getres, clock_nanosleep, exit_group, getrandom, membarrier, rseq.
_NUMBERS = {
    "x86_64": (
        *(0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 20, 24, 25, 28, 35, 39, 60),
        *(96, 98, 100, 131, 186, 202, 204, 219, 228, 229, 230, 231, 318, 324, 334),
    ),
    "aarch64": (
        *(63, 64, 57, 80, 62, 222, 226, 215, 214, 134, 135, 139, 67, 65, 66, 124, 216, 233, 101, 172, 93),
        *(169, 165, 153, 132, 178, 98, 123, 128, 113, 114, 115, 94, 278, 283, 293),
    ),
}


def compute_only() -> None:
    """Forbids this process all other calls, which fail as not permitted. Raises OSError."""
    permitted = _NUMBERS.get(platform.machine())
    if permitted is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    forbid_new_privileges()
    allow_only(permitted, errno.EPERM)
