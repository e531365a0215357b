"""A matrix or a suite of configurations becomes runs that share what they can."""

from karat.sweep.entries import Entry
from karat.sweep.executor import Executor, LocalExecutor, Work
from karat.sweep.matrix import Matrix
from karat.sweep.matrix_file import read_matrix
from karat.sweep.plan import SharedPlan, share
from karat.sweep.suites import suite, suites

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
