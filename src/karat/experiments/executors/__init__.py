"""Executors: where worker processes run, and how units of work reach them."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.executors.base import EXECUTORS, Executor, Slot, SlotPool, open_executor
    from karat.experiments.executors.local import LocalExecutor

__all__ = [
    "EXECUTORS",
    "Executor",
    "LocalExecutor",
    "Slot",
    "SlotPool",
    "open_executor",
]

# A worker on another machine imports a part of this package, and must not load all of it.
__getattr__ = exports(
    __name__,
    {
        "base": "EXECUTORS Executor Slot SlotPool open_executor",
        "local": "LocalExecutor",
    },
)
