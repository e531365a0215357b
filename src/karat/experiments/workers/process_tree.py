"""The processes below one: how to find them, to end them, and how much memory they took."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["descendants", "kill_below", "peak_bytes"]

PROC = Path("/proc")


def descendants(pid: int) -> list[int]:
    """Return the processes that *pid* has started, and those that they have started."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    found = list(children.get(pid, ()))
    for known in found:
        found += children.get(known, ())
    return found


def kill_below(pid: int) -> None:
    """Kill the groups of all processes below *pid*, but not its own.

    Adapters give a program a session of its own, so that it outlives the group of *pid*.
    """
    with suppress(ProcessLookupError):
        own = os.getpgid(pid)
        for child in descendants(pid):
            with suppress(ProcessLookupError, PermissionError):
                group = os.getpgid(child)
                if group != own:
                    os.killpg(group, signal.SIGKILL)


def peak_bytes() -> int:
    """Return the most memory this process has held, and those below it that are still there."""
    if not (PROC / "self/status").is_file():
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    # Not ru_maxrss: Linux hands that of the parent on to the program that it starts.
    return sum(map(_high_water, [os.getpid(), *descendants(os.getpid())]))


def _high_water(pid: int) -> int:
    """Return the largest resident size of *pid*, 0 where it has ended."""
    try:
        lines = (PROC / str(pid) / "status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    kilobytes = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(next(kilobytes, "0")) * 1024


def _parents() -> list[tuple[int, int]]:
    """Return every process of the machine that can be seen, with its parent."""
    if not (PROC / "self/stat").is_file():
        command = ["ps", "-A", "-o", "pid=,ppid="]
        listed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        rows = map(str.split, listed.stdout.splitlines())
        return [(int(pid), int(parent)) for pid, parent in rows]
    found = []
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                # The name of the program, in parentheses, may hold anything.
                about = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2]
                found.append((int(folder.name), int(about.split()[1])))
    return found
