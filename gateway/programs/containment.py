"""Runs a program in namespaces whose only way out is the gateway.

Besides the processes of `supervision`, two take part: one enters the namespaces, and the first process in them starts
the program. The program can reach loopback of its own network only. There, the listeners at the gateway's ports
belong to the supervisor outside (`relay`).
"""

import errno
import fcntl
import os
import signal
import socket
import struct
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from gateway.programs.connection_report import watched
from gateway.programs.hiding import Hidden, hide, linked_elsewhere
from gateway.programs.kernel import end_with_parent, give_up_capabilities, hide_from_equals
from gateway.programs.relay import Address, run_relay
from gateway.programs.seccomp import restrict
from gateway.programs.supervision import NotStarted, Program, accompany, stand_aside, start

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_NAMESPACES = ("CLONE_NEWUSER", "CLONE_NEWNS", "CLONE_NEWNET", "CLONE_NEWIPC", "CLONE_NEWPID")
_BACKLOG = 128
# Each with the value that forbids namespaces, and what to do.
_SWITCHES = {
    "/proc/sys/user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=10000"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl kernel.unprivileged_userns_clone=1"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give the program an AppArmor profile with `userns`",
    ),
}
VARIABLES = frozenset(
    "SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DISPLAY "
    "WAYLAND_DISPLAY XAUTHORITY DOCKER_HOST TMUX STY WSL_INTEROP PULSE_SERVER KITTY_LISTEN_ON VSCODE_IPC_HOOK_CLI"
    " VSCODE_GIT_IPC_HANDLE NOTIFY_SOCKET".split()
)
"""Variables that lead to programs outside, which a contained program does not get."""


@dataclass(frozen=True, slots=True)
class ContainingSupervisor:
    """Starts a contained program, and relays its connections to the `gateway`'s addresses until it has ended.

    If it `reports`, other connections are reported, each address once, in lines that begin with `name`.
    """

    gateway: Collection[Address]
    hidden: Hidden
    name: str
    output: int = 2
    reports: bool = True

    def __call__(self, program: Program, control: socket.socket) -> None:
        for folder in self.hidden.folders:
            if (linked := linked_elsewhere(folder)) is not None:
                raise NotStarted(
                    f"{linked} has another name (a hard link), under which it could not be hidden; remove it"
                )
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = os.fork()
        if child == 0:
            ours.close()
            self._enter(program, control, theirs)
        theirs.close()
        said, listeners, _, _ = socket.recv_fds(ours, 4096, 8)
        ours.close()
        if not listeners:
            raise NotStarted(said.decode("utf-8", "replace") or "the namespaces could not be made")
        control.close()
        stand_aside()
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        held = {address: socket.socket(fileno=each) for address, each in zip(self.gateway, listeners, strict=True)}
        run_relay(held, child)

    def _enter(self, program: Program, control: socket.socket, theirs: socket.socket) -> NoReturn:
        """Enters the namespaces, and starts the first process in them. Ends with it."""
        try:
            parent = os.getppid()
            with _Explained(theirs):
                _unshare()
                end_with_parent(signal.SIGKILL)
            if os.getppid() == parent and (first := os.fork()) == 0:
                end_with_parent(signal.SIGKILL)
                self._begin(program, control, theirs)
            theirs.close()
            control.close()
            stand_aside()
            os.waitpid(first, 0)
        finally:
            os._exit(0)

    def _begin(self, program: Program, control: socket.socket, theirs: socket.socket) -> NoReturn:
        """Prepares the namespaces and starts the program, as the first process in them."""
        try:
            with _Explained(theirs):
                listeners = [_listen(address) for address in self.gateway]
                hide(self.hidden)
                os.chdir(self.hidden.working)
                report = None
                if self.reports:
                    started = watched(program, control, self.gateway, self.name, self.output, _give_up)
                    with started as (child, report):
                        hide_from_equals()
                else:
                    hide_from_equals()
                    child = start(program, control, _give_up)
            socket.send_fds(theirs, [b"."], [each.fileno() for each in listeners])
            for each in (*listeners, theirs):
                each.close()
            stand_aside()
            accompany(child, control, report, stays=False)
        finally:
            os._exit(0)


class _Explained:
    """Sends an error in the block to the other end of a socket, and ends the process."""

    def __init__(self, theirs: socket.socket) -> None:
        self._theirs = theirs

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError | NotStarted):
            why = _why(error) if isinstance(error, OSError) else error.message
            self._theirs.send(why.encode()[:4000])
            os._exit(1)


def _unshare() -> None:
    user, group = os.geteuid(), os.getegid()
    flags = 0
    for name in _NAMESPACES:
        flags |= getattr(os, name)
    os.unshare(flags)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _listen(address: Address) -> socket.socket:
    """Listens at an address of the new network, whose loopback interface may be down yet."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack_from("16xH", fcntl.ioctl(probe, _GET_FLAGS, request))[0]
        fcntl.ioctl(probe, _SET_FLAGS, struct.pack("16sH22x", b"lo", flags | _UP))
    return socket.create_server(address, backlog=_BACKLOG)


def _give_up() -> None:
    """Leaves the program neither capabilities nor files that are open, nor calls that lead out."""
    for number in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if number > 2:
            with suppress(OSError):
                os.set_inheritable(number, False)
    give_up_capabilities()
    restrict()


def _why(error: OSError) -> str:
    """Returns what the system does not permit, and what to do."""
    place = f" at {error.filename}" if error.filename else ""
    reason = f"--contain: the system does not permit the namespaces that it needs ({error.strerror}{place})"
    for path, (value, remedy) in _SWITCHES.items():
        with suppress(OSError):
            if Path(path).read_text().strip() == value:
                return f"{reason}; an administrator can permit them: `{remedy}`"
    if error.errno in (errno.EPERM, errno.EACCES):
        return f"{reason}. In a container, permit them by its seccomp profile and options, or run this outside"
    return reason
