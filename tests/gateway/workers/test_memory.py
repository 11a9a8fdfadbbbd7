"""The memory of a process moves to huge pages, with all that is in it."""

import mmap
import subprocess
import sys

import pytest

_COLLAPSE = 25
_PROGRAM = """
from pathlib import Path
from gateway.workers.memory import use_huge_pages

def huge() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("AnonHugePages:")))

kept = [str(number) for number in range(500_000)]
before = huge()
use_huge_pages()
assert kept == [str(number) for number in range(500_000)]
print(before, huge())
"""


def _can_collapse() -> bool:
    if sys.platform != "linux":
        return False
    with mmap.mmap(-1, 1 << 23, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.write(b"x" * (1 << 23))
        try:
            memory.madvise(_COLLAPSE)
        except OSError:
            return False
    return True


@pytest.mark.skipif(not _can_collapse(), reason="needs Linux 6.1 with transparent huge pages")
def test_moves_the_memory_of_a_process_to_huge_pages() -> None:
    run = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)

    before, after = map(int, run.stdout.split())
    # In kB; the list and its strings take some 30 MB.
    assert after >= before + 8 * 1024
