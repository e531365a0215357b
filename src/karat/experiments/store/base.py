"""What a store is to Karat: results kept as they end, and found again."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from karat.experiments.store.records import (
    Experiment,
    ExperimentPlan,
    Kind,
    RunStatus,
    ScoredRun,
    StoredQueryResult,
)
from karat.model import Answer, Dataset, Outcome
from karat.model.evaluation import Summary
from karat.model.timings import Measured, Sample, Timings

__all__ = ["Recorder", "Store"]


class Recorder(Protocol):
    """The side that works on a run: claim it, add answers, finish it. Runs go by their whole id.

    The law, which ``karat.testing.StoreSuite`` checks together with that of a Store:

    - an answer is on disk when ``add`` returns, and survives the death of the process;
    - it is kept once: of two answers to one query the first stays, whoever adds the second;
    - an answer without times gets those that are added later; times once kept stay, and an error or
      a timeout has none;
    - ``claim`` gives a run to one worker at a time, and to the next one when that worker is dead;
    - a run that has failed, was cancelled or lost its worker continues with what it has;
    - what a worker says of a run that another has taken since changes nothing.

    Several processes and threads may record at once.
    """

    def claim(self, run: str) -> bool:
        """Take *run* to work on it, which is then ``indexing``.

        False where it is completed, or where another worker that may be alive has it.
        """
        ...

    def clear(self, run: str) -> None:
        """Drop all answers and scores of *run*, which the caller has claimed: it begins anew."""
        ...

    def begin(self, run: str) -> None:
        """Say that *run* has its index, and that its queries are asked now: ``evaluating``."""
        ...

    def answered(self, run: str, *, timed: bool = False) -> frozenset[str]:
        """Return the ids of the queries that have ended, well or not.

        With *timed*, only those that get no times any more: they have them, or have failed.
        """
        ...

    def add(self, run: str, answer: Answer, sample: Sample | None = None) -> bool:
        """Keep an answer, with its times if there are any; False where nothing of it is new."""
        ...

    def add_many(self, answers: Iterable[StoredQueryResult]) -> int:
        """Keep answers all at once or not at all, and return of how many something is new."""
        ...

    def finish(
        self,
        run: str,
        status: RunStatus,
        *,
        error: str = "",
        timings: Timings | None = None,
        notes: Mapping[str, object] | None = None,
    ) -> None:
        """End the work on *run*, with what its index has cost; samples came with their answers."""
        ...


class Store(Recorder, Protocol):
    """Keeps experiments. Ids may be shortened as long as only one experiment begins so.

    The law, beside that of a Recorder:

    - what comes back equals what was given;
    - the same plan is the same experiment, with the runs and answers that it has already;
    - deleting leaves nothing of an experiment, and nothing else is touched;
    - an id that nobody has, or that several begin with, raises UnknownName.
    """

    def experiment(self, plan: ExperimentPlan) -> str:
        """Return the id of the experiment that *plan* describes; a new one is made if needed."""
        ...

    def experiments(
        self, kind: Kind | None = None, *, limit: int = 20, offset: int = 0
    ) -> tuple[Experiment, ...]:
        """Return experiments, the newest first."""
        ...

    def latest(self) -> Experiment:
        """Return the newest experiment; UnknownName where there is none."""
        ...

    def show(self, experiment: str) -> Experiment:
        """Return an experiment with its runs in the order planned."""
        ...

    def dataset(self, digest: str) -> Dataset:
        """Return the gold set with this digest."""
        ...

    def measured(self, run: str) -> Measured:
        """Return a run with its answers in the order in which they ended.

        Timings are None until the run was finished with some.
        """
        ...

    def outcomes(self, experiment: str) -> Mapping[str, Mapping[Outcome, int]]:
        """Return how many queries of each run have ended in which way; what none has is absent."""
        ...

    def keep_scores(
        self, run: str, summaries: Iterable[Summary], *, complete: bool = False
    ) -> None:
        """Store the scores of a run in place of those before; claiming it anew removes them.

        With *complete* they cover all queries: the run counts as completed from now on, whatever
        becomes of its timing, and claiming it for that keeps them.
        """
        ...

    def scores(self, run: str) -> tuple[Summary, ...]:
        """Return the scores kept for a run."""
        ...

    def completed(self, *experiments: str) -> tuple[ScoredRun, ...]:
        """Return the runs of these experiments, by their whole ids, that have all their scores.

        Those are the completed ones, and those that only lack their latency.
        """
        ...

    def release(self, experiment: str) -> None:
        """Take all runs from their workers, which the caller knows to be gone: ``pending``."""
        ...

    def delete(self, experiment: str, *, force: bool = False) -> None:
        """Remove an experiment, and its gold set where no other uses it.

        InputError where a worker that may be alive has one of its runs, unless *force* is given.
        """
        ...

    def vacuum(self) -> None:
        """Give the room of what was deleted back to the disk."""
        ...

    def close(self) -> None:
        """Let go of the database; calling it twice is fine."""
        ...
