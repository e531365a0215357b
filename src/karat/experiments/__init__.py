"""Plan experiments, run them in worker processes and store their results."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.executors import (
        EXECUTORS,
        Executor,
        LocalExecutor,
        open_executor,
    )
    from karat.experiments.matrix import Matrix
    from karat.experiments.matrix_file import read_matrix
    from karat.experiments.plan import SearchGroups, group_searches
    from karat.experiments.workers.plan import Configuration

__all__ = [
    "EXECUTORS",
    "Configuration",
    "Executor",
    "LocalExecutor",
    "Matrix",
    "SearchGroups",
    "group_searches",
    "open_executor",
    "read_matrix",
]

# A worker process imports a part of this package, and must not load all of it.
__getattr__ = exports(
    __name__,
    {
        "executors": "EXECUTORS Executor LocalExecutor open_executor",
        "matrix": "Matrix",
        "matrix_file": "read_matrix",
        "plan": "SearchGroups group_searches",
        "workers.plan": "Configuration",
    },
)
