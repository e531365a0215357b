"""Where an experiment runs: what a reader must know before comparing its times with others."""

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from socket import gethostname

__all__ = ["environment", "is_alive", "this_worker"]

NAME = re.compile(r"[\w.-]+")
CPU_FILE = Path("/proc/cpuinfo")
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
    """Return the name of this process among all that may work on a run."""
    return f"{gethostname()}:{os.getpid()}"


def is_alive(worker: str) -> bool:
    """Return whether the process *worker* may still be at work; of other machines nobody knows."""
    host, _, process = worker.rpartition(":")
    # On Windows signal 0 is Ctrl-C, so nobody asks there.
    if host != gethostname() or os.name != "posix":
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _cpu() -> str:
    """Return the model of the processor where the system tells, else its family."""
    if CPU_FILE.is_file():
        found = CPU_MODEL.search(CPU_FILE.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def _packages() -> dict[str, str]:
    try:
        wanted = requires("karat") or []
    except PackageNotFoundError:
        return {}
    found = {}
    for name in sorted({NAME.findall(line)[0].lower() for line in wanted}):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
