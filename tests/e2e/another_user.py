"""Runs a command as a user without privileges, even where root runs the tests (Linux).

In a mount namespace of its own, such a user can also read an interpreter that root keeps for itself.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_USER = 1000
_CODE = """
import os, sys
from pathlib import Path
from gateway.programs.kernel import mount
user, closed, folder, *words = sys.argv[1:]
if closed != "/":
    os.unshare(os.CLONE_NEWNS)
    mount("", "/", flags=0x44000)
    held = os.open(folder, os.O_PATH)
    mount("tmpfs", closed, "tmpfs", 0, "mode=755")
    Path(folder).mkdir(parents=True)
    mount(f"/proc/self/fd/{held}", folder, flags=0x5000)
    os.close(held)
os.setgroups([])
os.setgid(int(user))
os.setuid(int(user))
os.execvp(words[0], words)
"""


def as_another_user(words: Sequence[str]) -> list[str]:
    """Returns the command that runs these words. Only root can change its user."""
    if os.geteuid() != 0:
        return list(words)
    base = Path(sys.base_prefix)
    closed = next((each for each in reversed(base.parents) if not each.stat().st_mode & 1), Path("/"))
    return [sys.executable, "-c", _CODE, str(_USER), str(closed), str(base), *words]
