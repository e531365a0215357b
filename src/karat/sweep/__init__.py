"""A matrix or a suite of configurations becomes runs that share what they can."""

from karat.sweep.entries import Entry
from karat.sweep.execute import Executor, LocalExecutor
from karat.sweep.plan import SharedPlan, share

__all__ = ["Entry", "Executor", "LocalExecutor", "SharedPlan", "share"]
