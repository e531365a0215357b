"""Who asks the engines: this machine, or whatever else can."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from karat.experiments.workers import Configuration, Hooks, RunSettings, Visit, quality, timing
from karat.model import Dataset
from karat.model.timings import Measured

__all__ = ["Executor", "LocalExecutor", "Work"]


class Work(NamedTuple):
    """Which engines are asked what, on which trees, how, and who hears of it."""

    configurations: Sequence[Configuration]
    dataset: Dataset
    visits: Sequence[Visit]
    settings: RunSettings
    hooks: Hooks


class Executor(Protocol):
    """Runs engines on one machine or on several.

    The contract: results and callbacks are those of ``karat.experiments.workers``. Callbacks run in
    the thread of the caller. A run that was cancelled or interrupted has the status ``cancelled``
    in its notes.
    """

    def quality(self, work: Work) -> Sequence[Measured]:
        """Return what configurations that share their processes find; nothing is timed."""
        ...

    def timing(self, work: Work) -> Sequence[Measured]:
        """Return how long all configurations take, each alone."""
        ...


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Asks engines in processes of this machine, at most *workers* at once."""

    workers: int = 1

    def quality(self, work: Work) -> Sequence[Measured]:
        """Return what the configurations find."""
        return quality(
            [tuple(work.configurations)],
            work.dataset,
            work.visits,
            workers=self.workers,
            settings=work.settings,
            hooks=work.hooks,
        )

    def timing(self, work: Work) -> Sequence[Measured]:
        """Return how long the configurations take."""
        return timing(
            work.configurations,
            work.dataset,
            work.visits,
            settings=work.settings,
            hooks=work.hooks,
        )
