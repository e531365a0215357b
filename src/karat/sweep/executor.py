"""Who asks the engines: this machine, or whatever else can."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from karat.model import Dataset
from karat.model.timings import Measured
from karat.runner import Configuration, Hooks, Settings, Visit, quality, timing

__all__ = ["Executor", "LocalExecutor"]


class Executor(Protocol):
    """Asks engines on some machine, or on several.

    The law: what comes back, and what the hooks are told, is what ``karat.runner`` would return
    and tell; the hooks are called in the thread of the caller. A run that was not asked to its end,
    because it was cancelled or interrupted, says so by the status ``cancelled`` of its notes.
    """

    def quality(
        self,
        configurations: Sequence[Configuration],
        dataset: Dataset,
        visits: Sequence[Visit],
        *,
        settings: Settings,
        hooks: Hooks,
    ) -> Sequence[Measured]:
        """Return what configurations that share their processes find; nothing is timed."""
        ...

    def timing(
        self,
        configurations: Sequence[Configuration],
        dataset: Dataset,
        visits: Sequence[Visit],
        *,
        settings: Settings,
        hooks: Hooks,
    ) -> Sequence[Measured]:
        """Return how long all of *configurations* take, each alone."""
        ...


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Asks engines in processes of this machine, at most *workers* at once."""

    workers: int = 1

    def quality(
        self,
        configurations: Sequence[Configuration],
        dataset: Dataset,
        visits: Sequence[Visit],
        *,
        settings: Settings,
        hooks: Hooks,
    ) -> Sequence[Measured]:
        """Return what *configurations* find."""
        groups = [tuple(configurations)]
        return quality(
            groups, dataset, visits, workers=self.workers, settings=settings, hooks=hooks
        )

    def timing(
        self,
        configurations: Sequence[Configuration],
        dataset: Dataset,
        visits: Sequence[Visit],
        *,
        settings: Settings,
        hooks: Hooks,
    ) -> Sequence[Measured]:
        """Return how long *configurations* take."""
        return timing(configurations, dataset, visits, settings=settings, hooks=hooks)
