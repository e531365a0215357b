"""The protocols of stores: query results are saved as they end, and read back."""

from collections.abc import Iterable, Mapping
from typing import Protocol, Self

from karat.experiments.store.records import (
    Experiment,
    ExperimentDefinition,
    ExperimentKind,
    RunCosts,
    RunStatus,
    ScoredRun,
    StoredQueryResult,
)
from karat.model import Answer, Dataset, Outcome
from karat.model.evaluation import Summary
from karat.model.timings import LatencySample, RunResult, Timings

__all__ = ["Recorder", "Store"]


class Recorder(Protocol):
    """Records a run: claim it, add answers, finish it. Runs are named by their whole id.

    The contract, which ``karat.testing.StoreSuite`` checks together with that of a Store:

    - an answer is on disk when ``add`` returns, and survives the death of the process;
    - each query has one answer: of two answers the first stays, also if another process adds the
      second;
    - an answer without times gets those that are added later; stored times stay, and an error or a
      timeout has none;
    - ``claim`` gives a run to one worker at a time, and to the next one when that worker is dead;
    - a run that has failed, was cancelled or lost its worker continues with its stored answers;
    - a worker cannot change a run that another worker has claimed since.

    Several processes and threads may record at once.
    """

    def claim(self, run: str) -> bool:
        """Claim *run* for this worker; its status becomes ``indexing``.

        False if it is completed, or if another worker that may be alive has it.
        """
        ...

    def clear(self, run: str) -> None:
        """Delete all answers and scores of *run*, which the caller has claimed."""
        ...

    def begin(self, run: str) -> None:
        """Set the status of *run* to ``evaluating``: it is indexed, and its queries run now."""
        ...

    def answered(self, run: str, *, timed: bool = False) -> frozenset[str]:
        """Return the ids of the queries that have ended, successfully or not.

        With *timed*, only those that need no times: they have them, or have failed.
        """
        ...

    def add(self, run: str, answer: Answer, sample: LatencySample | None = None) -> bool:
        """Store an answer, with its times if there are any; False if nothing of it is new."""
        ...

    def add_many(self, answers: Iterable[StoredQueryResult]) -> int:
        """Store all answers in one transaction, and return how many were new or got times."""
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
        """Finish *run* with the costs of its index; samples are stored with their answers."""
        ...


class Store(Recorder, Protocol):
    """Stores experiments. Ids may be shortened as long as they are unambiguous.

    The contract, beside that of a Recorder:

    - what is read equals what was stored;
    - the same definition is the same experiment, with its stored runs and answers;
    - deleting removes all of an experiment, and nothing else;
    - an unknown or ambiguous id raises UnknownName.
    """

    def __enter__(self) -> Self:
        """Return the store itself; leaving the context closes it."""
        ...

    def __exit__(self, *exception: object) -> None:
        """Close the store."""
        ...

    def experiment(self, plan: ExperimentDefinition) -> str:
        """Return the id of the experiment that *plan* defines; it is created if it is new."""
        ...

    def experiments(
        self, kind: ExperimentKind | None = None, *, limit: int = 20, offset: int = 0
    ) -> tuple[Experiment, ...]:
        """Return experiments, the newest first."""
        ...

    def latest(self) -> Experiment:
        """Return the newest experiment; UnknownName if there is none."""
        ...

    def show(self, experiment: str) -> Experiment:
        """Return an experiment with its runs in the order planned."""
        ...

    def dataset(self, digest: str) -> Dataset:
        """Return the gold set with this digest."""
        ...

    def measured(self, run: str) -> RunResult:
        """Return a run with its answers in the order in which they ended.

        Timings are None until the run was finished with some.
        """
        ...

    def costs(self, run: str) -> RunCosts:
        """Return the timings and notes of :meth:`measured` without reading any answer."""
        ...

    def outcomes(self, experiment: str) -> Mapping[str, Mapping[Outcome, int]]:
        """Return the number of queries of each run by outcome, without zeros."""
        ...

    def keep_scores(
        self, run: str, summaries: Iterable[Summary], *, complete: bool = False
    ) -> None:
        """Replace the scores of a run; claiming the run again removes them.

        *complete* scores cover all queries: the run counts as completed, even if its latency is
        not measured yet, and claiming it for that does not remove them.
        """
        ...

    def scores(self, run: str) -> tuple[Summary, ...]:
        """Return the stored scores of a run."""
        ...

    def completed(self, *experiments: str) -> tuple[ScoredRun, ...]:
        """Return the runs of these experiments, by their whole ids, that have all their scores.

        Those are the completed ones, and those that only lack their latency.
        """
        ...

    def release(self, experiment: str) -> None:
        """Set all claimed runs to ``pending``; the caller knows that their workers have ended."""
        ...

    def delete(self, experiment: str, *, force: bool = False) -> None:
        """Delete an experiment, and its gold set if no other uses it.

        InputError if a worker that may be alive has one of its runs, unless *force* is given.
        """
        ...

    def vacuum(self) -> None:
        """Give the space of deleted rows back to the disk."""
        ...

    def close(self) -> None:
        """Close the database; calling it twice is fine."""
        ...
