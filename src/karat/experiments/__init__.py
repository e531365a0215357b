"""A matrix or a suite of configurations becomes runs that share what they can."""

from karat.experiments.executor import Executor, LocalExecutor, Work
from karat.experiments.matrix import Matrix, read_matrix
from karat.experiments.plan import Entry, SharedPlan, share
from karat.experiments.suites import suite, suites

__all__ = [
    "Entry",
    "Executor",
    "LocalExecutor",
    "Matrix",
    "SharedPlan",
    "Work",
    "read_matrix",
    "share",
    "suite",
    "suites",
]
