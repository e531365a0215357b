"""Executors: where worker processes run, and how units of work reach them."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.executors.base import Executor, Slot, SlotPool
    from karat.experiments.executors.local import LocalExecutor
    from karat.experiments.executors.quality import measure_groups, measure_quality
    from karat.experiments.executors.registry import EXECUTORS, open_executor
    from karat.experiments.executors.timing import check_timed_on, measure_latency_on

__all__ = [
    "EXECUTORS",
    "Executor",
    "LocalExecutor",
    "Slot",
    "SlotPool",
    "check_timed_on",
    "measure_groups",
    "measure_latency_on",
    "measure_quality",
    "open_executor",
]

# A worker on another machine imports a part of this package, and must not load all of it.
__getattr__ = exports(
    __name__,
    {
        "base": "Executor Slot SlotPool",
        "local": "LocalExecutor",
        "quality": "measure_groups measure_quality",
        "registry": "EXECUTORS open_executor",
        "timing": "check_timed_on measure_latency_on",
    },
)
