"""The runs of an experiment are taken by one process, and none is left without an end."""

from collections.abc import Iterator, Set
from contextlib import contextmanager

from karat.errors import InputError
from karat.model import Outcome
from karat.store import Experiment, RunStatus, Store, StoredRun

__all__ = ["claimed", "ending"]


def claimed(experiment: Experiment, store: Store) -> frozenset[str]:
    """Return the runs that are left to do, now ours; raise InputError if others are at it.

    Those that somebody has begun are tried first, so that nothing was taken when one is refused.
    One without any answer, however far it came, begins anew: what was in its way, such as a service
    that was down, may be gone.
    """
    outcomes = store.outcomes(experiment.id)
    mine: set[str] = set()
    for run in sorted(experiment.runs, key=lambda run: not run.status.running):
        if store.claim(run.id):
            mine.add(run.id)
            if Outcome.ANSWERED not in outcomes.get(run.id, (Outcome.ANSWERED,)):
                store.clear(run.id)
        elif not _is_completed(run, store):
            for taken in mine:
                store.finish(taken, RunStatus.CANCELLED)
            raise InputError(
                f"experiment {experiment.id} is being run by another process: it has {run.label}; "
                "wait for it or stop it, the same command then continues"
            )
    return frozenset(mine)


@contextmanager
def ending(runs: Set[str], store: Store) -> Iterator[set[str]]:
    """Yield *runs* as a set of those without an end, for the caller to take out what has one.

    Ctrl-C ends here: the others are cancelled. After any other exception they have failed, and it
    goes on.
    """
    left = set(runs)
    try:
        yield left
    except KeyboardInterrupt:
        for run in left:
            store.finish(run, RunStatus.CANCELLED)
    except Exception as error:
        for run in left:
            store.finish(run, RunStatus.FAILED, error=str(error))
        raise


def _is_completed(run: StoredRun, store: Store) -> bool:
    experiment, _, position = run.id.partition(".")
    return store.show(experiment).runs[int(position) - 1].status is RunStatus.COMPLETED
