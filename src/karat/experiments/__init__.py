"""Plan experiments, run them in worker processes and store their results."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.executor import Executor, LocalExecutor, Work
    from karat.experiments.matrix import Matrix, read_matrix
    from karat.experiments.plan import Entry, SharedPlan, share

__all__ = [
    "Entry",
    "Executor",
    "LocalExecutor",
    "Matrix",
    "SharedPlan",
    "Work",
    "read_matrix",
    "share",
]

# Lazy, so that a worker process loads only what its engine needs.
__getattr__ = exports(
    __name__,
    {
        "executor": "Executor LocalExecutor Work",
        "matrix": "Matrix read_matrix",
        "plan": "Entry SharedPlan share",
    },
)
