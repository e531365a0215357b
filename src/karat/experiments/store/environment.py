"""The environment of an experiment: needed to compare its latency with that of others."""

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from socket import gethostname
from typing import NamedTuple

from karat.installation import package_requirements

__all__ = ["environment", "is_alive", "this_worker"]

NAME = re.compile(r"[\w.-]+")
CPU_FILE = Path("/proc/cpuinfo")
# States of a process that has ended and was not waited for, see proc(5).
DEAD = ("Z", "X", "x")
CPU_MODEL = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


@cache
def environment() -> Mapping[str, object]:
    """Return Python, platform, processor, and the versions of the packages that Karat may use."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "packages": _packages(),
    }


def this_worker() -> str:
    """Return a name for this process that no other worker of a run has.

    It includes the start time of the process if the system has it: process ids are reused.
    """
    process = os.getpid()
    found = _process(process)
    return f"{gethostname()}:{process}" + (f"@{found.started}" if found else "")


def is_alive(worker: str) -> bool:
    """Return whether the process *worker* may be alive; on another machine it is unknown."""
    host, _, process = worker.rpartition(":")
    # On Windows signal 0 is Ctrl-C.
    if host != gethostname() or os.name != "posix":
        return True
    number, _, started = process.partition("@")
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    found = _process(int(number))
    return not found or (found.state not in DEAD and started in ("", found.started))


class _Process(NamedTuple):
    state: str
    started: str


def _process(number: int) -> _Process | None:
    """Return the state and start time of a process, None if the system has none."""
    try:
        text = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of the program stands in parentheses and may hold anything, also those.
    fields = text.rpartition(")")[2].split()
    return _Process(fields[0], fields[19])


def _cpu() -> str:
    """Return the model of the processor if the system has it, else its family."""
    if CPU_FILE.is_file():
        found = CPU_MODEL.search(CPU_FILE.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def _packages() -> dict[str, str]:
    found = {}
    for name in sorted({NAME.findall(line)[0].lower() for line in package_requirements()}):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
