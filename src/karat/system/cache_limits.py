"""How large the caches of vectors and of indexes may become, and what they may not evict."""

import os
import re
import time
from collections.abc import Mapping

from karat.errors import InputError
from karat.system.sqlite import DAY_S

__all__ = ["MAX_BYTES", "cache_size", "needed_since", "run_environment"]

SIZE = "KARAT_CACHE_SIZE"
RUN_STARTED = "KARAT_RUN_STARTED"
MAX_BYTES = 2 * 1024**3
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", re.IGNORECASE)
# When this process started, as far as caches are concerned.
_STARTED = time.time()


def cache_size(environment: Mapping[str, str] = os.environ) -> int:
    """Return the most bytes that vectors may take, and indexes: KARAT_CACHE_SIZE, else 2 GiB.

    >>> cache_size({"KARAT_CACHE_SIZE": "10GB"}), cache_size({"KARAT_CACHE_SIZE": "500 MB"})
    (10000000000, 500000000)
    """
    text = environment.get(SIZE, "").strip()
    if not text:
        return MAX_BYTES
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise InputError(f"{SIZE} is {text!r}; expected a number of bytes, such as 500MB or 10GB")
    return int(float(found[1]) * UNITS[found[2].upper()])


def run_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment variable with the start time of the run, for worker processes.

    >>> run_environment({"KARAT_RUN_STARTED": "1700000000"})
    {'KARAT_RUN_STARTED': '1700000000'}
    """
    return {RUN_STARTED: environment.get(RUN_STARTED) or str(int(_STARTED))}


def needed_since() -> float:
    """Return the start of the run; a service runs for months, so at most a day ago."""
    started = run_environment()[RUN_STARTED]
    return max(float(started) if started.isdigit() else _STARTED, time.time() - DAY_S)
