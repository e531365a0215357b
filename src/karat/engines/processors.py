"""How many processors there are to share work among."""

import os

__all__ = ["processors"]


def processors() -> int:
    """Return how many processors this process may use."""
    # What this process may use, where the system says so, not what the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
