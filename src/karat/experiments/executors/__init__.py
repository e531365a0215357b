"""Executors: where the queries of engine groups run, on this machine or elsewhere."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.executors.base import (
        EXECUTORS,
        CompleteGroup,
        Executor,
        QualityPass,
        open_executor,
    )
    from karat.experiments.executors.local import LocalExecutor

__all__ = [
    "EXECUTORS",
    "CompleteGroup",
    "Executor",
    "LocalExecutor",
    "QualityPass",
    "open_executor",
]

# A worker on another machine imports a part of this package, and must not load all of it.
__getattr__ = exports(
    __name__,
    {
        "base": "EXECUTORS CompleteGroup Executor QualityPass open_executor",
        "local": "LocalExecutor",
    },
)
