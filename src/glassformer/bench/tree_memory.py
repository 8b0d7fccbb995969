"""A command's time and memory: anonymous memory of the process and of all that it started, looked at all the while.

Anonymous memory is what a process asked for itself. Pages of mapped files do not count: the kernel takes them back.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.errors import InputError

EVERY = 0.2  # seconds between two looks
LAST = 400  # characters of what a command said before it failed
PROC = Path("/proc")


@dataclass(frozen=True)
class Watched:
    """Seconds of a command, and until `seen` was true for the first time; the peak of its anonymous memory in bytes.

    `busy`: seconds of all cores together, its own processes' alone; where other work shares the cores, these compare.
    """

    seconds: float
    busy: float
    seen_after: float | None
    anonymous: int


def watched_command(
    words: Sequence[str], environment: Mapping[str, str], seen: Callable[[], bool] = lambda: False
) -> Watched:
    """`glassformer WORDS` in a process of its own, to its end."""
    began, peak, after = time.perf_counter(), 0, None
    before = _busy()
    command = [sys.executable, "-m", "glassformer", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(environment)
    ) as child:
        while child.poll() is None:
            peak = max(peak, anonymous(child.pid))
            if after is None and seen():
                after = time.perf_counter() - began
            time.sleep(EVERY)
        seconds = time.perf_counter() - began
        said = child.stdout.read() if child.stdout is not None else ""
    if child.returncode:
        raise InputError("bench_command", command=" ".join(words), said=said[-LAST:].strip())
    return Watched(seconds, _busy() - before, after, peak)


def _busy() -> float:
    """Seconds of all processes that this one, and those that it started, have waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def anonymous(root: int) -> int:
    """Bytes of anonymous memory of a process and all its descendants; what they share counts once."""
    return sum(_bytes(pid) for pid in tree(root))


def tree(root: int) -> list[int]:
    """The process and all its descendants that are alive."""
    children: dict[int, list[int]] = {}
    for path in PROC.glob("[0-9]*/stat"):
        try:
            _, _, rest = path.read_text().rpartition(")")
        except OSError:  # it has just ended
            continue
        children.setdefault(int(rest.split()[1]), []).append(int(path.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _bytes(pid: int) -> int:
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    sizes = {line.split()[0]: int(line.split()[1]) << 10 for line in lines[1:] if line.endswith("kB")}
    return sizes.get("Pss_Anon:", sizes.get("Anonymous:", 0))
